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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

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
    report, given = Report(), _read_given(work / GIVEN)
    for docname, notebook in supplied.items():
        version = version_of(notebook)
        _bring(docname, notebook, work, names[docname], given.get(docname) == version, report)
        given[docname] = version
    write_whole(work / GIVEN, json.dumps(given) + "\n")
    return report


def _bring(
    docname: str, notebook: NotebookNode, work: Path, name: str, given: bool, report: Report
) -> None:
    target = work / name
    text = _with_mark(docname, notebook)
    if not target.exists():
        renamed = _under_other_numbers(target)
        left = [path for path in renamed if not _untouched(path, docname)]
        write_whole(target, text)
        for path in set(renamed) - set(left):
            path.unlink()
        (report.beside if left else report.updated if renamed else report.made).append(name)
        return
    beside = _beside(target)
    marks = [_mark(path) for path in (target, *beside)]
    if given or any(mark.get("version") == version_of(notebook) for mark in marks):
        report.kept.append(name)
    elif _untouched(target, docname):
        write_whole(target, text)
        report.updated.append(name)
    elif any(_same_text(path, notebook) for path in (target, *beside)):
        report.kept.append(name)
    else:
        place = next(p for p in beside if not p.exists() or _untouched(p, docname))
        write_whole(place, text)
        report.beside.append(place.relative_to(work).as_posix())


def _beside(target: Path) -> list[Path]:
    """Return the paths of new versions saved beside a copy, and last an unused path."""
    places = [target.with_suffix(".new.ipynb")]
    while places[-1].exists():
        places.append(target.with_suffix(f".new-{len(places) + 1}.ipynb"))
    return places


def _under_other_numbers(target: Path) -> list[Path]:
    """Return copies of a page that were made under another chapter number."""
    stem = re.sub(r"^\d+-", "", target.name)
    if not target.parent.is_dir():
        return []
    like = re.compile(rf"(?:\d+-)?{re.escape(stem)}")
    return sorted(path for path in target.parent.iterdir() if like.fullmatch(path.name))


def version_of(notebook: NotebookNode) -> str:
    """Return a hash of a notebook's cells and metadata, without outputs."""
    metadata = {key: value for key, value in notebook.metadata.items() if key != MARK}
    cells = [[*_content(cell), cell.metadata] for cell in notebook.cells]
    return _digest([metadata, cells])


def cells_of(notebook: NotebookNode) -> str:
    """Return a hash of what a reader edits: each cell's type, text and attachments."""
    return _digest([_content(cell) for cell in notebook.cells])


def _content(cell: NotebookNode) -> list[object]:
    return [cell.cell_type, cell.source, cell.get("attachments") or {}]


def _digest(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _with_mark(docname: str, notebook: NotebookNode) -> str:
    """Serialize a notebook as a reader's copy.

    Its metadata records the page, and hashes of the notebook and of its cells.
    """
    marked = copy.deepcopy(notebook)
    mark = {"page": docname, "version": version_of(notebook), "cells": cells_of(notebook)}
    marked.metadata[MARK] = mark
    return str(nbformat.writes(marked)) + "\n"


def _read(path: Path) -> NotebookNode | None:
    """Read a notebook; return None if the file is not a valid one."""
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        _ = [(*_content(cell), cell.metadata) for cell in notebook.cells], notebook.metadata
    except Exception:  # an invalid file may raise anything
        return None
    return notebook


def _mark(path: Path) -> Mapping[str, object]:
    """Return the course's mark in a copy's metadata; empty if it has none."""
    notebook = _read(path)
    mark = notebook.metadata.get(MARK) if notebook else None
    return mark if isinstance(mark, Mapping) else {}


def _untouched(path: Path, docname: str) -> bool:
    """Return whether the reader has not edited a copy.

    A copy without a mark counts as edited.
    """
    notebook, mark = _read(path), _mark(path)
    same = notebook is not None and mark.get("cells") == cells_of(notebook)
    return same and mark.get("page") == docname


def _same_text(path: Path, supplied: NotebookNode) -> bool:
    """Return whether a reader's copy has the supplied cells or was made from them."""
    notebook = _read(path)
    if notebook is None:
        return False
    return cells_of(supplied) in (_mark(path).get("cells"), cells_of(notebook))


def _read_given(path: Path) -> dict[str, str]:
    """Read docname → notebook hash at the last update; treat a damaged file as empty."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return given if isinstance(given, dict) else {}


def write_whole(target: Path, text: str) -> None:
    """Write a file atomically: on failure the old content stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(target)


def copy_once(source: Path, targets: Iterable[Path]) -> None:
    """Copy a file to each target that does not exist yet."""
    for target in targets:
        if not target.exists():
            write_whole(target, source.read_text(encoding="utf-8"))
