"""One submitted notebook in, the same one graded out: run in a sandbox, asked, judged."""

import copy
import time
from dataclasses import asdict, replace

from nbformat import NotebookNode

from grading import sandbox
from grading.execution.notebook import ENDED, run
from grading.execution.questions import Ended, Questions
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.judging.lacking import name_missing_modules
from grading.judging.verdicts import judge_parts, write
from grading.release import exercises
from grading.sandbox.box import LIMITS

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
    late_again: bool = True,
) -> NotebookNode:
    """A copy of `nb` that has been run and carries points and sentences in its check cells.

    What was found is also in its metadata, under "rooflib": the parts; why the notebook could not
    be run to the end ("" if it was); what the sandbox refused; and whether something was late. A
    notebook whose process ended is run once more while its time lasts: the machine may have been at
    fault. So is one that was late by the wall clock, if `late_again`.
    """
    end = time.monotonic() + limits.notebook

    def once(spare: bool) -> tuple[NotebookNode, bool, bool]:
        return _grade(copy.deepcopy(nb), name, seed, limits, unsafe, end, spare)

    try:
        graded, waited, ended = once(spare=False)
    except Ended:  # while it was asked, as few do
        graded, waited, _ = once(spare=True)
        ended = False  # this was the second run
    if (ended or (waited and late_again)) and time.monotonic() < end:
        graded, _, _ = once(spare=True)
    return graded


def _grade(
    nb: NotebookNode,
    name: str,
    seed: str,
    limits: TimeLimits,
    unsafe: bool | None,
    end: float,
    spare: bool,
) -> tuple[NotebookNode, bool, bool]:
    """(the graded notebook, whether it was late by the wall clock, whether its process ended)"""
    functions = {part.key: part.function for part in exercises.load(name).parts}
    left = replace(LIMITS, wall_seconds=max(0.0, end - time.monotonic()))
    with sandbox.open(left, unsafe) as box, Questions(box, end, spare) as questions:
        execution = run(nb, box, questions, limits)
        questions.collect(set(functions))
        graded = judge_parts(name, questions, seed, limits, execution.trouble)
    graded = name_missing_modules(nb, functions, graded)
    trouble = STOPPED.get(box.stopped, execution.trouble)
    late = execution.late | questions.late
    waited = "wall" in late or box.stopped == "time"
    ended = trouble == ENDED or any(part.cause == "died" for part in graded.values())
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, graded[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": trouble,
        "parts": [asdict(part) for part in graded.values()],
        "refused": list(box.refused),
        "late": bool(late or waited),
    }
    return nb, waited, ended
