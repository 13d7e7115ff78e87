"""Runs cells in a sandbox, and says what came of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grading import sandbox

LIMITS = sandbox.SandboxLimits(
    process_bytes=1 << 30, memory_bytes=1 << 30, scratch_bytes=16 << 20, wall_seconds=600
)
GENEROUS = 300.0  # seconds for a cell that ends by itself, on however busy a machine
PRINTED = 300  # seconds for what a cell printed to arrive; not waited for if it has
# The same for a cell that was stopped. The kernel drops what comes while nobody has room for it,
# the end of a flood, too, and what the next cell prints, unless the flood was taken in first.
DRAINED = 10


@dataclass(frozen=True)
class Run:
    """What came of some cells: their texts, whether the kernel died, why the box was stopped."""

    texts: list[str]
    died: bool = False
    stopped: str = ""


def run(
    *sources: str,
    limits: sandbox.SandboxLimits = LIMITS,
    late: Sequence[int] = (),
    drained: bool = False,
) -> Run:
    """Run the cells in a box of their own; see run_in."""
    with sandbox.open(limits) as box:
        return run_in(box, *sources, late=late, drained=drained)


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
    drained: bool = False,
) -> Run:
    """Run the cells one after the other in this box.

    late: places of cells that do not end by themselves and are stopped after `late_seconds`.
    drained: take in what a stopped cell showed before the next one begins.
    """
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    stopped = {notebook.cells[place].id for place in late}
    client = _Client(
        notebook,
        km=box.kernel_manager(),
        allow_errors=True,
        timeout_func=lambda cell: late_seconds if cell.id in stopped else GENEROUS,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "TooLate", "evalue": "", "traceback": ["too late"]},
    )
    client.waits = dict.fromkeys(stopped, DRAINED if drained else 0)
    died = False
    try:
        client.execute()
    except DeadKernelError:
        died = True
    box.poll()
    return Run([text(cell) for cell in notebook.cells], died, box.stopped)


class _Client(NotebookClient):  # type: ignore[misc]
    """Waits for what a cell printed, and soon notices a kernel's end."""

    waits: dict[str, int]  # seconds, by cell

    async def async_execute_cell(self, cell: NotebookNode, *arguments: Any, **options: Any) -> Any:
        self.iopub_timeout = self.waits.get(cell.id, PRINTED)
        return await super().async_execute_cell(cell, *arguments, **options)

    async def _async_poll_kernel_alive(self) -> None:
        while await self.kc.is_alive():
            await asyncio.sleep(0.05)
        self.task_poll_for_reply.cancel()


def text(cell: NotebookNode) -> str:
    """All that the cell printed."""
    return "".join(output.get("text", "") for output in cell.outputs)
