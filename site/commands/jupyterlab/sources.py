"""A page's source, split at the targets of references: labels and glossary terms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
from book_extension.exercise_pages import markdown_of
from book_extension.languages.markdown import Words, in_words, translated
from book_extension.prose import DIRECTIVE, FENCE, expressions, without_code
from book_extension.prose import Block as ProseBlock

LABEL = re.compile(r"^\((?P<label>[^()\s]+)\)=[ ]*$", re.MULTILINE)
HEADING = re.compile(r"\A\s*#+[ ]+(?P<title>.+)")
TERM = re.compile(r"^(?=\S)", re.MULTILINE)


@dataclass(frozen=True)
class Piece:
    """A part of a page that becomes a cell: kind, text, label or "", and metadata.

    prose: the blocks of a text with values or a premise, as they stood before its conversion.
    """

    kind: str
    text: str
    label: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    prose: tuple[ProseBlock, ...] = ()

    @property
    def title(self) -> str:
        """Heading, which a reference without its own text shows; "" if there is none."""
        heading = HEADING.match(self.text)
        return heading["title"].strip() if heading else ""

    @property
    def figure(self) -> dict[str, Any]:
        """Name and caption of a code cell's figure; empty if it has none."""
        found: dict[str, Any] = (self.metadata.get("mystnb") or {}).get("figure") or {}
        return found

    @property
    def expressions(self) -> list[str]:
        """Expressions in the text's ``{eval}`` roles."""
        return (
            [] if self.kind == "code" else list(dict.fromkeys(e for e, _ in expressions(self.text)))
        )


@dataclass(frozen=True)
class Block:
    """A directive at the top level of a page: its position and its parts."""

    start: int
    end: int
    name: str
    argument: str
    options: dict[str, str]
    body: str


def read_pieces(page: Path, words: Words = str) -> list[Piece]:
    """Return a page's cells, with Markdown split at labels and glossary terms.

    words: returns a message of the page in the reader's language.
    """
    notebook = jupytext.reads(markdown_of(page), fmt="md:myst")
    found: list[Piece] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            metadata = {k: v for k, v in cell.metadata.items() if k != "id"}
            piece = Piece("code", cell.source, metadata=metadata)
            found.append(piece)
            if piece.figure.get("caption"):
                name = str(piece.figure.get("name") or "")
                caption = translated(str(piece.figure["caption"]).strip(), words)
                found.append(Piece("caption", caption, name))
        else:
            text = in_words(cell.source, words)
            found += [part for piece in at_labels(text) for part in with_terms(piece, words)]
    return [piece for piece in found if piece.text.strip() or piece.kind == "code"]


def at_labels(markdown: str) -> Iterator[Piece]:
    """Split the text before each label and remove the labels."""
    without = without_code(markdown)
    marks = [(0, 0, "")]
    marks += [(found.start(), found.end(), found["label"]) for found in LABEL.finditer(without)]
    ends = [start for start, _, _ in marks[1:]] + [len(markdown)]
    for (_, start, label), end in zip(marks, ends, strict=True):
        yield Piece("markdown", markdown[start:end].strip("\n"), label)


def with_terms(piece: Piece, _: Words = str) -> Iterator[Piece]:
    """Split a piece with a glossary into text and one piece for each term."""
    glossary = next((b for b in blocks(piece.text) if b.name == "glossary"), None)
    if glossary is None:
        yield piece
        return
    yield Piece("markdown", piece.text[: glossary.start].strip("\n"), piece.label)
    for lines in filter(str.strip, TERM.split(glossary.body)):
        term, *rest = lines.splitlines()
        definition = in_words("\n".join(line.strip() for line in rest).strip(), _)
        name = f"**{translated(term.strip(), _)}**"
        entry = _("{term}: {definition}").format(term=name, definition=definition)
        yield Piece("markdown", entry, term_label(term))
    yield Piece("markdown", piece.text[glossary.end :].strip("\n"))


def term_label(term: str) -> str:
    """Return the label of a glossary term."""
    return "term-" + re.sub(r"\W+", "-", term.strip().lower()).strip("-")


def blocks(markdown: str) -> Iterator[Block]:
    """Yield the directives at the top level of a text."""
    lines = markdown.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number].rstrip("\n"))
        if not fence or fence["indent"] or not fence["info"]:
            number += 1
            continue
        last = closing(lines, number, fence["mark"])
        directive = DIRECTIVE.match(fence["info"])
        if directive:
            options, body = split_options(lines[number + 1 : last])
            argument = fence["info"][directive.end() :].strip()
            end = offsets[min(last + 1, len(lines))]
            yield Block(offsets[number], end, directive["name"], argument, options, body)
        number = last


def closing(lines: list[str], opening: int, mark: str) -> int:
    """Return the index of the line that closes a fence, or the number of lines."""
    for number in range(opening, len(lines)):
        line = lines[number].strip()
        if set(line) == {mark[0]} and len(line) >= len(mark):
            return number
    return len(lines)


def split_options(lines: list[str]) -> tuple[dict[str, str], str]:
    """Split a directive into its ``:name: value`` options and its body."""
    options: dict[str, str] = {}
    for number, line in enumerate(lines):
        found = re.match(r"^:(?P<name>[\w-]+):[ ]*(?P<value>.*)$", line.rstrip("\n"))
        if not found:
            return options, "".join(lines[number:])
        options[found["name"]] = found["value"]
    return options, ""
