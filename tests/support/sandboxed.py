"""Runs cells in a sandbox, and says what came of them."""

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
GENEROUS = 300.0  # seconds for a cell that ends by itself, on however busy a machine
STOPPING = 2.0  # seconds for one that was told to stop


@dataclass(frozen=True)
class Run:
    """What came of some cells: their texts, whether the process ended, why the box was stopped."""

    texts: list[str]
    died: bool = False
    stopped: str = ""


def run(*sources: str, limits: sandbox.SandboxLimits = LIMITS, late: Sequence[int] = ()) -> Run:
    """Run the cells in a box of their own; see run_in."""
    with sandbox.open(limits) as box:
        return run_in(box, *sources, late=late)


def noted(*sources: str) -> tuple[Run, tuple[str, ...]]:
    """What came of the cells, and what their box says that it refused."""
    with sandbox.open(LIMITS) as box:
        result = run_in(box, *sources)
    return result, box.refused


def run_in(
    box: sandbox.Box | sandbox.UnsafeBox,
    *sources: str,
    late: Sequence[int] = (),
    late_seconds: float = 0.5,
) -> Run:
    """Run the cells one after the other in this box.

    late: places of cells that do not end by themselves and are stopped after `late_seconds`.
    """
    channel, outputs, shown = box.channel(), Outputs(), []
    died = False
    try:
        for place, source in enumerate(sources):
            shown.append([])
            outputs.begin(shown[-1])
            channel.order("run", source)
            if _done(channel, outputs, late_seconds if place in late else GENEROUS):
                continue
            if place not in late:
                raise AssertionError(f"cell {place} never came to its end")
            box.signal(signal.SIGINT)
            _done(channel, outputs, STOPPING)
    except (Ended, Endless):
        died = True
        box.settle()
    box.poll()
    shown += [[] for _ in sources[len(shown) :]]
    return Run([text(one) for one in shown], died, box.stopped)


def _done(channel: Channel, outputs: Outputs, seconds: float) -> bool:
    """Take in what a cell shows; whether it came to its end within these seconds."""
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0:
        if (message := channel.receive(left)) is not None:
            if message[0] == "done":
                return True
            outputs.take(*message)
    return False


def text(outputs: Sequence[NotebookNode]) -> str:
    """All that was printed."""
    return "".join(output.get("text", "") for output in outputs)
