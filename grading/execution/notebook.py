"""Execution of a submitted notebook in its sandbox, cell by cell, within limits."""

import marshal
import signal
import sys
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.execution.outputs import Outputs
from grading.execution.questions import Questions
from grading.execution.time_limits import Clock, Stopwatch, TimeLimits
from grading.release import exercises
from grading.sandbox.box import Box, UnsafeBox
from grading.sandbox.cell_channel import Content, Ended, Endless
from roofkit.words import N_, _

PROBE = b64encode(
    marshal.dumps(compile((Path(__file__).parent / "probe.py").read_bytes(), "probe", "exec"))
).decode()
READY_SECONDS = 300  # limit for the first reply, generous for busy machines
POLL_SECONDS = 0.2  # between two checks of the time limits
ANSWER_CPU_SECONDS = 2  # limit for a reply that takes an idle process milliseconds
MAX_LATE_CELLS = 3  # stop after this many cells exceeded a time limit; MANY_LATE names the number
# Why a notebook did not run to its end; translated where the learner reads it.
ENDED = N_(
    "The cell that begins with “{cell}” ended the whole Python process; the cells after it were "
    "not run."
)
OUT_OF_MEMORY = N_(
    "The cell that begins with “{cell}” took more memory than there is for one notebook; the cells "
    "after it were not run."
)
ENDLESS = N_("A cell sent more than is taken in; the cells after it were not run.")
NOT_STOPPED = N_("A cell could not be stopped; the cells after it were not run.")
USED_UP = N_(
    "A cell used up the processes or files that a notebook may have; the cells after it were not "
    "run."
)
MANY_LATE = N_("3 cells ran for too long; the cells after them were not run.")
MAX_NAME_CHARACTERS = 40  # of a cell's first line, in such a sentence
TOO_LATE = "TooLate"  # name of the error shown by a cell that exceeded a time limit
SKIP = "skip-execution"  # tag of cells that are not run
# Notebook metadata that a kernel would report about itself.
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
LANGUAGE = {
    "name": "python",
    "version": sys.version.split()[0],
    "mimetype": "text/x-python",
    "codemirror_mode": {"name": "ipython", "version": sys.version_info[0]},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
    "file_extension": ".py",
}


@dataclass(frozen=True)
class Execution:
    """The result of running a notebook.

    trouble: why the run stopped early, "" if it completed. cell: the first line of the last cell
    that was run, as its name in `trouble`. late: the clocks whose time limit was exceeded.
    """

    trouble: str
    cell: str
    late: frozenset[Clock]


def run(
    nb: NotebookNode, box: Box | UnsafeBox, questions: Questions, limits: TimeLimits
) -> Execution:
    """Run all cells except the checks; at each check, fork a copy of the process.

    The copies answer `questions`. The notebook runs in an empty folder, so that modules submitted
    next to it can't shadow the real ones.
    """
    runner = _Runner(box, questions, limits)
    trouble = ""
    try:
        runner.run(nb)
    except _Stuck as stuck:
        trouble = str(stuck)
    except Ended:
        trouble = ENDED
    except Endless:
        trouble = ENDLESS
    return Execution(trouble, runner.cell, frozenset(runner.late))


class _Stuck(Exception):
    """The notebook can't be run to its end; the message says why."""


class _Late(Exception):
    """A request to the notebook's process exceeded its CPU or wall-clock limit."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class _Runner:
    """Runner of one notebook, whose process forks a copy of itself at each check."""

    def __init__(self, box: Box | UnsafeBox, questions: Questions, limits: TimeLimits) -> None:
        self.box, self.questions, self.limits = box, questions, limits
        self.channel = box.channel()
        self.outputs = Outputs()
        self.process: int | None = None
        self.late: set[Clock] = set()
        self.late_cells = 0
        self.cell = ""  # the first line of the last cell that was run

    def run(self, nb: NotebookNode) -> None:
        """Run all cells; raise _Stuck, or the channel's error, if that is impossible."""
        nb.metadata["kernelspec"] = dict(KERNEL)
        self._answer("begin", [PROBE, self.questions.address], READY_SECONDS, READY_SECONDS)
        self.process = self.questions.kernel()
        nb.metadata["language_info"] = dict(LANGUAGE)
        count = 0
        cells = [cell for cell in nb.cells if exercises.is_check(cell) or _is_run(cell)]
        for cell in cells:
            if exercises.is_check(cell):
                # The process itself may answer the last check, without a forked copy: no later cell
                # needs it.
                stays = cell is cells[-1] and not self.questions.spare
                self._keep_copy(cell.metadata.nbgrader.grade_id, "stay" if stays else "keep")
            else:
                count += 1
                self._run(cell, count)

    def _keep_copy(self, part: str, how: str) -> None:
        try:
            kept = self._answer(how, part, ANSWER_CPU_SECONDS, self.limits.cell_wall)
        except _Late as late:
            raise self._stuck(late) from None
        if not kept.get("kept", True):
            raise _Stuck(USED_UP)

    def _run(self, cell: NotebookNode, count: int) -> None:
        cell.outputs, cell.execution_count = [], count
        self.outputs.begin(cell.outputs)
        self.cell = _first_line(cell.source)
        killed = self.box.killed_for_memory()
        try:
            self._answer("run", cell.source, self.limits.cell, self.limits.cell_wall)
        except _Late as late:
            self._interrupt(cell, late.clock)
        except Ended:
            cell.execution_count = None  # not numbered: the cell did not run to its end
            self.box.settle()
            trouble, said = ENDED, _("This cell ended the whole Python process.")
            if self.box.killed_for_memory() > killed:
                trouble = OUT_OF_MEMORY
                said = _("This cell took more memory than there is for one notebook.")
            cell.outputs.append(new_output("error", ename="Ended", traceback=[said]))
            raise _Stuck(trouble) from None

    def _interrupt(self, cell: NotebookNode, clock: Clock) -> None:
        """Interrupt a cell; raise _Stuck if it continues, or after too many late cells."""
        self.late.add(clock)
        self.late_cells += 1
        self.box.signal(signal.SIGINT)
        stuck = None
        try:
            self._wait(ANSWER_CPU_SECONDS, self.limits.cell_wall)
        except _Late as late:
            stuck = self._stuck(late)
        seconds = self.limits.cell if clock == "cpu" else self.limits.cell_wall
        said = _("This cell ran for more than {seconds} s and was stopped.")
        said = said.format(seconds=f"{seconds:g}")
        cell.outputs.append(new_output("error", ename=TOO_LATE, traceback=[said]))
        if self.late_cells == MAX_LATE_CELLS:
            raise _Stuck(MANY_LATE)
        if stuck:
            raise stuck

    def _stuck(self, late: _Late) -> _Stuck:
        self.late.add(late.clock)
        return _Stuck(NOT_STOPPED)

    def _answer(self, what: str, word: Any, cpu: float, wall: float) -> Content:
        """Return the final reply to a request; raise _Late if it takes too many seconds."""
        self.channel.request(what, word)
        return self._wait(cpu, wall)

    def _wait(self, cpu: float, wall: float) -> Content:
        stopwatch = Stopwatch(self.process)
        checked = monotonic()
        while True:
            message = self.channel.receive(POLL_SECONDS)
            if message is not None:
                kind, content = message
                if kind == "done":
                    return content
                self.outputs.take(kind, content)
            if monotonic() - checked > POLL_SECONDS:
                checked = monotonic()
                if late := stopwatch.late(cpu, wall):
                    raise _Late(late)


def _first_line(source: str) -> str:
    """Return a cell's first line with text, shortened, without control characters."""
    line = source.strip().split("\n")[0]
    line = "".join(letter for letter in line if letter.isprintable())
    return line if len(line) <= MAX_NAME_CHARACTERS else line[: MAX_NAME_CHARACTERS - 2] + " …"


def _is_run(cell: NotebookNode) -> bool:
    if cell.cell_type != "code" or not cell.source.strip():
        return False
    return SKIP not in cell.metadata.get("tags", [])
