"""What learners are told by their notebooks, and how classes judge the same answers.

A notebook's cells run in a process of their own, one after the other, as in a kernel.
"""

import contextlib
import io
import multiprocessing
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from classroom import Classroom
from nbformat import NotebookNode
from processes import in_fork
from repository import ROOT, alone
from submissions import Submission, hand_in

from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.schema import Part
from roofkit.check.answers import ask_all
from roofkit.check.compare import same

PASSED = ": right for"
# A row of results: part → what its check says; part → for each class, whether the answer is right.
Result = tuple[dict[str, str], dict[str, list[bool]]]


@cache
def released(name: str) -> NotebookNode:
    """Return the notebook that learners get."""
    return nbformat.read(release() / "release" / name / f"{name}.ipynb", as_version=4)


@cache
def release() -> Path:
    """Release the exercises, unless a build of the site has done so; return the course folder."""
    from commands import handouts  # what the site and `make lab` call

    with alone(ROOT / "_build" / "lock"):
        return handouts.released(ROOT).parent


def parts(name: str) -> dict[str, Part]:
    return {part.key: part for part in exercises.load(name).parts}


def solutions(name: str) -> dict[str, str]:
    """Return the reference solution of each part."""
    found = {}
    for cell in exercises.source(name).cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id.endswith("-solution"):
            found[grade_id.removesuffix("-solution")] = str(cell.source)
    return found


def answered(submission: Submission) -> NotebookNode:
    """Return a released notebook with a learner's answers."""
    return hand_in(submission, released(submission.exercise))


def about(one: Submission) -> set[str]:
    """Return the parts that an answer is about: those that are wrong, or else those it writes."""
    known = parts(one.exercise).items()
    if not one.open:
        return {*parts(one.exercise)}
    return {*one.told} or {key for key, part in known if part.function in one.functions}


def book(one: Submission) -> NotebookNode:
    """Return the notebook of an answer, with the checks of the parts that it is about."""
    notebook = answered(one)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if not exercises.is_check(cell) or cell.metadata.nbgrader.grade_id in about(one)
    ]
    return notebook


def results(
    name: str, answers: Sequence[Submission | NotebookNode], classes: int = 0
) -> list[Result]:
    """Run the notebook of each answer, and ask its functions for the hidden cases of classes.

    Only those are asked that pass the check. Figures are not: drawing takes long.
    """
    books = [answered(one) if isinstance(one, Submission) else one for one in answers]
    return _process().submit(_results, name, books, classes).result()


@cache
def _process() -> ProcessPoolExecutor:
    """Return a process that has imported what notebooks need, but no tests; it forks for each."""
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def _results(name: str, books: list[NotebookNode], classes: int) -> list[Result]:
    import matplotlib.pyplot as plt

    import rooflib  # noqa: F401 - so that each fork has them

    plt.switch_backend("agg")
    asked = {
        key: [hidden(name, part, f"class {number}") for number in range(classes)]
        for key, part in parts(name).items()
        if part.kind != "figure"
    }
    return [in_fork(lambda book=book: _run(name, book, asked)) for book in books]


def _run(name: str, book: NotebookNode, asked: dict[str, list[Cases]]) -> Result:
    names: dict[str, Any] = {"__name__": "__main__"}
    said = {}
    sys.stderr = io.StringIO()  # the learners' warnings
    for number, cell in enumerate(book.cells):
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                try:
                    exec(compile(cell.source, f"<ipython-input-{number}-0>", "exec"), names)
                except Exception as error:  # as in a kernel, the next cell still runs
                    printed.write(str(error))
            if exercises.is_check(cell):
                said[str(cell.metadata.nbgrader.grade_id)] = " ".join(printed.getvalue().split())
    judged = {
        key: [_right(names[part.function], part, cases) for cases in asked.get(key, ())]
        for key, part in parts(name).items()
        if PASSED in said.get(key, "")
    }
    return said, judged


def _right(function: Any, part: Part, cases: Cases) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):
        *found, again = ask_all(function, cases.inputs, part.kind)
    return not again.problem and all(
        not one.problem and same(one.value, value, part.tolerance)
        for one, value in zip(found, cases.expected, strict=True)
    )


def by_heart(name: str, key: str) -> Submission:
    """Return an answer that knows the published cases, and gives the first answer elsewhere."""
    part = parts(name)[key]
    cases = published(name, part)
    pairs = zip(cases.inputs, cases.expected, strict=True)
    known = {repr(sorted(case.items())): value for case, value in pairs}
    source = (
        f"from math import inf\n\n\ndef {part.function}(**case):\n    known = {known!r}\n"
        "    return known.get(repr(sorted(case.items())), next(iter(known.values())))\n"
    )
    return Submission(name, f"{key} by heart", source, {})


def graded(
    release: Path, course: Path, name: str, handed_in: Mapping[str, Path]
) -> dict[str, dict[str, tuple[float, str]]]:
    """Grade a class as `make grade` does.

    release: a released course, which is copied. handed_in: each student's notebook.
    Return student → part → its points, and the cause that the report names.
    """
    room = Classroom(course, release)
    for student, notebook in handed_in.items():
        shutil.copy(notebook, room.folder_of(student, name) / f"{name}.ipynb")
    room.grade()
    found: dict[str, dict[str, tuple[float, str]]] = {}
    for row in room.table("parts.csv"):
        if row["assignment"] == name:  # others were released, and not handed in
            of_student = found.setdefault(row["student"], {})
            of_student[row["part"]] = (float(row["points"]), row["cause"])
    return found


def graded_points(
    release: Path, course: Path, name: str, handed_in: Mapping[str, Path]
) -> dict[str, dict[str, float]]:
    """Grade a class; return student → part → points."""
    found = graded(release, course, name, handed_in)
    return {
        student: {key: points for key, (points, _) in of_student.items()}
        for student, of_student in found.items()
    }
