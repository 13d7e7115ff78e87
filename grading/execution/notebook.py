"""Runs a submitted notebook in its sandbox, cell by cell, within limits."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from time import monotonic

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat.v4 import new_output

from grading.release import exercises

PROBE = (Path(__file__).parent / "probe.py").read_text(encoding="utf-8")
ALIVE_SECONDS = 0.2  # between two looks at whether the kernel still runs
ANSWER_SECONDS = 5  # for an answer that takes a free kernel milliseconds
PRINTED_SECONDS = 4  # after a cell, for what it printed to arrive
PRINTED_LATE_SECONDS = 1  # after one that was stopped
LATE_CELLS = 3  # after so many cells that had to be stopped, the rest is not run
OUTPUT_CHARACTERS = 1_000_000  # of a cell; what it prints beyond that is dropped
ENDED = "A cell ended the whole Python process; the cells after it were not run."


@dataclass(frozen=True)
class TimeLimits:
    """Seconds that a cell, and one call of an asked function, may take."""

    cell: float = 30
    call: float = 5


TIME_LIMITS = TimeLimits()


def run(nb, box, address, limits):
    """Run all cells but the checks, of which each leaves a copy of the process at `address`.

    Returns why it did not come to the end, "" if it did. The notebook is alone in an empty folder:
    modules of the learner's beside it are not there to be taken for the real ones.
    """
    nb.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    client = _Client(
        nb,
        address,
        timeout=limits.cell,
        km=box.kernel_manager(),
        allow_errors=True,
        interrupt_on_timeout=True,
        error_on_timeout={
            "ename": "TooLate",
            "evalue": "",
            "traceback": [f"This cell ran for more than {limits.cell:g} s and was stopped."],
        },
    )
    try:
        client.execute()
    except _Stuck as stuck:
        return f"{stuck}; the cells after {stuck.them} were not run."
    except (DeadKernelError, RuntimeError) as error:
        if isinstance(error, DeadKernelError) or "kernel" in str(error).lower():
            return ENDED
        raise
    return ""


class _Stuck(Exception):
    """The notebook takes too long to be run to its end."""

    def __init__(self, why, them="it"):
        super().__init__(why)
        self.them = them


class _Client(NotebookClient):
    """Runs a notebook; at a check cell it has the kernel keep a copy of itself."""

    def __init__(self, nb, address, **options):
        super().__init__(nb, **options)
        self.address = address
        self.printed, self.late = {}, 0

    async def async_start_new_kernel_client(self):
        client = await super().async_start_new_kernel_client()
        source = f"{PROBE}\n\ninstall({self.address!r})\n"
        code = f"exec(compile({source!r}, 'probe', 'exec'), {{}})"
        message = client.execute(code, silent=True, store_history=False)
        reply = await self.async_wait_for_reply(message)
        if reply is None or reply["content"]["status"] != "ok":
            raise ValueError(f"the probe could not be installed: {reply}")
        return client

    async def async_execute_cell(self, cell, cell_index, *arguments, **options):
        if exercises.is_check(cell):
            about = {"part": cell.metadata.nbgrader.grade_id}
            if not (await self._answers("snapshot_request", about)).get("kept", True):
                raise _Stuck("A cell used up the processes or files that a notebook may have")
            return cell
        self.iopub_timeout = PRINTED_SECONDS
        running = asyncio.ensure_future(
            super().async_execute_cell(cell, cell_index, *arguments, **options)
        )
        # A kernel that sends replies without end would keep nbclient from looking at the clock.
        longest = self.timeout + PRINTED_SECONDS + ANSWER_SECONDS
        done, _ = await asyncio.wait({running}, timeout=longest)
        if not done:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            raise _Stuck("A cell could not be stopped")
        try:
            await running
        except DeadKernelError:
            cell.execution_count = None  # whether the kernel said it before it ended is chance
            raise
        if any(output.get("ename") == "TooLate" for output in cell.get("outputs", [])):
            self.late += 1
            if self.late == LATE_CELLS:
                raise _Stuck(f"{LATE_CELLS} cells ran for too long", "them")
            await self._answers("kernel_info_request", {})
        return cell

    async def _answers(self, kind, content):
        """Send a message to the kernel, and return what it answers."""
        message = self.kc.session.msg(kind, content)
        self.kc.shell_channel.send(message)
        end = monotonic() + ANSWER_SECONDS
        while monotonic() < end:
            try:
                reply = await self.kc.shell_channel.get_msg(timeout=ALIVE_SECONDS)
            except Empty:
                await self._async_check_alive()
                continue
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]
        raise _Stuck("A cell could not be stopped")

    async def _async_handle_timeout(self, timeout, cell=None):
        self.iopub_timeout = PRINTED_LATE_SECONDS
        return await super()._async_handle_timeout(timeout, cell)

    async def _async_poll_kernel_alive(self):
        """nbclient's own looks only once a second."""
        while await self.kc.is_alive():
            await asyncio.sleep(ALIVE_SECONDS)
        self.task_poll_for_reply.cancel()

    async def _async_poll_output_msg(self, parent_msg_id, cell, cell_index):
        """nbclient's own would let nobody else run while messages keep coming."""
        while True:
            message = await self.kc.iopub_channel.get_msg(timeout=None)
            if message["parent_header"].get("msg_id") == parent_msg_id:
                try:
                    self.process_message(message, cell, cell_index)
                except CellExecutionComplete:
                    return
            await asyncio.sleep(0)

    async def _check_raise_for_error(self, cell, cell_index, exec_reply):
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

    def process_message(self, msg, cell, cell_index):
        """Drop what a cell prints beyond the limit, so that one notebook can't fill the memory."""
        if msg["msg_type"] in ("stream", "display_data", "execute_result"):
            size = len(str(msg["content"]))
            self.printed[cell_index] = self.printed.get(cell_index, 0) + size
            if self.printed[cell_index] > OUTPUT_CHARACTERS:
                return None
        return super().process_message(msg, cell, cell_index)
