"""One HTML document of all pages: title page, contents, then each page's article."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from book_extension.languages import ORIGINAL, Language
from book_extension.languages import words as words_of
from bs4 import BeautifulSoup
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from . import built_pages, for_paper, inner_links
from .built_pages import BuiltPage, words

HERE = Path(__file__).parent


@dataclass
class Entry:
    """Line of the table of contents."""

    anchor: str
    title: str
    # Sections of a page.
    below: list["Entry"] = field(default_factory=list)


@dataclass
class Book:
    """Pages prepared for print, and the data of the title page."""

    folder: Path
    pages: list[BuiltPage]
    # CITATION.cff.
    cited: dict[str, Any]
    language: Language = ORIGINAL

    @property
    def title(self) -> str:
        return self.pages[0].title

    @property
    def authors(self) -> str:
        _ = words_of(self.folder, self.language)
        return ", ".join(
            _(author.get("name") or f"{author['given-names']} {author['family-names']}")
            for author in self.cited["authors"]
        )

    @property
    def imprint(self) -> list[str]:
        """Lines at the foot of the title page."""
        _ = words_of(self.folder, self.language)
        return [
            self.authors,
            _("Version {version}, {date}").format(
                version=self.cited["version"], date=self.cited["date-released"]
            ),
            _("The code is under the MIT license, the text and the figures under CC BY 4.0."),
            _(
                "Code that the site folds away is left out here. "
                "Figures that move there stand still."
            ),
        ]

    def document(self, target: Path, numbers: Mapping[str, int] | None = None) -> str:
        """Render the document, with addresses relative to the target's folder.

        ``numbers`` are the anchors' page numbers.
        """
        environment = Environment(
            loader=FileSystemLoader(HERE),
            autoescape=select_autoescape(),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        _ = words_of(self.folder, self.language)
        return environment.get_template("one-document.html").render(
            book=self,
            contents=_("Contents"),
            parts=self.contents(),
            numbers=numbers or {},
            styles=self._styles(target),
            css_string=_css_string,
        )

    def contents(self) -> dict[str, list[Entry]]:
        """Return each part's pages with their sections, in order."""
        # Omit section titles that occur twice or more, such as "Hints": they say little in a list.
        sections = {page.name: _sections(page) for page in self.pages}
        times = Counter(_unnumbered(entry.title) for found in sections.values() for entry in found)
        parts: dict[str, list[Entry]] = {}
        _ = words_of(self.folder, self.language)
        for page in self.pages[1:]:
            telling = [e for e in sections[page.name] if times[_unnumbered(e.title)] == 1]
            parts.setdefault(_(page.part), []).append(Entry(page.anchor, page.title, telling))
        return parts

    def _styles(self, target: Path) -> list[str]:
        """Return all pages' style sheets, each once, in loading order; paper.css is last."""
        found: dict[Path, None] = {}
        html = built_pages.site(self.folder, self.language)
        # Start with the page that has the most style sheets: others lack some, in the same order.
        for page in sorted(self.pages, key=lambda page: -len(page.styles)):
            base = (html / page.name).parent
            found |= {(base / urlsplit(address).path).resolve(): None for address in page.styles}
        files = [*found, HERE / "paper.css"]
        return [Path(os.path.relpath(path, target.parent.resolve())).as_posix() for path in files]


def compose(folder: Path, language: Language = ORIGINAL) -> Book:
    """Read a built book's pages in a language and prepare them for one document."""
    pages = built_pages.read(folder, language)
    for page in pages:
        for_paper.prepare(page.article)
    inner_links.join(pages)
    cited = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
    return Book(folder, pages, cited, language)


def _sections(page: BuiltPage) -> list[Entry]:
    found = []
    for heading in page.article.select("section[id] > h2"):
        assert heading.parent is not None
        found.append(Entry(str(heading.parent["id"]), words(heading)))
    return found


def _unnumbered(title: str) -> str:
    return title.lstrip("0123456789. ")


def _css_string(text: str) -> str:
    """Quote text as a string in a style sheet that is part of a page."""
    escaped = (c if c.isalnum() or c in " .,:?" else f"\\{ord(c):x} " for c in text)
    return f'"{"".join(escaped)}"'


def anchors(entries: Iterable[Entry]) -> list[str]:
    """Return the anchors that lines of the table of contents link to."""
    return [anchor for entry in entries for anchor in (entry.anchor, *anchors(entry.below))]


def headings(document: str) -> list[str]:
    """Return all headings of a document in order; they are its bookmarks."""
    found = BeautifulSoup(document, "html.parser").select("h1, h2, h3, h4, h5, h6")
    return [words(heading) for heading in found]
