"""Atom feed of changes, with an entry for each dated part of CHANGELOG.md."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import mistune

ATOM = "http://www.w3.org/2005/Atom"
DATED = re.compile(
    r"^## (?P<name>\S+), (?P<date>\d{4}-\d\d-\d\d)$\n(?P<text>.*?)(?=^## |\Z)", re.M | re.S
)


@dataclass(frozen=True)
class Edition:
    """Dated part of the change log: version, date and text.

    The date has the form YYYY-MM-DD; the text is Markdown.
    """

    name: str
    date: str
    text: str


def editions(changelog: str) -> list[Edition]:
    """Return the dated parts of the change log, in its order."""
    found = DATED.finditer(changelog)
    return [Edition(part["name"], part["date"], part["text"].strip()) for part in found]


def feed(changelog: str, title: str, author: str, course: str, file: str) -> str:
    """Return an Atom feed of the course's change log; "" if no part of it has a date.

    Format: RFC 4287.
    """
    entries = editions(changelog)
    if not entries:
        return ""
    top = ElementTree.Element("feed", xmlns=ATOM)
    _element(top, "title", title)
    _element(top, "id", f"{course}/")
    _element(top, "updated", _time(max(entry.date for entry in entries)))
    _element(_element(top, "author"), "name", author)
    _element(top, "link", rel="self", href=f"{course}/{file}")
    _element(top, "link", rel="alternate", href=f"{course}/")
    for entry in entries:
        item = _element(top, "entry")
        _element(item, "title", f"{title} {entry.name}")
        _element(item, "id", f"{course}/{file}#{entry.name}")
        _element(item, "updated", _time(entry.date))
        _element(item, "link", rel="alternate", href=f"{course}/")
        _element(item, "content", str(mistune.html(entry.text)), type="html")
    return _document(top)


def sitemap(pages: list[dict[str, str]]) -> str:
    """Return the sitemap for search engines, in the format of sitemaps.org.

    pages: for each page, language → address. With more than one language, each address names the
    others.
    """
    top = ElementTree.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    if any(len(page) > 1 for page in pages):
        top.set("xmlns:xhtml", "http://www.w3.org/1999/xhtml")
    by_address = {address: page for page in pages for address in page.values()}
    for address, page in sorted(by_address.items()):
        item = ElementTree.SubElement(top, "url")
        ElementTree.SubElement(item, "loc").text = address
        for language, other in page.items() if len(page) > 1 else ():
            _element(item, "xhtml:link", rel="alternate", hreflang=language, href=other)
    return _document(top)


def _time(date: str) -> str:
    return f"{date}T00:00:00Z"


def _element(
    parent: ElementTree.Element, name: str, text: str | None = None, **attributes: str
) -> ElementTree.Element:
    made = ElementTree.SubElement(parent, name, attributes)
    made.text = text
    return made


def _document(top: ElementTree.Element) -> str:
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(top, "unicode") + "\n"
