"""Parses notebooks leniently: only the cells' sources have to be well-formed.

Scripts, converters and web editors leave out required fields or give them wrong types, and nbformat
rejects such a file. All of the learner's work is in the sources.
"""

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode, from_dict
from nbformat.validator import normalize

VERSION = 4
MAX_CELLS = 1_000  # grading takes time for each cell; exercises have fewer than 50
KINDS = ("code", "markdown", "raw")
ID = r"[\w-]{1,64}"
MINOR_VERSION = 5  # format 4.5, the first in which cells have ids


class TooManyCells(Exception):
    """A notebook has more than MAX_CELLS cells."""


def of_bytes(content: bytes) -> NotebookNode:
    """Parse a notebook of any format; invalid bytes may raise any exception."""
    # Some editors write UTF-16 or a byte order mark.
    return notebook(content.decode(json.detect_encoding(content)))


def notebook(text: str) -> NotebookNode:
    """Parse a notebook of any format; invalid text may raise any exception.

    Outputs of notebooks in format 4 are dropped.
    """
    content = json.loads(text)
    if _count(content) > MAX_CELLS:
        raise TooManyCells
    if not _is_version_4(content):
        nb: NotebookNode
        _, nb = normalize(nbformat.reads(text, as_version=VERSION))
        return nb
    cells = [_cell(one) for one in content["cells"]]
    _give_ids(cells)
    metadata = _dictionary(content.get("metadata"))
    version = {"nbformat": VERSION, "nbformat_minor": MINOR_VERSION}
    found: NotebookNode = from_dict({"cells": cells, "metadata": metadata, **version})
    return found


def _count(content: dict[str, Any]) -> int:
    """Return the number of cells, in any version of the notebook format."""
    sheets = content.get("worksheets")
    places = [content, *(sheets if isinstance(sheets, list) else ())]
    cells = [place.get("cells") for place in places if isinstance(place, dict)]
    return sum(len(one) for one in cells if isinstance(one, list))


def _is_version_4(content: dict[str, Any]) -> bool:
    return isinstance(content.get("cells"), list) and content.get("nbformat", VERSION) == VERSION


def _cell(found: Any) -> dict[str, Any]:
    """Return this cell in well-formed shape; raise an exception if it is not a cell."""
    if not isinstance(found, dict) or found.get("cell_type") not in KINDS:
        raise ValueError("not a cell of a notebook")
    source = found.get("source") or ""
    if isinstance(source, list):
        source = "".join(source)
    if not isinstance(source, str):
        raise ValueError("the source of a cell is not a text")
    kind: str = found["cell_type"]
    metadata = nbgraders_own(_dictionary(found.get("metadata")))
    cell = {"cell_type": kind, "metadata": metadata, "source": source}
    if isinstance(found.get("id"), str) and re.fullmatch(ID, found["id"], re.ASCII):
        cell["id"] = found["id"]
    if kind == "code":
        return cell | {"outputs": [], "execution_count": None}
    pictures = found.get("attachments")
    return cell | ({"attachments": pictures} if isinstance(pictures, dict) else {})


def nbgraders_own(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return nbgrader's part of a cell's metadata, without that of other programs."""
    marks = metadata.get("nbgrader")
    known = isinstance(marks, dict) and isinstance(marks.get("grade_id"), str)
    return {"nbgrader": marks} if known else {}


def _give_ids(cells: list[dict[str, Any]]) -> None:
    """Give each cell a unique id; among duplicates, the first cell keeps its id."""
    given = {cell["id"] for cell in cells if "id" in cell}
    taken: set[str] = set()
    names = (name for number in itertools.count() if (name := f"cell-{number}") not in given)
    for cell in cells:
        if cell.get("id") is None or cell["id"] in taken:
            cell["id"] = next(names)
        taken.add(cell["id"])


def _dictionary(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
