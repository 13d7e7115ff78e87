"""Copies of the pages for JupyterLab: MyST that it renders, links that it follows, values."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import nbformat
from book_extension import contents
from book_extension.prose import Block
from book_extension.prose import blocks as prose_blocks
from browser.python import made_of
from nbformat import NotebookNode

from . import signatures
from .kept_values import kept_or_computed
from .page_values import computed
from .roles import Links, with_values, without_roles, without_site_links, work_label
from .sources import Block as Directive
from .sources import Piece, blocks, read_pieces
from .targets import Targets, read_targets

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
NOT_COMPUTED = "(run all cells)"
BLOCKS = "course_blocks"  # read by labextensions/course-values/values.js
WORDS = 8  # first words of a block, by which a note names it


@dataclass(frozen=True)
class Book:
    """A book's folder and what its pages' copies share, computed once."""

    folder: Path

    @cached_property
    def targets(self) -> Targets:
        return read_targets(self.folder)

    @cached_property
    def places(self) -> dict[str, str]:
        """Path of each page's copy below the reader's folder."""
        return contents.names(self.folder / "_toc.yml")

    @cached_property
    def values(self) -> dict[str, dict[str, Any]]:
        """Values that each page computes, and the error if a cell failed."""
        pages = {page: steps(pieces) for page, pieces in self.targets.pieces.items()}
        return kept_or_computed(self.folder, pages)


def book_of(folder: Path) -> Book:
    """Return the book; what its pages share is recomputed only after a file has changed."""
    texts = [folder / "_toc.yml", *folder.glob("*.bib"), *folder.glob("*.md")]
    texts += [path for room in ("chapters", "exercises") for path in (folder / room).rglob("*.md")]
    digest = hashlib.sha256()
    for path in sorted(set(texts)):
        digest.update(f"{path}\0".encode() + (path.read_bytes() if path.exists() else b"") + b"\0")
    return kept_book(folder, digest.hexdigest())


@lru_cache(maxsize=1)
def kept_book(folder: Path, digest: str) -> Book:
    return Book(folder)


def chapter_notebook(chapter: Path, book: Path | None = None) -> NotebookNode:
    """Return a page's copy for JupyterLab; a page outside the table of contents runs alone.

    The same sources give the same notebook. The values in prose are in the metadata of their
    cells, where jupyterlab-myst expects them.
    """
    whole = book_of((book or Path(__file__).resolve().parents[3]).resolve())
    page = chapter.resolve()
    if page.is_relative_to(whole.folder):
        docname = page.relative_to(whole.folder).with_suffix("").as_posix()
    else:
        docname = ""
    if docname in whole.targets.pieces:
        pieces, found = whole.targets.pieces[docname], whole.values[docname]
    else:
        pieces = read_pieces(page)
        found = computed(whole.folder, {"": steps(pieces)})[""]
    links = Links(whole.targets, whole.places, docname)
    values = found["values"]
    cells: list[NotebookNode] = []
    numbered = [part for piece in pieces for part in converted(piece, links, whole.folder)]
    for number, piece in enumerate(numbered):
        name = piece.label or f"cell-{number}"
        if piece.kind == "code":
            cell = nbformat.v4.new_code_cell(piece.text, id=name, metadata=piece.metadata)
        else:
            cell = nbformat.v4.new_markdown_cell(piece.text, id=name)
            shown = stored(piece.expressions, values)
            if shown:
                cell.metadata["user_expressions"] = shown
            if piece.prose:
                cell.metadata[BLOCKS] = [block_data(block, values) for block in piece.prose]
        cells.append(cell)
    notebook: NotebookNode = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": KERNEL}, nbformat_minor=5
    )
    nbformat.validate(notebook)
    return notebook


def steps(pieces: list[Piece]) -> list[list[str]]:
    """Return the page's cells and expressions in the order in which they run."""
    return [
        ["code", piece.text] if piece.kind == "code" else ["values", *piece.expressions]
        for piece in pieces
    ]


def stored(expressions: list[str], values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return values in the format of jupyterlab-myst's stored expressions."""
    return [
        {
            "expression": expression,
            "result": {
                "status": "ok",
                "data": {"text/plain": values.get(expression, NOT_COMPUTED)},
                "metadata": {},
            },
        }
        for expression in expressions
    ]


def block_data(block: Block, values: Mapping[str, str]) -> dict[str, Any]:
    """Return a block as roofkit.following reads it, with its first words."""
    printed = {e: values[e] for e in block.expressions if e in values}
    words = with_values(block.text, values).split()
    begins = " ".join(words[:WORDS]) + (" …" if len(words) > WORDS else "")
    data: dict[str, Any] = {"values": printed, "begins": begins}
    return data | ({"premise": block.premise} if block.premise else {})


def converted(piece: Piece, links: Links, book: Path) -> Iterator[Piece]:
    """Yield a piece as JupyterLab can show it; a bibliography yields a piece for each work."""
    if piece.kind == "code":
        yield piece
        return
    if piece.kind == "caption":
        number = links.targets.labels.get(piece.label)
        title = f"**{number.title}.** " if number and number.title else ""
        text = title + without_roles(piece.text, links)
        yield Piece("markdown", text, piece.label, prose=tuple(prose_blocks(piece.text)))
        return
    text, end = "", 0
    works: list[Piece] = []
    for block in blocks(piece.text):
        text += piece.text[end : block.start]
        if block.name == "bibliography":
            works = [
                Piece("markdown", work.entry, work_label(key))
                for key, work in links.targets.works.items()
            ]
        else:
            text += directive(block, piece.text[block.start : block.end], book)
        end = block.end
    text = without_site_links(text + piece.text[end:])
    following = tuple(prose_blocks(text))
    text = without_roles(text, links).strip("\n")
    if text:
        yield Piece("markdown", text, piece.label, prose=following)
    yield from works


def directive(block: Directive, source: str, book: Path) -> str:
    """Convert a directive unknown to JupyterLab to Markdown; return others unchanged."""
    if block.name == "eval-rst":
        return signatures.as_list(block.body, book)
    if block.name == "page-python-parts":
        return made_of.table()
    if block.name == "div":
        return block.body
    if block.name in ("answer", "guesses", "include"):
        return ""
    return source


__all__ = ["Book", "chapter_notebook", "with_values"]
