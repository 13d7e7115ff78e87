"""Built pages in the order of the table of contents."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from book_extension.languages import ORIGINAL, Language
from bs4 import BeautifulSoup, Tag


@dataclass
class BuiltPage:
    """A page's article, without the site's navigation."""

    # Name in the table of contents, such as "chapters/time".
    name: str
    # Caption of the page's part; "" for the title page.
    part: str
    article: Tag
    # Addresses of style sheets, as written in the page.
    styles: list[str]

    @property
    def anchor(self) -> str:
        """Id of the page in the printed document."""
        return self.name.replace("/", "-")

    @property
    def title(self) -> str:
        heading = self.article.h1
        assert heading is not None, f"{self.name} has no title"
        return words(heading)


def words(tag: Tag) -> str:
    """Return a heading's text on one line, without its permalink mark."""
    marks = {id(text) for mark in tag.select("a.headerlink") for text in mark.strings}
    return " ".join("".join(t for t in tag.strings if id(t) not in marks).split())


def listed(contents: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (page, caption of its part) for each page in a table of contents."""
    yield contents["root"], ""
    for part in contents.get("parts", [contents]):
        for chapter in part.get("chapters", []):
            yield from _with_sections(chapter, part.get("caption", ""))


def _with_sections(entry: dict[str, Any], caption: str) -> Iterator[tuple[str, str]]:
    yield entry["file"], caption
    for section in entry.get("sections", []):
        yield from _with_sections(section, caption)


def site(book: Path, language: Language = ORIGINAL) -> Path:
    """Return the folder of a built book's pages in a language."""
    return book / "_build" / "html" / language.folder


def read(book: Path, language: Language = ORIGINAL) -> list[BuiltPage]:
    """Read all pages of a built book in a language."""
    contents = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    return [
        _page(site(book, language) / f"{name}.html", name, part) for name, part in listed(contents)
    ]


def _page(path: Path, name: str, part: str) -> BuiltPage:
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    article = soup.select_one("article.bd-article")
    assert article is not None, f"{name} has no article"
    styles = [str(link["href"]) for link in soup.select('head link[rel="stylesheet"]')]
    return BuiltPage(name, part, article, styles)
