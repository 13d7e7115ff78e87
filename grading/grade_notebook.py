"""Grading of one notebook: run it in a sandbox, call and judge its functions."""

import copy
import time
from collections.abc import Set
from dataclasses import asdict, dataclass, replace

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from grading import sandbox
from grading.execution.notebook import ENDED, TOO_LATE, run
from grading.execution.questions import Ended, Questions
from grading.execution.time_limits import TIME_LIMITS, Clock, TimeLimits
from grading.judging.missing_imports import name_missing_modules
from grading.judging.syntax_errors import name_syntax_errors
from grading.judging.verdicts import judge_parts, write
from grading.release import exercises
from grading.sandbox.box import LIMITS
from roofkit.notebook_language import language_of
from roofkit.words import N_, _, spoken

STOP_REASONS = {
    "memory": "The notebook took more memory than there is for one, and was stopped.",
    "time": "The notebook took more time than there is for one, and was stopped.",
}
SECOND_RUN_SEED = "/again"  # appended to the seed, so that a second run draws other inputs
NOTE_ID = "run-twice"  # id of the cell with the text RUN_TWICE
RUN_TWICE = N_(
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
    """Run a copy of `nb`; return it with points and sentences in its check cells.

    The metadata "rooflib" holds the same as data: the parts; why the notebook did not run to the
    end ("" if it did); what the sandbox refused; whether a time limit was exceeded; and whether the
    notebook received hidden inputs. A notebook whose process died is run a second time if there is
    time left, since the machine may have been at fault; with `late_again`, so is one that exceeded
    a wall-clock limit.

    earlier: the notebook as graded by an earlier run that received hidden inputs. That run may have
    leaked them to the next one through a covert channel, even the machine's caches. So the next run
    receives other inputs, and its output is not shown.
    """
    with spoken(language_of(nb)):
        return _grade_in_language(nb, name, seed, limits, unsafe, late_again, earlier)


def _grade_in_language(
    nb: NotebookNode,
    name: str,
    seed: str,
    limits: TimeLimits,
    unsafe: bool | None,
    late_again: bool,
    earlier: NotebookNode | None,
) -> NotebookNode:
    end = time.monotonic() + limits.notebook
    runs = 1 if earlier is not None else 0  # number of runs that received hidden inputs

    def once(is_first: bool) -> _Run:
        run_seed = seed + SECOND_RUN_SEED * runs
        last = not is_first
        return _grade(copy.deepcopy(nb), name, run_seed, limits, unsafe, end, last, late_again)

    run = once(is_first=True)
    if run.again:
        if run.told:
            earlier = earlier if earlier is not None else run.nb
            runs += 1
        run = once(is_first=False)
    if earlier is not None:
        _restore_outputs(run.nb, earlier)
    return run.nb


@dataclass(frozen=True)
class _Run:
    """One run of a notebook; its verdicts don't count if it must be repeated.

    told: whether it received hidden inputs. again: whether it must be repeated.
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
    def is_repeated(ended: bool, late: Set[Clock]) -> bool:
        return not last and (ended or (late_again and "wall" in late)) and time.monotonic() < end

    functions = {part.key: part.function for part in exercises.load(name).parts}
    left = replace(LIMITS, wall_seconds=end - time.monotonic())
    with (
        sandbox.open(left, unsafe) as box,
        Questions(box, end, spare=last) as questions,
    ):
        execution = run(nb, box, questions, limits)
        ended = execution.trouble == ENDED and not box.stopped
        if is_repeated(ended, execution.late):
            # This run received no hidden inputs, so the next run may use the same seed and show its
            # own output.
            return _Run(nb, told=False, again=True)
        questions.collect(set(functions))
        try:
            said = _(execution.trouble).format(cell=execution.cell)
            graded = judge_parts(name, questions, seed, limits, said)
        except Ended:  # the notebook's process ended during a call
            nb.metadata["rooflib"] = {"trouble": execution.trouble}
            return _Run(nb, questions.told, again=True)
    graded = name_syntax_errors(nb, functions, name_missing_modules(nb, functions, graded))
    trouble = STOP_REASONS.get(box.stopped, execution.trouble.format(cell=execution.cell))
    late = execution.late | questions.late
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, graded[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": trouble,
        "parts": [asdict(part) for part in graded.values()],
        "refused": list(box.refused),
        "late": bool(late) or box.stopped == "time",
        "told": questions.told,
    }
    # Repeat only late runs here: if the process ended and time was left, the run returned above.
    return _Run(nb, questions.told, is_repeated(ended=False, late=late))


def _restore_outputs(nb: NotebookNode, earlier: NotebookNode) -> None:
    """Replace the cells' outputs by those of an earlier run.

    If that run was cut short, a note is added.
    """
    cells = [cell for cell in earlier.cells if cell.get("id") != NOTE_ID]
    for place, cell in enumerate(nb.cells):
        if cell.cell_type == "code" and not exercises.is_check(cell):
            before = cells[place] if len(cells) == len(nb.cells) else {}
            cell.outputs = before.get("outputs", [])
            cell.execution_count = before.get("execution_count")
    late = any(
        output.get("ename") == TOO_LATE for cell in cells for output in cell.get("outputs", [])
    )
    if late or earlier.metadata["rooflib"]["trouble"]:
        nb.cells.insert(0, new_markdown_cell(_(RUN_TWICE), id=NOTE_ID))
    nb.metadata["rooflib"]["told"] = True
