"""Copies of the pages for JupyterLab: MyST, links and values that it can show."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import nbformat
from book_extension import contents, exercise_pages
from book_extension.languages import ORIGINAL, Language, catalogs, value_words, words
from book_extension.languages.code_words import extracted
from book_extension.languages.markdown import Words, in_words
from book_extension.prose import Block
from book_extension.prose import blocks as prose_blocks
from browser.python import made_of
from nbformat import NotebookNode

from . import signatures
from .kept_values import kept_or_computed
from .page_values import computed
from .roles import (
    Links,
    with_scales,
    with_values,
    without_roles,
    without_site_links,
    work_label,
)
from .sources import Block as Directive
from .sources import Piece, blocks, read_pieces
from .targets import Targets, read_targets

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# Metadata that labextensions/course-values/values.js reads.
BLOCKS = "course_blocks"
WORDS_OF_VALUES = "course_words"
# A note quotes the beginning of a block of prose: at most this many words and characters.
WORDS = 8
LETTERS = 60
SCRIPTS = ("site/commands/jupyterlab/labextensions", "**/*.js")


@dataclass(frozen=True)
class Book:
    """A book's folder and what its pages' copies in a language share, computed once."""

    folder: Path
    language: Language = ORIGINAL

    @cached_property
    def targets(self) -> Targets:
        return read_targets(self.folder, self.words_of)

    @cached_property
    def code_words(self) -> Words:
        return words(self.folder, self.language)

    @cached_property
    def words_of_values(self) -> dict[str, dict[str, Any]]:
        """Translations of values.js and of words in values, with scales and units."""
        said = extracted(self.folder, [SCRIPTS])
        return {
            "said": {message: self.code_words(message) for message in said},
            "values": {one: self.code_words(one) for one in value_words.TEMPLATES},
            "scales": value_words.SCALES,
            "units": value_words.UNITS,
        }

    def words_of(self, page: str) -> Words:
        """Return a function that translates a page's messages.

        Messages without a translation stay English.
        """
        if self.language is ORIGINAL:
            return str
        file = catalogs.folder(self.folder, self.language.code) / f"{page}.po"
        found = catalogs.messages(catalogs.read(file)) if file.exists() else ()
        known = {str(one.id): str(one.string) for one in found if catalogs.is_current(one)}
        return lambda message: known.get(message) or self.code_words(message)

    @cached_property
    def places(self) -> dict[str, str]:
        """Path of each page's copy below the reader's folder."""
        return contents.names(self.folder / "_toc.yml")

    @cached_property
    def values(self) -> dict[str, dict[str, Any]]:
        """Values that each page computes, and the error if a cell failed."""
        if self.language is not ORIGINAL:
            return book_of(self.folder).values
        pages = {page: steps(pieces) for page, pieces in self.targets.pieces.items()}
        return kept_or_computed(self.folder, pages)


def book_of(folder: Path, language: Language = ORIGINAL) -> Book:
    """Return the book; recompute what its pages share only if a file changed."""
    texts = [folder / "_toc.yml", *folder.glob("*.bib"), *folder.glob("*.md")]
    texts += [*(folder / "chapters").rglob("*.md"), *exercise_pages.files(folder)]
    if language is not ORIGINAL:
        texts += catalogs.folder(folder, language.code).rglob("*.po")
    digest = hashlib.sha256()
    for path in sorted(set(texts)):
        digest.update(f"{path}\0".encode() + path.read_bytes() + b"\0")
    return kept_book(folder, digest.hexdigest(), language)


@lru_cache(maxsize=2)  # a translation, and the original, which computes the translation's values
def kept_book(folder: Path, digest: str, language: Language) -> Book:
    return Book(folder, language)


def chapter_notebook(
    chapter: Path, book: Path | None = None, language: Language = ORIGINAL
) -> NotebookNode:
    """Return a page's copy for JupyterLab.

    A page outside the table of contents runs alone. The same sources give the same notebook. The
    values in prose are in the metadata of their cells, where jupyterlab-myst expects them.
    """
    whole = book_of((book or Path(__file__).resolve().parents[3]).resolve(), language)
    page = chapter.resolve()
    if page.is_relative_to(whole.folder):
        docname = page.relative_to(whole.folder).with_suffix("").as_posix()
    else:
        docname = ""
    if docname in whole.targets.pieces:
        pieces, found = whole.targets.pieces[docname], whole.values[docname]
    else:
        pieces = read_pieces(page, whole.words_of(docname))
        found = computed(whole.folder, {"": steps(pieces)})[""]
    links = Links(whole.targets, whole.places, docname)
    pieces, values = in_scale(pieces, found["values"])
    cells: list[NotebookNode] = []
    numbered = [part for piece in pieces for part in converted(piece, links, whole)]
    for number, piece in enumerate(numbered):
        name = piece.label or f"cell-{number}"
        if piece.kind == "code":
            cell = nbformat.v4.new_code_cell(piece.text, id=name, metadata=piece.metadata)
        else:
            cell = nbformat.v4.new_markdown_cell(piece.text, id=name)
            shown = stored(piece.expressions, values, whole.code_words)
            if shown:
                cell.metadata["user_expressions"] = shown
            if piece.prose:
                cell.metadata[BLOCKS] = [
                    block_data(block, values, whole.code_words) for block in piece.prose
                ]
        cells.append(cell)
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    if language is not ORIGINAL:
        notebook.metadata[WORDS_OF_VALUES] = whole.words_of_values
    return notebook


def in_scale(pieces: list[Piece], values: Mapping[str, str]) -> tuple[list[Piece], dict[str, str]]:
    """Return pieces and values with scale words moved into expressions' comments."""
    scaled = [
        piece if piece.kind == "code" else replace(piece, text=with_scales(piece.text, values))
        for piece in pieces
    ]
    of_all = dict(values)
    for expression in (one for piece in scaled for one in piece.expressions):
        plain = value_words.SCALE_COMMENT.sub("", expression)
        if plain in values:
            of_all[expression] = values[plain]
    return scaled, of_all


def steps(pieces: list[Piece]) -> list[list[str]]:
    """Return the page's cells and expressions in the order in which they run."""
    return [
        ["code", piece.text] if piece.kind == "code" else ["values", *piece.expressions]
        for piece in pieces
    ]


def stored(expressions: list[str], values: Mapping[str, str], _: Words) -> list[dict[str, Any]]:
    """Return values as jupyterlab-myst's stored expressions, with words translated."""
    return [
        {
            "expression": expression,
            "result": {
                "status": "ok",
                "data": {
                    "text/plain": value_words.of_expression(expression, values[expression], _)
                    if expression in values
                    else _("(run all cells)")
                },
                "metadata": {},
            },
        }
        for expression in expressions
    ]


def block_data(block: Block, values: Mapping[str, str], words: Words) -> dict[str, Any]:
    """Return a prose block's data for roofkit.following, with its first words.

    The values stay untranslated, since they are compared with what cells compute.
    """
    printed = {e: values[e] for e in block.expressions if e in values}
    shown = {e: value_words.of_expression(e, value, words) for e, value in values.items()}
    begins = first_words(with_values(block.text, shown))
    data: dict[str, Any] = {"values": printed, "begins": begins}
    return data | ({"premise": block.premise} if block.premise else {})


def first_words(text: str) -> str:
    """Return the beginning of a text, followed by an ellipsis if it was cut.

    Chinese has few spaces, so letters are counted, too.
    """
    whole = " ".join(text.split())
    begins = " ".join(whole.split()[:WORDS])[:LETTERS].rstrip()
    return begins if begins == whole else f"{begins} …"


def converted(piece: Piece, links: Links, book: Book) -> Iterator[Piece]:
    """Yield a piece as JupyterLab can show it.

    A bibliography yields a piece for each work.
    """
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
            source = piece.text[block.start : block.end]
            text += directive(block, source, book, links.page)
        end = block.end
    text = without_site_links(text + piece.text[end:])
    following = tuple(prose_blocks(text))
    text = without_roles(text, links).strip("\n")
    if text:
        yield Piece("markdown", text, piece.label, prose=following)
    yield from works


def directive(block: Directive, source: str, book: Book, page: str) -> str:
    """Convert a directive unknown to JupyterLab to Markdown; return others unchanged."""
    if block.name == "eval-rst":
        return signatures.as_list(block.body, book.folder)
    if block.name == "page-python-parts":
        return in_words(made_of.table(), book.words_of(page))
    if block.name == "div":
        return block.body
    if block.name in ("answer", "guesses", "include"):
        return ""
    return source


__all__ = ["Book", "chapter_notebook", "with_values"]
