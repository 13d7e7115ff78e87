"""What learners are told by their notebooks, and how classes judge the same answers.

A notebook's cells run in a process of their own, one after the other, as in a kernel.
"""

import contextlib
import io
import multiprocessing
import os
import pickle
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from repository import ROOT
from submissions import Submission, hand_in, submissions

from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.schema.parts import Part
from roofkit.check.answers import ask_all
from roofkit.check.compare import same

PASSED = ": right for"
# A row of results: part → what its check says; part → for each class, whether the answer is right.
Result = tuple[dict[str, str], dict[str, list[bool]]]


@cache
def released(name: str) -> NotebookNode:
    """Return the notebook that learners get."""
    return nbformat.read(_release() / name / f"{name}.ipynb", as_version=4)


@cache
def _release() -> Path:
    """Release the exercises, unless a build of the site has done so."""
    from commands import handouts  # what the site and `make lab` call

    return handouts.released(ROOT)


def parts(name: str) -> dict[str, Part]:
    return {part.key: part for part in exercises.load(name).parts}


def answered(submission: Submission) -> NotebookNode:
    """Return a released notebook with a learner's answers."""
    name = submission.exercise
    functions = {key: part.function for key, part in parts(name).items()}
    return hand_in(submission, released(name), exercises.source(name), functions)


def results(
    name: str, answers: Sequence[Submission | NotebookNode], classes: int = 0
) -> list[Result]:
    """Run the notebook of each answer, and ask its functions for the hidden cases of classes.

    Figures are not asked for: drawing takes long.
    """
    books = [answered(one) if isinstance(one, Submission) else one for one in answers]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_results, name, books, classes).result()


def _results(name: str, books: list[NotebookNode], classes: int) -> list[Result]:
    import matplotlib.pyplot as plt

    import rooflib  # noqa: F401 - so that each fork has them

    plt.switch_backend("agg")
    asked = {
        key: [hidden(name, part, f"class {number}") for number in range(classes)]
        for key, part in parts(name).items()
        if part.kind != "figure"
    }
    return [_in_a_fork(name, book, asked) for book in books]


def _in_a_fork(name: str, book: NotebookNode, asked: dict[str, list[Cases]]) -> Result:
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        with open(writable, "wb") as pipe:
            try:
                found: Any = _run(name, book, asked)
            except BaseException as error:
                found = f"{type(error).__name__}: {error}"
            pickle.dump(found, pipe)
        os._exit(0)
    os.close(writable)
    with open(readable, "rb") as pipe:
        found = pickle.load(pipe)
    os.waitpid(child, 0)
    if isinstance(found, str):
        raise RuntimeError(found)
    return found  # type: ignore[no-any-return]


def _run(name: str, book: NotebookNode, asked: dict[str, list[Cases]]) -> Result:
    names: dict[str, Any] = {"__name__": "__main__"}
    said = {}
    sys.stderr = io.StringIO()  # the learners' warnings
    for cell in book.cells:
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                try:
                    exec(compile(cell.source, "<cell>", "exec"), names)
                except Exception as error:  # as in a kernel, the next cell still runs
                    printed.write(str(error))
            if exercises.is_check(cell):
                said[str(cell.metadata.nbgrader.grade_id)] = " ".join(printed.getvalue().split())
    judged = {
        key: [_right(names.get(part.function), part, cases) for cases in asked.get(key, ())]
        for key, part in parts(name).items()
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
    known = {repr(sorted(case.items())): value for case, value in zip(*_rows(cases), strict=True)}
    source = (
        f"from math import inf\n\n\ndef {part.function}(**case):\n    known = {known!r}\n"
        "    return known.get(repr(sorted(case.items())), next(iter(known.values())))\n"
    )
    return Submission(name, f"{key} by heart", source, {key: None}, {key: "by heart"}, True)


def _rows(cases: Cases) -> tuple[Any, Any]:
    return cases.inputs, cases.expected


__all__ = ["PASSED", "answered", "by_heart", "parts", "released", "results", "submissions"]
