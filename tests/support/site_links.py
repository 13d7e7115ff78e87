"""Finds broken addresses in a built site, from its files alone."""

from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book_extension.languages import TRANSLATIONS
from bs4 import BeautifulSoup

TRANSLATED = [one.folder for one in TRANSLATIONS]  # folders of translated pages


def html_files(site: Path) -> list[Path]:
    """Return the site's pages, without translations and slides.

    The theme's parts in _static are left out too, and the exercises' old addresses, NAME/NAME.html.
    """
    apart = {"_static", "slides", *TRANSLATED}
    pages = (p for p in site.rglob("*.html") if not apart & set(p.relative_to(site).parts))
    return sorted(p for p in pages if p.stem != p.parent.name)


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def anchors(page: Path) -> frozenset[str]:
    soup = parsed(page)
    named = {str(a["name"]) for a in soup.find_all("a", attrs={"name": True})}
    return frozenset(named | {str(tag["id"]) for tag in soup.find_all(id=True)})


def broken(site: Path, own: str = "") -> list[str]:
    """Return a line for each address that is broken, double or not https.

    own: the site's published address, if any; addresses that start with it are resolved to files.
    """
    found = []
    for page in (page for folder in ("", *TRANSLATED) for page in html_files(site / folder)):
        name = page.relative_to(site).as_posix()
        ids = Counter(str(tag["id"]) for tag in parsed(page).find_all(id=True))
        found += [f"{name}: #{one} is there {n} times" for one, n in ids.items() if n > 1]
        for tag in parsed(page).select("[href], [src], [action]"):
            for attribute in ("href", "src", "action"):
                address = str(tag.get(attribute, ""))
                # <base> only sets where relative addresses start.
                if tag.name != "base" and (problem := problem_of(site, page, address, own)):
                    found.append(f"{name}: <{tag.name}> {address}: {problem}")
    return found


def problem_of(site: Path, page: Path, address: str, own: str) -> str:
    if own and address.startswith(f"{own}/"):
        page, address = site / "index.html", address.removeprefix(f"{own}/")
    parts = urlsplit(address)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "" if parts.scheme == "https" and parts.netloc else "not https"
    if parts.path.startswith("/"):
        return "works at the root of a server alone"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
    if not target.is_relative_to(site.resolve()):
        return "outside of the site"
    if not target.is_file():
        return "no such file"
    fragment = unquote(parts.fragment)
    if fragment and target.suffix == ".html" and fragment not in anchors(target):
        return "no such anchor"
    return ""
