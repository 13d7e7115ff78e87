"""A reader's copies of the course's notebooks: made once, then kept up to date.

A file beside them has what was given. A copy with unedited cells, run or not, counts as untouched
and is updated. An edited copy is never changed; a new version is saved next to it.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

GIVEN = ".course-copies.json"  # docname → hashes of the cells of all versions


def bring_up_to_date(
    supplied: Mapping[str, NotebookNode], names: Mapping[str, str], work: Path
) -> dict[str, list[str]]:
    """Create or update each page's copy, which lies below `work`.

    Return outcome → the paths of copies, relative to `work`: "made", "updated", "kept", and
    "beside", which are new versions of edited copies.
    """
    report: dict[str, list[str]] = {"made": [], "updated": [], "kept": [], "beside": []}
    notary = NotebookNotary()  # JupyterLab shows pictures of notebooks that are signed
    given: dict[str, list[str]] = {}
    with suppress(OSError, ValueError):  # the first time, or the file is damaged
        told = json.loads((work / GIVEN).read_text(encoding="utf-8"))
        # Before version 1, the hashes stood behind another.
        given = {page: of[-1] if isinstance(of[-1], list) else of for page, of in told.items()}
    for page, notebook in supplied.items():
        cells, known, target = cells_of(notebook), given.get(page, []), work / names[page]
        place = next(
            path for path in places(target) if not path.exists() or cells_of(read(path)) in known
        )
        if cells_of(read(place)) == cells or (place != target and cells in known):
            outcome = "kept"
        else:
            there = "updated" if place.exists() else "made"
            outcome = there if place == target else "beside"
            notary.sign(notebook)
            write_whole(place, f"{nbformat.writes(notebook)}\n")
        report[outcome].append(place.relative_to(work).as_posix())
        given[page] = sorted({*known, cells})
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


def places(target: Path) -> Iterator[Path]:
    """Yield the places of a copy: its own, and those of new versions beside an edited one."""
    yield target
    yield target.with_suffix(".new.ipynb")
    for number in count(2):
        yield target.with_suffix(f".new-{number}.ipynb")


def cells_of(notebook: NotebookNode | None) -> str:
    """Return a hash of what a reader edits: each cell's type, text and attachments."""
    if notebook is None:
        return ""
    content = [
        [cell.cell_type, cell.source, cell.get("attachments") or {}] for cell in notebook.cells
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read(path: Path) -> NotebookNode | None:
    """Read a notebook; return None if the file is missing or not a valid one."""
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
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
