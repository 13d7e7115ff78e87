"""Runs a submitted notebook in its sandbox, cell by cell, within limits."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbclient.util import ensure_async
from nbformat import NotebookNode
from nbformat.v4 import new_output

from grading.execution.questions import Questions
from grading.execution.time_limits import Clock, Stopwatch, TimeLimits
from grading.limits import held_bytes
from grading.release import exercises
from grading.sandbox.box import Box, UnsafeBox

PROBE = (Path(__file__).parent / "probe.py").read_text(encoding="utf-8")
LOOK_SECONDS = 0.2  # between two looks at the clocks, and at whether the kernel still runs
ANSWER_CPU_SECONDS = 2  # for an answer that takes a free kernel milliseconds
PRINTED_SECONDS = 4  # after a cell, for what it printed to arrive
PRINTED_LATE_SECONDS = 1  # after one that was stopped
LATE_CELLS = 3  # after so many cells that had to be stopped, the rest is not run
MESSAGES_BYTES = 400_000_000  # by which a notebook may make this process grow: ten times the usual
OUTPUT_CHARACTERS = 1_000_000  # of a cell; what it prints beyond that is dropped
ENDED = "A cell ended the whole Python process; the cells after it were not run."


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
    nb.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    client = _Client(
        nb,
        questions,
        limits,
        timeout=None,
        km=box.kernel_manager(),
        allow_errors=True,
        record_timing=False,
    )
    trouble = ""
    try:
        client.execute()
    except _Stuck as stuck:
        trouble = f"{stuck}; the cells after {stuck.them} were not run."
    except (DeadKernelError, RuntimeError) as error:
        if not isinstance(error, DeadKernelError) and "kernel" not in str(error).lower():
            raise
        trouble = ENDED
    return Execution(trouble, frozenset(client.late))


class _Stuck(Exception):
    """The notebook takes too long to be run to its end."""

    def __init__(self, why: str, them: str = "it") -> None:
        super().__init__(why)
        self.them = them


class _Client(NotebookClient):
    """Runs a notebook; at a check cell it has the kernel keep a copy of itself."""

    def __init__(
        self, nb: NotebookNode, questions: Questions, limits: TimeLimits, **options: Any
    ) -> None:
        super().__init__(nb, **options)
        self.questions, self.limits = questions, limits
        self.held = held_bytes()
        self.process: int | None = None
        self.printed: dict[int, int] = {}
        self.late_cells = 0
        self.late: set[Clock] = set()

    async def async_start_new_kernel_client(self) -> Any:
        client = await super().async_start_new_kernel_client()
        source = f"{PROBE}\n\ninstall({self.questions.address!r})\n"
        code = f"exec(compile({source!r}, 'probe', 'exec'), {{}})"
        message = client.execute(code, silent=True, store_history=False)
        reply: Any = await self.async_wait_for_reply(message)
        if reply is None or reply["content"]["status"] != "ok":
            raise ValueError(f"the probe could not be installed: {reply}")
        self.process = self.questions.kernel()
        return client

    async def async_execute_cell(
        self, cell: NotebookNode, cell_index: int, *arguments: Any, **options: Any
    ) -> NotebookNode:
        if exercises.is_check(cell):
            about = {"part": cell.metadata.nbgrader.grade_id}
            if not (await self._answers("snapshot_request", about)).get("kept", True):
                raise _Stuck("A cell used up the processes or files that a notebook may have")
            return cell
        self.iopub_timeout = PRINTED_SECONDS
        running = asyncio.ensure_future(
            super().async_execute_cell(cell, cell_index, *arguments, **options)
        )
        await self._guard(running)
        try:
            await running
        except DeadKernelError:
            cell.execution_count = None  # whether the kernel said it before it ended is chance
            raise
        if any(output.get("ename") == "TooLate" for output in cell.get("outputs", [])):
            self.late_cells += 1
            if self.late_cells == LATE_CELLS:
                raise _Stuck(f"{LATE_CELLS} cells ran for too long", "them")
            await self._answers("kernel_info_request", {})
        return cell

    async def _guard(self, running: asyncio.Future[NotebookNode]) -> None:
        """Wait for a cell; _Stuck if the kernel talks so much that nobody looks at the clocks."""
        self._look_at_memory()
        stopwatch = Stopwatch(self.process)
        cpu = self.limits.cell + ANSWER_CPU_SECONDS
        wall = self.limits.cell_wall + PRINTED_SECONDS + 1
        while not (await asyncio.wait({running}, timeout=LOOK_SECONDS))[0]:
            try:
                self._look_at_memory()
                if late := stopwatch.late(cpu, wall):
                    raise self._stuck(late)
            except _Stuck:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                raise

    def _look_at_memory(self) -> None:
        """_Stuck if what the notebook sends has filled this process's own memory.

        ZeroMQ limits each frame of a message, and how many messages wait, but not how many frames
        one message has, and it keeps them all until the last has come.
        """
        if held_bytes() - self.held > MESSAGES_BYTES:
            raise _Stuck("A cell sent more than is taken in")

    def _stuck(self, late: Clock) -> _Stuck:
        self.late.add(late)
        return _Stuck("A cell could not be stopped")

    async def _answers(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a message to the kernel, and return what it answers."""
        assert self.kc is not None
        message = self.kc.session.msg(kind, content)
        self.kc.shell_channel.send(message)
        stopwatch = Stopwatch(self.process)
        while not (late := stopwatch.late(ANSWER_CPU_SECONDS, self.limits.cell_wall)):
            try:
                reply = await self.kc.shell_channel.get_msg(timeout=LOOK_SECONDS)
            except Empty:
                self._look_at_memory()
                await self._async_check_alive()
                continue
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                answer: dict[str, Any] = reply["content"]
                return answer
        raise self._stuck(late)

    async def _async_poll_for_reply(
        self,
        msg_id: str,
        cell: NotebookNode,
        timeout: int | None,
        task_poll_output_msg: asyncio.Future[Any],
        task_poll_kernel_alive: asyncio.Future[Any],
    ) -> dict[str, Any]:
        """nbclient's own knows the wall clock alone."""
        assert self.kc is not None
        stopwatch = Stopwatch(self.process)
        reply: dict[str, Any] | None = None
        while reply is None:
            with contextlib.suppress(Empty):
                message = await self.kc.shell_channel.get_msg(timeout=LOOK_SECONDS)
                if message["parent_header"].get("msg_id") == msg_id:
                    reply = message
            if reply is None and (late := stopwatch.late(self.limits.cell, self.limits.cell_wall)):
                await self._async_check_alive()
                reply = await self._interrupted(late)
        with contextlib.suppress(TimeoutError, Empty):
            await asyncio.wait_for(task_poll_output_msg, self.iopub_timeout)
        task_poll_kernel_alive.cancel()
        return reply

    async def _interrupted(self, late: Clock) -> dict[str, Any]:
        """Stop the cell; the reply that stands for its own."""
        assert self.km is not None
        self.late.add(late)
        self.iopub_timeout = PRINTED_LATE_SECONDS
        await ensure_async(self.km.interrupt_kernel())
        seconds = self.limits.cell if late == "cpu" else self.limits.cell_wall
        return {
            "content": {
                "status": "error",
                "ename": "TooLate",
                "evalue": "",
                "traceback": [f"This cell ran for more than {seconds:g} s and was stopped."],
            }
        }

    async def _async_poll_kernel_alive(self) -> None:
        """nbclient's own looks only once a second."""
        client: Any = self.kc
        while await client.is_alive():
            await asyncio.sleep(LOOK_SECONDS)
        assert self.task_poll_for_reply is not None
        self.task_poll_for_reply.cancel()

    async def _async_poll_output_msg(
        self, parent_msg_id: str, cell: NotebookNode, cell_index: int
    ) -> None:
        """nbclient's own would let nobody else run while messages keep coming."""
        assert self.kc is not None
        while True:
            message = await self.kc.iopub_channel.get_msg(timeout=None)
            if message["parent_header"].get("msg_id") == parent_msg_id:
                try:
                    self.process_message(message, cell, cell_index)
                except CellExecutionComplete:
                    return
            await asyncio.sleep(0)

    async def _check_raise_for_error(
        self, cell: NotebookNode, cell_index: int, exec_reply: dict[str, Any] | None
    ) -> None:
        """A timeout leaves no output by itself, unlike every other error."""
        content = (exec_reply or {}).get("content", {})
        if content.get("ename") == "TooLate":
            cell.outputs.append(
                new_output(
                    "error", **{key: content[key] for key in ("ename", "evalue", "traceback")}
                )
            )
        with contextlib.suppress(KeyError):
            await super()._check_raise_for_error(cell, cell_index, exec_reply)

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Drop what a cell prints beyond the limit, so that one notebook can't fill the memory.

        And what no kernel would say: it is nothing that the rest of the notebook should wait for.
        """
        if msg["msg_type"] in ("stream", "display_data", "execute_result"):
            size = len(str(msg["content"]))
            self.printed[cell_index] = self.printed.get(cell_index, 0) + size
            if self.printed[cell_index] > OUTPUT_CHARACTERS:
                return None
        try:
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # of nbclient or nbformat
            return None
