"""Targets of references: pages, labels, figures, terms and cited works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from book_extension import contents, exercise_pages
from book_extension.languages.markdown import Words

from .sources import Piece, read_pieces
from .works import Work, read_works


@dataclass(frozen=True)
class Target:
    """Target of a reference: docname, label of the cell, and title or number."""

    page: str
    label: str
    title: str


@dataclass(frozen=True)
class Targets:
    """All targets of references in a book, and the pieces of its pages."""

    pieces: Mapping[str, list[Piece]]
    titles: Mapping[str, str]
    labels: Mapping[str, Target]
    works: Mapping[str, Work]

    @cached_property
    def bibliography(self) -> str:
        """Docname of the page with the bibliography; "" if there is none."""
        holds = (
            page
            for page, pieces in self.pieces.items()
            if any("{bibliography}" in piece.text for piece in pieces)
        )
        return next(holds, "")


def read_targets(book: Path, words_of: Callable[[str], Words]) -> Targets:
    """Read every page in a book's table of contents, and the bibliography.

    words_of: returns for a page what gives its messages in the reader's language.
    """
    pieces: dict[str, list[Piece]] = {}
    titles: dict[str, str] = {}
    labels: dict[str, Target] = {}
    for page in contents.pages(book / "_toc.yml"):
        path = exercise_pages.file_of(book, page.docname)
        if not path.exists():
            continue
        words = words_of(page.docname)
        pieces[page.docname] = read_pieces(path, words)
        titles[page.docname] = next((p.title for p in pieces[page.docname] if p.title), "")
        figures = 0
        for piece in pieces[page.docname]:
            title = piece.title
            if piece.kind == "caption":
                figures += 1
                number = f"{page.number}.{figures}"
                title = words("Fig. {number}").format(number=number) if page.number else ""
            if piece.label:
                labels[piece.label] = Target(page.docname, piece.label, title)
    bibliography = book / "references.bib"
    works = read_works(bibliography, words_of("")) if bibliography.exists() else {}
    return Targets(pieces, titles, labels, works)
