"""One submitted notebook in, the same one graded out: run in a sandbox, asked, judged."""

import copy
from dataclasses import asdict

from nbformat import NotebookNode

from grading import sandbox
from grading.execution.notebook import ENDED, run
from grading.execution.questions import Questions
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.judging.verdicts import judge_parts, write
from grading.release import exercises

STOPPED = {
    "memory": "The notebook took more memory than there is for one, and was stopped.",
    "time": "The notebook took more time than there is for one, and was stopped.",
}


def grade(
    nb: NotebookNode,
    name: str,
    seed: str,
    limits: TimeLimits = TIME_LIMITS,
    unsafe: bool | None = None,
) -> NotebookNode:
    """A copy of `nb` that has been run and carries points and sentences in its check cells.

    What was found is also in its metadata, under "rooflib": the parts; why the notebook could not
    be run to the end ("" if it was); and what the sandbox refused. A notebook whose process ended,
    or that only the wall clock found too late, is run once more: the machine may have been at
    fault.
    """
    graded, doubtful = _grade(copy.deepcopy(nb), name, seed, limits, unsafe)
    if doubtful:
        graded, _ = _grade(copy.deepcopy(nb), name, seed, limits, unsafe)
    return graded


def _grade(
    nb: NotebookNode, name: str, seed: str, limits: TimeLimits, unsafe: bool | None
) -> tuple[NotebookNode, bool]:
    """The graded notebook, and whether a second run may come out better."""
    keys = {part.key for part in exercises.load(name).parts}
    with sandbox.open(unsafe=unsafe) as box, Questions(box) as questions:
        execution = run(nb, box, questions, limits)
        questions.collect(keys)
        graded = judge_parts(name, questions, seed, limits, execution.trouble)
    trouble = STOPPED.get(box.stopped, execution.trouble)
    doubtful = (
        trouble == ENDED
        or execution.late_by_wall
        or box.stopped == "time"
        or any(part.cause == "died" for part in graded.values())
    )
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, graded[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": trouble,
        "parts": [asdict(part) for part in graded.values()],
        "refused": list(box.refused),
    }
    return nb, doubtful
