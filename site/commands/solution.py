"""Show the solution of a finished exercise: ``python site solution int8-matmul``.

The reader's copy in my-work/ runs in a fresh kernel, with the checks as they were released. If all
of them pass, the solution is printed; it is never written to a file.
"""

import argparse
import os
import sys
from pathlib import Path

import nbformat
from book_extension import exercise_pages
from book_extension.contents import names
from book_extension.languages import ORIGINAL, Language, words
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from commands import handouts
from commands.build import prepare_kernels
from commands.lab import language_of, variables

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "my-work"
CELL_SECONDS = 60  # limit per cell, as for pages of the book; checks limit their calls separately


class Refused(Exception):
    """Raised with one line that says why no solution is shown."""


def solution(
    exercise: str, book: Path, work: Path, release: Path, language: Language = ORIGINAL
) -> str:
    """Return the reference solution of an exercise, after a note on its use, in a language.

    Raises Refused if there is no such exercise or copy, if a check fails, or if the course has no
    solutions.
    """
    _ = words(book, language)
    copies = {Path(name).name: place for name, place in names(book / "_toc.yml").items()}
    files = {file.stem: file for file in exercise_pages.files(book)}
    if exercise not in copies or exercise not in files:
        known = ", ".join(files)
        said = _("EXERCISE must be one of {known}; got {name}")
        raise Refused(said.format(known=known, name=repr(exercise)))
    copy = work / copies[exercise]
    shown = f"{work.name}/{copies[exercise]}"
    if not copy.exists():
        said = _("{exercise}: there is no {file} yet; `make lab` makes it")
        raise Refused(said.format(exercise=exercise, file=shown))
    released = nbformat.read(release / exercise / f"{exercise}.ipynb", as_version=4)
    left = not_passed(copy, released)
    parts = len(checks(released))
    if left:
        said = _(
            "{exercise}: {left} of {parts} checks do not pass in {file}, "
            "as it was saved last: {names}"
        )
        told = {"exercise": exercise, "left": len(left), "parts": parts, "file": shown}
        raise Refused(said.format(**told, names=", ".join(left)))
    worked = handouts.worked(files[exercise], words(book, language, notebooks=True))
    if "```python" not in worked:
        raise Refused(
            _("{exercise}: this copy of the course holds no solutions").format(exercise=exercise)
        )
    said = _("{exercise}: all {parts} checks pass. Here is the reference solution.")
    rules = _(
        "It is one way of several. If you work with an instructor, their rules come first: they "
        "may not want you to see it before the date for handing in, or to pass it on at all."
    )
    return f"{said.format(exercise=exercise, parts=parts)}\n{rules}\n\n{worked}"


def checks(released: NotebookNode) -> list[str]:
    """Return the names of a released notebook's parts that have a check."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in released.cells]
    return [mark["grade_id"] for mark in marks if mark.get("grade") and mark.get("locked")]


def not_passed(copy: Path, released: NotebookNode) -> list[str]:
    """Run a reader's copy of a notebook and return the parts whose check fails."""
    try:
        notebook = nbformat.read(copy, as_version=4)
        notebook.cells = with_released_checks(notebook, released)
    except Exception as error:  # the reader's file may raise anything
        raise Refused(f"{copy.name} can't be read as a notebook: {type(error).__name__}") from None
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(copy.parent)}},
    )
    try:
        client.execute()
    except CellTimeoutError:
        raise Refused(f"{copy.name}: a cell ran for more than {CELL_SECONDS} s") from None
    except DeadKernelError:
        raise Refused(f"{copy.name}: the kernel died while the notebook ran") from None
    right = {name_of(cell) for cell in notebook.cells if passed(cell)}
    return [part for part in checks(released) if part not in right]


def with_released_checks(notebook: NotebookNode, released: NotebookNode) -> list[NotebookNode]:
    """Return the reader's cells with locked cells as released, missing ones restored."""
    locked = {
        name_of(cell): cell
        for cell in released.cells
        if cell.metadata.get("nbgrader", {}).get("locked")
    }
    kept = [locked.get(name_of(cell), cell) for cell in notebook.cells]
    there = {name_of(cell) for cell in notebook.cells}
    lost = [cell for name, cell in locked.items() if name not in there]
    first = [cell for cell in lost if not cell.metadata["nbgrader"]["grade"]]
    last = [cell for cell in lost if cell.metadata["nbgrader"]["grade"]]
    return [*first, *kept, *last]


def name_of(cell: NotebookNode) -> str:
    """Return a cell's nbgrader name; "" for a cell that the reader added."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def passed(cell: NotebookNode) -> bool:
    """Return whether the report of a check says that the part is right."""
    shown = [output.get("metadata", {}).get("roofkit", {}) for output in cell.get("outputs", [])]
    return any(report.get("state") == "right" for report in shown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exercise", nargs="?", default="", help="int8-matmul, for one")
    exercise = parser.parse_args().exercise
    os.environ.update(variables(WORK / ".jupyter", os.environ, Path.home()))
    prepare_kernels(ROOT, ROOT / "_build" / "ipython")
    try:
        language = language_of(WORK / ".jupyter", None, os.environ)
        print(solution(exercise, ROOT, WORK, handouts.released(ROOT), language))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
