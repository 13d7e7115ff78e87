"""A page's source, cut where something can be pointed at: before labels, and at glossary terms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
from book_extension.prose import DIRECTIVE, FENCE, expressions, without_code

LABEL = re.compile(r"^\((?P<label>[^()\s]+)\)=[ ]*$", re.MULTILINE)
HEADING = re.compile(r"\A\s*#+[ ]+(?P<title>.+)")
TERM = re.compile(r"^(?=\S)", re.MULTILINE)


@dataclass(frozen=True)
class Piece:
    """A cell to be: its kind, its text, its label or "", and a code cell's metadata."""

    kind: str
    text: str
    label: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What a reference without words of its own shows."""
        heading = HEADING.match(self.text)
        return heading["title"].strip() if heading else ""

    @property
    def figure(self) -> dict[str, Any]:
        """Name and caption of the figure that a code cell draws; empty if it has none."""
        found: dict[str, Any] = (self.metadata.get("mystnb") or {}).get("figure") or {}
        return found

    @property
    def expressions(self) -> list[str]:
        """What stands in the text's ``{eval}`` roles."""
        return (
            [] if self.kind == "code" else list(dict.fromkeys(e for e, _ in expressions(self.text)))
        )


@dataclass(frozen=True)
class Block:
    """A directive at the top level of a page: where it stands, and what it is made of."""

    start: int
    end: int
    name: str
    argument: str
    options: dict[str, str]
    body: str


def read_pieces(page: Path) -> list[Piece]:
    """The page's cells in their order, its Markdown cut at labels and at glossary terms."""
    notebook = jupytext.reads(page.read_text(encoding="utf-8"), fmt="md:myst")
    found: list[Piece] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            metadata = {k: v for k, v in cell.metadata.items() if k != "id"}
            piece = Piece("code", cell.source, metadata=metadata)
            found.append(piece)
            if piece.figure.get("caption"):
                name = str(piece.figure.get("name") or "")
                found.append(Piece("caption", str(piece.figure["caption"]).strip(), name))
        else:
            found += [part for text in at_labels(cell.source) for part in with_terms(text)]
    return [piece for piece in found if piece.text.strip() or piece.kind == "code"]


def at_labels(markdown: str) -> Iterator[Piece]:
    """The text cut before each label, the labels taken out."""
    prose = without_code(markdown)
    marks = [(0, 0, "")]
    marks += [(found.start(), found.end(), found["label"]) for found in LABEL.finditer(prose)]
    ends = [start for start, _, _ in marks[1:]] + [len(markdown)]
    for (_, start, label), end in zip(marks, ends, strict=True):
        yield Piece("markdown", markdown[start:end].strip("\n"), label)


def with_terms(piece: Piece) -> Iterator[Piece]:
    """A piece with a glossary in it becomes one piece before it and one for each of its terms."""
    glossary = next((b for b in blocks(piece.text) if b.name == "glossary"), None)
    if glossary is None:
        yield piece
        return
    yield Piece("markdown", piece.text[: glossary.start].strip("\n"), piece.label)
    for entry in filter(str.strip, TERM.split(glossary.body)):
        term, _, definition = entry.partition("\n")
        text = re.sub(r"^[ \t]+", "", definition, flags=re.MULTILINE).strip()
        yield Piece("markdown", f"**{term.strip()}**: {text}", term_label(term))
    yield Piece("markdown", piece.text[glossary.end :].strip("\n"))


def term_label(term: str) -> str:
    """The label of a glossary's term."""
    return "term-" + re.sub(r"\W+", "-", term.strip().lower()).strip("-")


def blocks(markdown: str) -> Iterator[Block]:
    """The directives at the top level of a text."""
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
        number = last + 1


def closing(lines: list[str], opening: int, mark: str) -> int:
    """The number of the line that closes a fence, or of the line after the last."""
    for number in range(opening + 1, len(lines)):
        line = lines[number].strip()
        if set(line) == {mark[0]} and len(line) >= len(mark):
            return number
    return len(lines)


def split_options(lines: list[str]) -> tuple[dict[str, str], str]:
    """A directive's ``:name: value`` lines, and what stands below them."""
    options: dict[str, str] = {}
    for number, line in enumerate(lines):
        found = re.match(r"^:(?P<name>[\w-]+):[ ]*(?P<value>.*)$", line.rstrip("\n"))
        if not found:
            return options, "".join(lines[number:])
        options[found["name"]] = found["value"]
    return options, ""
