"""A reader's copies of the course's notebooks: made once, then kept up to date.

A file beside them has what was given. A copy with unedited cells, run or not, counts as untouched
and is updated. An edited copy is never changed; a new version is saved next to it.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

GIVEN = ".course-copies.json"  # docname → hashes: of its last version, and of the cells of all


def bring_up_to_date(
    supplied: Mapping[str, NotebookNode], names: Mapping[str, str], work: Path
) -> dict[str, list[str]]:
    """Create or update each page's copy, which lies below `work`.

    Return outcome → the paths of copies, relative to `work`: "made", "updated", "kept", and
    "beside", which are new versions of edited copies.
    """
    report: dict[str, list[str]] = {"made": [], "updated": [], "kept": [], "beside": []}
    notary = NotebookNotary()  # JupyterLab shows pictures of notebooks that are signed
    given = read_given(work / GIVEN)
    for page, notebook in supplied.items():
        version, cells, target = version_of(notebook), cells_of(notebook), work / names[page]
        before, known = given.get(page, ["", []])
        if target.exists() and before == version:
            outcome, place = "kept", target
        else:
            outcome, place = plan(target, cells, known)
        if outcome != "kept":
            notary.sign(notebook)
            write_whole(place, f"{nbformat.writes(notebook)}\n")
        report[outcome].append(place.relative_to(work).as_posix())
        given[page] = [version, sorted({*known, cells})]
    write_whole(work / GIVEN, json.dumps(given) + "\n")
    return report


def summary(report: Mapping[str, list[str]], _: Callable[[str], str]) -> str:
    """Return an update's outcome in one line, in the language that `_` translates into."""
    texts = {
        "made": _("{count} made"),
        "updated": _("{count} updated"),
        "kept": _("{count} as they were"),
        "beside": _("new version beside yours: {names}"),
    }
    return _(", ").join(
        text.format(count=len(report[outcome]), names=_(", ").join(report[outcome]))
        for outcome, text in texts.items()
        if report[outcome]
    )


def read_given(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the first time, or the file is damaged
        return {}
    return {page: told for page, told in found.items() if isinstance(told, list)}


def plan(target: Path, cells: str, known: Collection[str]) -> tuple[str, Path]:
    """Return what is to be done with a page, and the place of a new copy.

    cells: those of the new version. known: those of all versions before; a copy that has them is
    untouched, and goes if it was made when the chapter had another number.
    """

    def is_untouched(path: Path) -> bool:
        return cells_of(read(path)) in known

    if not target.exists():
        like = re.compile(rf"(?:\d+-)?{re.escape(re.sub(r'^[0-9]+-', '', target.name))}")
        others = [path for path in target.parent.glob("*.ipynb") if like.fullmatch(path.name)]
        edited = [path for path in others if not is_untouched(path)]
        for path in set(others) - set(edited):
            path.unlink()
        return ("beside" if edited else "updated" if others else "made"), target
    if is_untouched(target):
        return "updated", target
    places = [target, target.with_suffix(".new.ipynb")]
    while places[-1].exists():
        places.append(target.with_suffix(f".new-{len(places)}.ipynb"))
    if cells in map(cells_of, map(read, places)):
        return "kept", target
    return "beside", next(filter(is_untouched, places), places[-1])


def version_of(notebook: NotebookNode) -> str:
    """Return a hash of a notebook's cells and metadata, without outputs."""
    return digest([notebook.metadata, [[*content(cell), cell.metadata] for cell in notebook.cells]])


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


def write_whole(target: Path, text: str) -> None:
    """Write a file atomically: on failure the old content stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(target)
