"""Finds broken addresses in a built site, from its files alone."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book_extension.languages import TRANSLATIONS
from bs4 import BeautifulSoup, Tag

# Tags whose addresses a browser loads without a click.
LOADED = {"script", "link", "img", "iframe", "source", "video", "audio", "embed", "object", "use"}
# Values of `rel` for which a <link> is metadata and loads nothing.
NAMES_ONLY = {"canonical", "alternate", "next", "prev", "index", "search", "author", "license"}
# Properties of link previews that hold addresses.
PREVIEWS = {"og:url", "og:image"}
CSS_ADDRESS = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])([^"')]+)""")


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


def addresses(soup: BeautifulSoup) -> Iterator[tuple[Tag, str]]:
    for tag in soup.find_all(True):
        for attribute in ("href", "src", "xlink:href", "poster", "data", "action"):
            value = tag.get(attribute)
            if value is not None and (attribute != "data" or tag.name == "object"):
                yield tag, str(value)
        if tag.get("property") in PREVIEWS:
            yield tag, str(tag["content"])
        for candidate in str(tag.get("srcset") or "").split(","):
            if candidate.strip():
                yield tag, candidate.split()[0]


def broken(site: Path, own: str = "") -> list[str]:
    """Return a line for each address that is broken, double, not https or loaded from afar.

    The last are addresses on another host that the browser loads without a click. own: the site's
    published address, if any; addresses that start with it are resolved to files.
    """
    found = []
    for page in (page for folder in ("", *TRANSLATED) for page in html_files(site / folder)):
        name = page.relative_to(site).as_posix()
        ids = Counter(str(tag["id"]) for tag in parsed(page).find_all(id=True))
        found += [f"{name}: #{one} is there {n} times" for one, n in ids.items() if n > 1]
        for tag, address in addresses(parsed(page)):
            problem = problem_of(site, page, tag, address, own)
            if problem:
                found.append(f"{name}: <{tag.name}> {address}: {problem}")
    for sheet in sorted(site.rglob("*.css")):
        for address in CSS_ADDRESS.findall(sheet.read_text(encoding="utf-8")):
            problem = problem_of_file(site, sheet, address)
            if problem:
                found.append(f"{sheet.relative_to(site).as_posix()}: {address}: {problem}")
    return found


def problem_of(site: Path, page: Path, tag: Tag, address: str, own: str = "") -> str:
    parts = urlsplit(address)
    loaded = tag.name in LOADED and not set(tag.get("rel") or []) & NAMES_ONLY
    if parts.scheme == "data" or tag.name == "base":
        return ""  # <base> only sets where relative addresses start
    if parts.scheme or parts.netloc:
        if loaded:
            return "loaded from elsewhere"
        if own and address.startswith(f"{own}/"):
            return problem_of_file(site, site / "index.html", address.removeprefix(f"{own}/"))
        return "" if parts.scheme == "https" and parts.netloc else "not https"
    if parts.path:
        problem = problem_of_file(site, page, address)
        if problem:
            return problem
        page = page.parent / unquote(parts.path)
    fragment = unquote(parts.fragment)
    if fragment and page.suffix == ".html" and fragment not in anchors(page.resolve()):
        return "no such anchor"
    return ""


def problem_of_file(site: Path, source: Path, address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme == "data" or address.startswith("#"):
        return ""
    if parts.scheme or parts.netloc:
        return "loaded from elsewhere"
    if parts.path.startswith("/"):
        return "works at the root of a server alone"
    target = (source.parent / unquote(parts.path)).resolve()
    if not target.is_relative_to(site.resolve()):
        return "outside of the site"
    return "" if target.is_file() else "no such file"
