"""One submitted notebook in, the same one graded out: run in a sandbox, asked, judged."""

import copy
import time
from dataclasses import asdict, dataclass, replace

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from grading import sandbox
from grading.execution.notebook import ENDED, TOO_LATE, run
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
AGAIN = "/again"  # after the seed: draws other inputs for another run
NOTE = "run-twice"  # id of the cell that says so
RUN_TWICE = (
    "This notebook was run a second time, since something in it ended or took too long when its "
    "functions were called. Below is what the first run printed; the points are those of the last."
)


def grade(
    nb: NotebookNode,
    name: str,
    seed: str,
    limits: TimeLimits = TIME_LIMITS,
    unsafe: bool | None = None,
    late_again: bool = True,
    earlier: NotebookNode | None = None,
) -> NotebookNode:
    """A copy of `nb` that has been run and carries points and sentences in its check cells.

    What was found is also in its metadata, under "rooflib": the parts; why the notebook could not
    be run to the end ("" if it was); what the sandbox refused; whether something was late; and
    whether hidden inputs were asked. A notebook whose process ended is run once more while its time
    lasts: the machine may have been at fault. So is one that was late by the wall clock, if
    `late_again`.

    earlier: the notebook as an earlier run, which was told hidden inputs, has graded it. What such
    a run has learned it may have left for the cells of the next one to find, in the times that the
    machine's caches take. So the next one is told other inputs, and what it prints is not shown.
    """
    end = time.monotonic() + limits.notebook
    runs = 1 if earlier is not None else 0  # that were told hidden inputs

    def once(is_first: bool) -> _Run:
        drawn = seed + AGAIN * runs
        last = not is_first
        return _grade(copy.deepcopy(nb), name, drawn, limits, unsafe, end, last, late_again)

    run = once(is_first=True)
    if run.again:
        if run.told:
            earlier = earlier if earlier is not None else run.nb
            runs += 1
        run = once(is_first=False)
    if earlier is not None:
        _show(run.nb, earlier)
    return run.nb


@dataclass(frozen=True)
class _Run:
    """A run of a notebook, which may lack a verdict if it is to be repeated.

    told: whether it was asked for hidden inputs. again: whether it is to be repeated.
    """

    nb: NotebookNode
    told: bool
    again: bool


def _grade(
    nb: NotebookNode,
    name: str,
    seed: str,
    limits: TimeLimits,
    unsafe: bool | None,
    end: float,
    last: bool,
    late_again: bool,
) -> _Run:
    def is_repeated(ended: bool, waited: bool) -> bool:
        return not last and (ended or (waited and late_again)) and time.monotonic() < end

    functions = {part.key: part.function for part in exercises.load(name).parts}
    left = replace(LIMITS, wall_seconds=max(0.0, end - time.monotonic()))
    with (
        sandbox.open(left, unsafe) as box,
        Questions(box, end, spare=last) as questions,
    ):
        execution = run(nb, box, questions, limits)
        if execution.trouble == ENDED:
            box.settle()
        ended = execution.trouble == ENDED and not box.stopped
        if is_repeated(ended, "wall" in execution.late):
            # Not asked: so the next run can be told the same inputs, and show what it prints.
            return _Run(nb, told=False, again=True)
        questions.collect(set(functions))
        try:
            graded = judge_parts(name, questions, seed, limits, execution.trouble)
        except Ended:  # while it was asked, as few do
            nb.metadata["rooflib"] = {"trouble": execution.trouble}
            return _Run(nb, questions.told, again=True)
    graded = name_missing_modules(nb, functions, graded)
    trouble = STOPPED.get(box.stopped, execution.trouble)
    late = execution.late | questions.late
    waited = "wall" in late or box.stopped == "time"
    died = any(part.cause == "died" for part in graded.values())
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, graded[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": trouble,
        "parts": [asdict(part) for part in graded.values()],
        "refused": list(box.refused),
        "late": bool(late or waited),
        "told": questions.told,
    }
    return _Run(nb, questions.told, is_repeated(ended or died, waited))


def _show(nb: NotebookNode, earlier: NotebookNode) -> None:
    """Let the cells show what an earlier run has printed; if that is not all, say so on top."""
    shown = [cell for cell in earlier.cells if cell.get("id") != NOTE]
    for place, cell in enumerate(nb.cells):
        if cell.cell_type == "code" and not exercises.is_check(cell):
            before = shown[place] if len(shown) == len(nb.cells) else {}
            cell.outputs = before.get("outputs", [])
            cell.execution_count = before.get("execution_count")
    late = any(
        output.get("ename") == TOO_LATE for cell in shown for output in cell.get("outputs", [])
    )
    if late or earlier.metadata["rooflib"]["trouble"]:
        nb.cells.insert(0, new_markdown_cell(RUN_TWICE, id=NOTE))
    nb.metadata["rooflib"]["told"] = True
