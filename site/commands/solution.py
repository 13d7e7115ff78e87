"""Show the solution of a finished exercise: ``python site solution int8-matmul``.

If all checks of the reader's copy in my-work/ passed, as it was saved last, the solution is
printed; it is never written to a file.
"""

import argparse
import os
import sys
from pathlib import Path

import nbformat
from book_extension import exercise_pages
from book_extension.contents import names
from book_extension.languages import ORIGINAL, Language, catalogs, words
from nbformat import NotebookNode

from commands import handouts
from commands.lab import ROOT, WORK, language_of


class Refused(Exception):
    """Raised with one line that says why no solution is shown."""


def solution(
    exercise: str, book: Path, work: Path, release: Path, language: Language = ORIGINAL
) -> str:
    """Return the reference solution of an exercise, after a note on its use, in a language.

    Raises Refused if there is no such exercise or copy, if a check has not passed, or if the course
    has no solutions.
    """
    _ = words(language)
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
    parts = checks(nbformat.read(release / exercise / f"{exercise}.ipynb", as_version=4))
    try:
        right = passed(nbformat.read(copy, as_version=4))
    except Exception as error:  # the reader's file may raise anything
        raise Refused(f"{shown} can't be read as a notebook: {type(error).__name__}") from None
    if left := [part for part in parts if part not in right]:
        said = _(
            "{exercise}: {left} of {parts} checks do not pass in {file}, "
            "as it was saved last: {names}"
        )
        told = {"exercise": exercise, "left": len(left), "parts": len(parts), "file": shown}
        raise Refused(said.format(**told, names=", ".join(left)))
    page = catalogs.folder(book, language.code) / f"exercises/{exercise}.po"
    found = catalogs.messages(catalogs.read(page)) if page.exists() else ()
    translated = {str(one.id): str(one.string) for one in found if catalogs.is_current(one)}

    def in_page(text: str) -> str:
        return translated.get(text) or _(text)

    worked = exercise_pages.worked(exercise_pages.read(files[exercise]), in_page)
    if "```python" not in worked:
        raise Refused(
            _("{exercise}: this copy of the course holds no solutions").format(exercise=exercise)
        )
    said = _("{exercise}: all {parts} checks pass. Here is the reference solution.")
    rules = _(
        "It is one way of several. If you work with an instructor, their rules come first: they "
        "may not want you to see it before the date for handing in, or to pass it on at all."
    )
    return f"{said.format(exercise=exercise, parts=len(parts))}\n{rules}\n\n{worked}"


def checks(released: NotebookNode) -> list[str]:
    """Return the names of a released notebook's parts that have a check."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in released.cells]
    return [mark["grade_id"] for mark in marks if mark.get("grade") and mark.get("locked")]


def passed(copy: NotebookNode) -> set[str]:
    """Return the parts of a reader's notebook whose check has reported that they are right."""
    return {
        str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        for cell in copy.cells
        for output in cell.get("outputs", [])
        if output.get("metadata", {}).get("roofkit", {}).get("state") == "right"
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exercise", nargs="?", default="", help="int8-matmul, for one")
    exercise = parser.parse_args().exercise
    try:
        language = language_of(WORK / ".jupyter", None, os.environ)
        print(solution(exercise, ROOT, WORK, handouts.released(ROOT), language))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
