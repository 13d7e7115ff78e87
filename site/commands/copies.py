"""A reader's copies of the course's notebooks: made once, then kept up to date.

The metadata of a copy says which version of which page it is. A copy with unedited cells, run or
not, counts as untouched and is updated. An edited copy is never changed; a new version is saved
next to it.
"""

import copy
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

MARK = "course_copy"  # key in a copy's metadata
GIVEN = ".course-copies.json"  # docname → hash of its notebook at the last update


@dataclass
class Report:
    """Outcome of an update, as paths relative to the folder of copies."""

    made: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)  # new versions of edited copies

    def line(self, _: Callable[[str], str] = str) -> str:
        """Return a summary in one line, in the language that `_` translates into."""
        counts = {
            _("{count} made"): self.made,
            _("{count} updated"): self.updated,
            _("{count} as they were"): self.kept,
        }
        said = [what.format(count=len(paths)) for what, paths in counts.items() if paths]
        line = _(", ").join(said)
        if not self.beside:
            return line
        news = _("new version beside yours: {names}").format(names=_(", ").join(self.beside))
        return _("{counts}; {news}").format(counts=line, news=news) if line else news


def bring_up_to_date(
    supplied: Mapping[str, NotebookNode], names: Mapping[str, str], work: Path
) -> Report:
    """Create or update each page's copy, which lies below `work`."""
    report = Report()
    notary = NotebookNotary()  # JupyterLab shows pictures of notebooks that are signed
    try:
        given = json.loads((work / GIVEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the first time, or the file is damaged
        given = {}
    for page, notebook in supplied.items():
        mark = {"page": page, "version": version_of(notebook), "cells": cells_of(notebook)}
        target = work / names[page]
        if target.exists() and given.get(page) == mark["version"]:
            outcome, place = "kept", target
        elif not target.exists():
            outcome, place = bring_first(target, page)
        else:
            outcome, place = bring(target, mark)
        if outcome != "kept":
            marked = copy.deepcopy(notebook)
            marked.metadata[MARK] = mark
            notary.sign(marked)
            write_whole(place, f"{nbformat.writes(marked)}\n")
        getattr(report, outcome).append(place.relative_to(work).as_posix())
        given[page] = mark["version"]
    write_whole(work / GIVEN, json.dumps(given) + "\n")
    return report


def bring_first(target: Path, page: str) -> tuple[str, Path]:
    """Remove untouched copies that were made when the chapter had another number."""
    like = re.compile(rf"(?:\d+-)?{re.escape(re.sub(r'^[0-9]+-', '', target.name))}")
    folder = target.parent
    others = [path for path in folder.glob("*.ipynb") if like.fullmatch(path.name)]
    old = [path for path in others if is_untouched(read(path), page)]
    for path in old:
        path.unlink()
    left = len(others) > len(old)
    return ("beside" if left else "updated" if old else "made"), target


def bring(target: Path, mark: Mapping[str, Any]) -> tuple[str, Path]:
    """Return what is to be done with a page whose copy exists, and the place of a new one."""
    places = [target, target.with_suffix(".new.ipynb")]
    while places[-1].exists():
        places.append(target.with_suffix(f".new-{len(places)}.ipynb"))
    found = {place: read(place) for place in places}
    marks = [mark_of(notebook) for notebook in found.values()]
    if any(known.get("version") == mark["version"] for known in marks):
        return "kept", target
    if is_untouched(found[target], mark["page"]):
        return "updated", target
    texts = [cells_of(notebook) for notebook in found.values()]
    if mark["cells"] in (*texts, *(known.get("cells") for known in marks)):
        return "kept", target
    untouched = [place for place in places if is_untouched(found[place], mark["page"])]
    return "beside", next(iter(untouched), places[-1])


def version_of(notebook: NotebookNode) -> str:
    """Return a hash of a notebook's cells and metadata, without outputs."""
    metadata = {key: value for key, value in notebook.metadata.items() if key != MARK}
    return digest([metadata, [[*content(cell), cell.metadata] for cell in notebook.cells]])


def cells_of(notebook: NotebookNode | None) -> str:
    """Return a hash of what a reader edits: each cell's type, text and attachments."""
    return digest([content(cell) for cell in notebook.cells]) if notebook else ""


def content(cell: NotebookNode) -> list[object]:
    return [cell.cell_type, cell.source, cell.get("attachments") or {}]


def digest(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def read(path: Path) -> NotebookNode | None:
    """Read a notebook; return None if the file is missing or not a valid one."""
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        version_of(notebook)
    except Exception:  # an invalid file may raise anything
        return None
    return notebook


def mark_of(notebook: NotebookNode | None) -> Mapping[str, Any]:
    """Return the course's mark in a copy's metadata; empty if it has none."""
    mark = notebook.metadata.get(MARK) if notebook else None
    return mark if isinstance(mark, Mapping) else {}


def is_untouched(notebook: NotebookNode | None, page: str) -> bool:
    """Return whether the reader has not edited a copy; one without a mark counts as edited."""
    mark = mark_of(notebook)
    return mark.get("page") == page and mark.get("cells") == cells_of(notebook)


def write_whole(target: Path, text: str) -> None:
    """Write a file atomically: on failure the old content stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(target)
