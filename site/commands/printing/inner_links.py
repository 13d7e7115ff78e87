"""Ids that are unique in the printed document, and links that follow them."""

import posixpath
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from bs4 import Tag

from .built_pages import BuiltPage

# Attributes, other than href, that refer to an id of the same page.
POINTERS = ("aria-labelledby", "aria-describedby", "aria-controls", "for", "headers")
# A picture's reference to its own patterns and paths.
REFERENCE = re.compile(r"url\(\s*(['\"]?)#([^)'\"]+)\1\s*\)")


def join(pages: Iterable[BuiltPage]) -> None:
    """Prefix ids with their page's name; turn links between pages into inner links."""
    found = {page.name: page for page in pages}
    for page in found.values():
        for tag in page.article.find_all(True):
            _rename(tag, page)
        for link in page.article.select("a[href]"):
            _follow(link, page, found)
        page.article["id"] = page.anchor


def _named(page: BuiltPage, name: str) -> str:
    return f"{page.anchor}--{name}"


def _rename(tag: Tag, page: BuiltPage) -> None:
    for key, value in list(tag.attrs.items()):
        if not isinstance(value, str):
            continue
        if key == "id":
            tag[key] = _named(page, value)
        elif key in POINTERS:
            tag[key] = " ".join(_named(page, name) for name in value.split())
        elif key in ("href", "xlink:href") and value.startswith("#") and tag.name != "a":
            tag[key] = f"#{_named(page, value[1:])}"
        elif "url(" in value:
            tag[key] = REFERENCE.sub(lambda found: f"url(#{_named(page, found[2])})", value)


def _follow(link: Tag, page: BuiltPage, pages: dict[str, BuiltPage]) -> None:
    """Point a link to its target in the document.

    Turn a link to a file or page that isn't printed into text.
    """
    parts = urlsplit(str(link["href"]))
    if parts.scheme or parts.netloc:
        return
    here = posixpath.dirname(page.name)
    path = posixpath.normpath(posixpath.join(here, unquote(parts.path))) if parts.path else ""
    target = pages.get(path.removesuffix(".html")) if path else page
    if target is None or (path and not path.endswith(".html")):
        # A file to download, or a page that isn't printed.
        link.name = "span"
        link.attrs = {key: value for key, value in link.attrs.items() if key == "class"}
        return
    fragment = unquote(parts.fragment)
    link["href"] = f"#{_named(target, fragment) if fragment else target.anchor}"
