"""Finds broken addresses in a built site, from its files alone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

# Tags whose addresses a browser loads without a click.
LOADED = {"script", "link", "img", "iframe", "source", "video", "audio", "embed", "object", "use"}
# Values of `rel` for which a <link> is metadata and loads nothing.
NAMES_ONLY = {"canonical", "alternate", "next", "prev", "index", "search", "author", "license"}
# Properties of link previews that hold addresses.
PREVIEWS = {"og:url", "og:image"}
CSS_ADDRESS = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])([^"')]+)""")


TRANSLATED = "zh"  # the folder of translated pages


def html_files(site: Path) -> list[Path]:
    """Return the site's pages, without translations, slides and the theme's parts in _static."""
    apart = {"_static", "slides", TRANSLATED}
    return sorted(p for p in site.rglob("*.html") if not apart & set(p.relative_to(site).parts))


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@dataclass(frozen=True)
class Start:
    """A start tag: its name and its attributes."""

    name: str
    attributes: dict[str, str]

    def get(self, attribute: str) -> str | None:
        return self.attributes.get(attribute)

    def words(self, attribute: str) -> set[str]:
        return set(self.attributes.get(attribute, "").split())


class _Starts(HTMLParser):
    """Collects start tags; the tree of BeautifulSoup takes three times as long to make."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Start] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(Start(tag, {name: value or "" for name, value in attrs}))


@cache
def starts(page: Path) -> list[Start]:
    """Return the start tags of a page in order."""
    parser = _Starts()
    parser.feed(page.read_text(encoding="utf-8"))
    parser.close()
    return parser.found


@cache
def anchors(page: Path) -> frozenset[str]:
    tags = starts(page)
    named = {tag.attributes["name"] for tag in tags if tag.name == "a" and "name" in tag.attributes}
    return frozenset(named | {tag.attributes["id"] for tag in tags if "id" in tag.attributes})


def addresses(document: BeautifulSoup | Iterable[Start]) -> Iterator[tuple[Any, str]]:
    """Yield (tag, address) for each address in a document."""
    tags = document.find_all(True) if isinstance(document, BeautifulSoup) else document
    for tag in tags:
        for attribute in ("href", "src", "xlink:href", "poster", "data", "action"):
            value = tag.get(attribute)
            if value is not None and (attribute != "data" or tag.name == "object"):
                yield tag, str(value)
        if tag.get("property") in PREVIEWS:
            yield tag, str(tag.get("content"))
        for candidate in str(tag.get("srcset") or "").split(","):
            if candidate.strip():
                yield tag, candidate.split()[0]


def broken(site: Path, own: str = "") -> list[str]:
    """Return a line for each address that is broken, loads from another host, or is not https.

    own: the site's published address, if any; addresses that start with it are resolved to files.
    """
    found = []
    for page in [*html_files(site), *html_files(site / TRANSLATED)]:
        name = page.relative_to(site).as_posix()
        for tag, address in addresses(starts(page)):
            problem = problem_of(site, page, tag, address, own)
            if problem:
                found.append(f"{name}: <{tag.name}> {address}: {problem}")
    for sheet in sorted(site.rglob("*.css")):
        for address in CSS_ADDRESS.findall(sheet.read_text(encoding="utf-8")):
            problem = problem_of_file(site, sheet, address)
            if problem:
                found.append(f"{sheet.relative_to(site).as_posix()}: {address}: {problem}")
    return found


def problem_of(site: Path, page: Path, tag: Start, address: str, own: str = "") -> str:
    parts = urlsplit(address)
    loaded = tag.name in LOADED and not tag.words("rel") & NAMES_ONLY
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
