"""Runs a submitted notebook in its sandbox, cell by cell, within limits."""

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

PROBE = b64encode(
    marshal.dumps(compile((Path(__file__).parent / "probe.py").read_bytes(), "probe", "exec"))
).decode()
READY_SECONDS = 300  # a busy machine may take long; a process that has ended is noticed at once
LOOK_SECONDS = 0.2  # between two looks at the clocks
ANSWER_CPU_SECONDS = 2  # for an answer that takes a free process milliseconds
LATE_CELLS = 3  # after so many cells that had to be stopped, the rest is not run
ENDED = "A cell ended the whole Python process; the cells after it were not run."
TOO_LATE = "TooLate"  # the name of the error that such a cell shows
SKIP = "skip-execution"  # a cell with this tag is not run
# What a kernel says about itself.
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
    """What came of running a notebook.

    trouble: why it did not come to the end, "" if it did. late: the clocks by which something was
    too late and was stopped.
    """

    trouble: str
    late: frozenset[Clock]


def run(
    nb: NotebookNode, box: Box | UnsafeBox, questions: Questions, limits: TimeLimits
) -> Execution:
    """Run all cells but the checks, of which each leaves a copy of the process for `questions`.

    The notebook is alone in an empty folder: modules of the learner's beside it are not there to
    be taken for the real ones.
    """
    runner = _Runner(box, questions, limits)
    trouble = ""
    try:
        runner.run(nb)
    except _Stuck as stuck:
        trouble = f"{stuck}; the cells after {stuck.them} were not run."
    except Ended:
        trouble = ENDED
    except Endless:
        trouble = "A cell sent more than is taken in; the cells after it were not run."
    return Execution(trouble, frozenset(runner.late))


class _Stuck(Exception):
    """The notebook takes too long to be run to its end."""

    def __init__(self, why: str, them: str = "it") -> None:
        super().__init__(why)
        self.them = them


class _Late(Exception):
    """An order takes longer than it may, by this clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.clock = clock


class _Runner:
    """Runs a notebook; at a check cell it has the process keep a copy of itself."""

    def __init__(self, box: Box | UnsafeBox, questions: Questions, limits: TimeLimits) -> None:
        self.box, self.questions, self.limits = box, questions, limits
        self.channel = box.channel()
        self.outputs = Outputs()
        self.process: int | None = None
        self.late: set[Clock] = set()
        self.late_cells = 0

    def run(self, nb: NotebookNode) -> None:
        """Run it to its end; _Stuck, or what the channel raises, if it does not come so far."""
        nb.metadata["kernelspec"] = dict(KERNEL)
        self._answer("begin", [PROBE, self.questions.address], READY_SECONDS, READY_SECONDS)
        self.process = self.questions.kernel()
        nb.metadata["language_info"] = dict(LANGUAGE)
        count = 0
        cells = [cell for cell in nb.cells if exercises.is_check(cell) or _is_run(cell)]
        for cell in cells:
            if exercises.is_check(cell):
                # After the last one nothing needs the process itself any more.
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
            raise _Stuck("A cell used up the processes or files that a notebook may have")

    def _run(self, cell: NotebookNode, count: int) -> None:
        cell.outputs, cell.execution_count = [], count
        self.outputs.begin(cell.outputs)
        try:
            self._answer("run", cell.source, self.limits.cell, self.limits.cell_wall)
        except _Late as late:
            self._interrupt(cell, late.clock)
        except Ended:
            cell.execution_count = None  # what it had shown before is chance
            raise

    def _interrupt(self, cell: NotebookNode, clock: Clock) -> None:
        """Stop a cell that takes too long; _Stuck if that is not possible, or was often needed."""
        self.late.add(clock)
        self.late_cells += 1
        self.box.signal(signal.SIGINT)
        stuck = None
        try:
            self._wait(ANSWER_CPU_SECONDS, self.limits.cell_wall)
        except _Late as late:
            stuck = self._stuck(late)
        seconds = self.limits.cell if clock == "cpu" else self.limits.cell_wall
        said = f"This cell ran for more than {seconds:g} s and was stopped."
        cell.outputs.append(new_output("error", ename=TOO_LATE, evalue="", traceback=[said]))
        if self.late_cells == LATE_CELLS:
            raise _Stuck(f"{LATE_CELLS} cells ran for too long", "them")
        if stuck:
            raise stuck

    def _stuck(self, late: _Late) -> _Stuck:
        self.late.add(late.clock)
        return _Stuck("A cell could not be stopped")

    def _answer(self, what: str, word: Any, cpu: float, wall: float) -> Content:
        """What comes at the end of an order; _Late if that takes more than so many seconds."""
        self.channel.order(what, word)
        return self._wait(cpu, wall)

    def _wait(self, cpu: float, wall: float) -> Content:
        stopwatch = Stopwatch(self.process)
        look = monotonic() + LOOK_SECONDS
        while True:
            message = self.channel.receive(LOOK_SECONDS)
            if message is not None:
                kind, content = message
                if kind == "done":
                    return content
                self.outputs.take(kind, content)
            if monotonic() > look:
                look = monotonic() + LOOK_SECONDS
                if late := stopwatch.late(cpu, wall):
                    raise _Late(late)


def _is_run(cell: NotebookNode) -> bool:
    if cell.cell_type != "code" or not cell.source.strip():
        return False
    return SKIP not in cell.metadata.get("tags", [])
