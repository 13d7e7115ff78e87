"""Submitted notebooks: reading one, and putting the learner's cells into the released one.

Editors strip metadata; learners copy cells, change their type, move and delete them. That costs no
points: a cell is known by nbgrader's mark, by its id, by the check that it calls, by the
function that it defines, or by its text. Where a cell stands hardly matters: see `grade.run`.
"""

import ast
import copy
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from roofkit.notebook_language import language_of
from roofkit.words import ORIGINAL

MOST_SOURCE = 100_000  # characters that are parsed: syntax trees take much memory
STUB = ("raise NotImplementedError", "raise NotImplementedError()")  # how an answer ends, released
MAX_CELLS = 1_000  # each cell takes time; exercises have fewer than 50
PARSING = threading.Lock()
CHECK = re.compile(r"""\s*check\(\s*["']([\w-]+)["']""")


@dataclass(frozen=True)
class Cell:
    """A cell as submitted; key: nbgrader's grade id, "" if it has none."""

    is_code: bool
    source: str
    key: str
    id: str


def read(content: bytes) -> tuple[list[Cell], str]:
    """Return (cells, language) of a notebook of any format, if only its sources are well-formed.

    Raises ValueError with the reason, as the end of a sentence that begins with the file.
    """
    try:
        found = json.loads(content.decode(json.detect_encoding(content)))
    except (ValueError, RecursionError):
        raise ValueError("the file is not JSON, and so not a notebook") from None
    try:
        sheets = found["cells"] if "cells" in found else found["worksheets"][0]["cells"]
        if len(sheets) > MAX_CELLS:
            raise ValueError(f"the notebook has more than {MAX_CELLS} cells")
        cells = [_cell(one) for one in sheets]
    except (LookupError, TypeError, AttributeError):
        raise ValueError("the file is not a notebook") from None
    if not cells:
        raise ValueError("the notebook has no cells")
    # Its language is in its metadata, and in the cell with the published cases.
    about = found.get("metadata")
    texts = [{"source": one.source} for one in cells]
    return cells, language_of(
        {"metadata": about if isinstance(about, dict) else {}, "cells": texts}
    )


def _cell(found: Any) -> Cell:
    source = "".join(found.get("source", found.get("input")) or "")  # a text, or its lines
    key: Any = found
    for name in ("metadata", "nbgrader", "grade_id"):
        key = key.get(name) if isinstance(key, dict) else None
    # A lone half of a surrogate pair can't be written to a file.
    source = source.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    return Cell(
        is_code=found["cell_type"] == "code",
        source=source,
        key=key if isinstance(key, str) else "",
        id=str(found.get("id", "")),
    )


def syntax_tree(source: str | bytes, name: str = "<unknown>") -> ast.Module:
    """Parse code. Two threads that do so at one time may get a SystemError, as in Python 3.11.7."""
    with PARSING:
        return ast.parse(source, name)


def parsed(source: str) -> list[ast.stmt] | None:
    """Return the statements of a cell, None if it has an error or is too long."""
    if len(source) > MOST_SOURCE:
        return None
    lines = ["" if line[:1] in ("%", "!") else line for line in source.split("\n")]  # magics
    try:
        return syntax_tree("\n".join(lines)).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two: deep nesting
        return None


def written(node: ast.AST) -> str:
    """Return code without comments and layout, "" for what is nested too deeply."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


def defined(source: str) -> dict[str, str]:
    """Return function → its code, "" for one that ends as released and returns nothing before."""
    found = {}
    for one in parsed(source) or ():
        if isinstance(one, ast.FunctionDef):
            returns = any(isinstance(node, ast.Return) for node in ast.walk(one))
            is_stub = written(one.body[-1]) in STUB and not returns
            found[one.name] = "" if is_stub else written(one) or source
    return found


def key_of(cell: Mapping[str, Any]) -> str:
    """Return nbgrader's grade id of a cell, "" for one of the learner's own."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def restored(
    cells: Sequence[Cell], released: Mapping[str, str], language: str, functions: Mapping[str, str]
) -> tuple[NotebookNode, list[str]]:
    """Return (notebook, remarks): the hand-in, with each cell of the exercise there once.

    released: language → the text of the released notebook. functions: key of a check → the function
    that it checks. A locked cell has the released text; what the learner made of it stands above
    it, as a cell of the learner's own.
    """
    language = language if language in released else ORIGINAL
    source = nbformat.reads(released[language], as_version=4)
    ours = {key: cell for cell in source.cells if (key := key_of(cell))}
    by_id = {cell.id: key for key, cell in ours.items()}
    by_text = {tuple(cell.source.split()): key for key, cell in ours.items()}
    keys = [one.key if one.key in ours else by_id.get(one.id, "") for one in cells]
    known = {*keys}
    for place, one in enumerate(cells):
        if not keys[place]:
            text = tuple(one.source.split())
            found = _by_content(one.source, functions) or by_text.get(text, "")
            keys[place] = found if found not in known else ""
    nb, remarks = new_notebook(metadata=source.metadata), []
    nb.metadata.setdefault("exercise", {})["language"] = language
    for place, (one, key) in enumerate(zip(cells, keys, strict=True)):
        if not key:
            nb.cells.append(_own(one.source, one.is_code))
            continue
        cell = copy.deepcopy(ours[key])
        is_same = one.source.split() == cell.source.split()
        if key in keys[place + 1 :]:  # of several copies, the last one counts
            remarks.append(f"the cell {key} was there more than once")
            if not is_same:
                nb.cells.append(_own(one.source, is_code=True))
            continue
        if cell.metadata.nbgrader.solution:
            cell.source = one.source
        elif not is_same:
            remarks.append(f"the text of the locked cell {key} was changed")
            nb.cells.append(_own(one.source, is_code=True))
        nb.cells.append(cell)
    remarks += _add_missing(nb, ours, functions)
    for place, cell in enumerate(nb.cells):
        if not key_of(cell):
            cell.id = f"own-{place}"  # the same at each grading
    return nb, remarks


def _own(source: str, is_code: bool) -> NotebookNode:
    cell: NotebookNode = new_code_cell(source) if is_code else new_markdown_cell(source)
    return cell


def _add_missing(
    nb: NotebookNode, ours: Mapping[str, NotebookNode], functions: Mapping[str, str]
) -> Iterator[str]:
    """Put deleted cells back: checks below what they check, answers empty; yield remarks."""
    place = 0
    for key, cell in ours.items():
        there = [number for number, one in enumerate(nb.cells) if key_of(one) == key]
        if not there:
            yield f"the cell {key} was missing"
            lost = copy.deepcopy(cell)
            lost.source = "" if cell.metadata.nbgrader.solution else cell.source
            if key in functions:
                head = f"def {functions[key]}("
                defined = [n for n, one in enumerate(nb.cells, 1) if head in one.source]
                place = max([place, *defined])
            nb.cells.insert(place, lost)
            there = [place]
        place = there[0] + 1


def _by_content(source: str, functions: Mapping[str, str]) -> str:
    """Return the key of the cell that checks or defines the same function, "" if none does."""
    if (found := CHECK.match(source)) and found[1] in functions:
        return found[1]
    for key, function in functions.items():
        if re.search(rf"^def\s+{function}\(", source, re.MULTILINE):
            return f"{key}-solution"
    return ""
