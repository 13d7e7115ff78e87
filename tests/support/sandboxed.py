"""Helpers that run cells in a sandbox and return their output and outcome."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from nbformat import NotebookNode

from grading import sandbox
from grading.execution.outputs import Outputs
from grading.sandbox.cell_channel import Channel, Ended, Endless

LIMITS = sandbox.SandboxLimits(
    process_bytes=1 << 30, memory_bytes=1 << 30, scratch_bytes=16 << 20, wall_seconds=600
)
FINISH_SECONDS = 300.0  # timeout of a cell; generous, for busy machines
STOP_SECONDS = 2.0  # timeout of an interrupted cell


@dataclass(frozen=True)
class Run:
    """The result of running cells.

    texts: the printed text of each cell. died: whether their process ended. stopped: the limit that
    stopped the box, if any.
    """

    texts: list[str]
    died: bool = False
    stopped: str = ""


def run(*sources: str, limits: sandbox.SandboxLimits = LIMITS, late: Sequence[int] = ()) -> Run:
    """Run the cells in a new sandbox; see run_in."""
    with sandbox.open(limits) as box:
        return run_in(box, *sources, late=late)


def run_and_list_refused(*sources: str) -> tuple[Run, tuple[str, ...]]:
    """Run the cells in a new sandbox; return the result and all that was refused."""
    with sandbox.open(LIMITS) as box:
        result = run_in(box, *sources)
    return result, box.refused


def run_in(
    box: sandbox.Box | sandbox.UnsafeBox,
    *sources: str,
    late: Sequence[int] = (),
    late_seconds: float = 0.5,
) -> Run:
    """Run the cells one after the other in this sandbox.

    late: indices of cells that never finish, which are interrupted after `late_seconds`.
    """
    channel, outputs, shown = box.channel(), Outputs(), []
    died = False
    try:
        for place, source in enumerate(sources):
            shown.append([])
            outputs.begin(shown[-1])
            channel.request("run", source)
            if _done(channel, outputs, late_seconds if place in late else FINISH_SECONDS):
                continue
            if place not in late:
                raise AssertionError(f"cell {place} did not finish")
            box.signal(signal.SIGINT)
            _done(channel, outputs, STOP_SECONDS)
    except (Ended, Endless):
        died = True
        box.settle()
    box.poll()
    shown += [[] for _ in sources[len(shown) :]]
    return Run([text(one) for one in shown], died, box.stopped)


def _done(channel: Channel, outputs: Outputs, seconds: float) -> bool:
    """Collect a cell's output, and return whether the cell finished in time."""
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0:
        if (message := channel.receive(left)) is not None:
            if message[0] == "done":
                return True
            outputs.take(*message)
    return False


def text(outputs: Sequence[NotebookNode]) -> str:
    """Return all printed text."""
    return "".join(output.get("text", "") for output in outputs)
