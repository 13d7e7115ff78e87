"""One submission in, one graded notebook out: plain data both ways, nothing of a gradebook."""

import contextlib
import copy
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_output
from traitlets.config import Config

from rooflib.check.compare import Verdict, judge

from . import exercises, known
from .ask import Questions

PROBE = (Path(__file__).parent / "probe.py").read_text(encoding="utf-8")
LATE_CELLS = 3  # after so many cells that had to be stopped, the rest is not run
OUTPUT_CHARACTERS = 1_000_000  # of a cell; what it prints beyond that is dropped


@dataclass(frozen=True)
class Limits:
    """Seconds that a cell, and one call of an asked function, may take."""

    cell: float = 30
    call: float = 5


@dataclass(frozen=True)
class Graded:
    """The verdict on one part."""

    key: str
    points: float
    of: float
    turn: str
    sentences: tuple[str, ...]


def grade(nb, name, seed, limits=Limits()):
    """A copy of `nb` that has been run and carries points and sentences in its check cells.

    What was found is also in its metadata, under "rooflib": the parts, and why the notebook could
    not be run to the end ("" if it was).
    """
    nb = copy.deepcopy(nb)
    parts = exercises.load(name).parts
    with Questions() as questions:
        trouble = run(nb, questions.address, limits)
        questions.collect({part.key for part in parts})
        graded = judge_parts(name, questions, seed, limits, trouble)
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, graded[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": trouble,
        "parts": [asdict(part) for part in graded.values()],
    }
    return nb


def judge_parts(name, questions, seed, limits, trouble=""):
    """Ask for each part's values and judge them: key → Graded."""
    graded = {}
    for part in exercises.load(name).parts:
        cases = known.hidden(name, part, seed)
        answers = questions.ask(part, cases.inputs, limits.call)
        if answers is None:
            why = trouble or "The notebook did not get as far as this check."
            verdict = Verdict(0, len(cases.inputs), "not-reached", (why,))
        else:
            verdict = _judged(answers, cases, part)
        points = part.points if verdict.passed else 0
        graded[part.key] = Graded(part.key, points, part.points, verdict.turn, verdict.sentences)
    return graded


def _judged(answers, cases, part):
    try:
        return judge(answers, cases.expected, cases.turns, part.tolerance, cases.inputs)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        # Not what the probe sends: something else has spoken in its place.
        return Verdict(0, len(answers), "unreadable", ("The values could not be read.",))


def write(cell, part):
    """The verdict as the outputs of a check cell: sentences, and the points that nbgrader reads."""
    if part.points == part.of:
        said = ("Right, for values that were not shown.",)
    else:
        said = (*part.sentences, "Asked with values that were not shown.")
    lines = [f"{part.key}: {part.points:g} of {part.of:g} points.", *said]
    cell.outputs = [
        new_output("stream", name="stdout", text="\n".join(lines) + "\n"),
        new_output("execute_result", {"text/plain": str(float(part.points))}, execution_count=1),
    ]
    cell.execution_count = 1


def run(nb, address, limits):
    """Run all cells but the checks, of which each leaves a copy of the process at `address`.

    Returns why it did not come to the end, "" if it did. The notebook is alone in an empty folder:
    modules of the learner's beside it are not there to be taken for the real ones.
    """
    nb.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    with (
        tempfile.TemporaryDirectory(prefix="run-") as folder,
        tempfile.TemporaryDirectory(prefix="zmq-") as sockets,
    ):
        client = _Client(
            nb,
            address,
            timeout=limits.cell,
            kernel_name="python3",
            kernel_manager_class=AsyncKernelManager,
            allow_errors=True,
            interrupt_on_timeout=True,
            error_on_timeout={
                "ename": "TooLate",
                "evalue": "",
                "traceback": [f"This cell ran for more than {limits.cell:g} s and was stopped."],
            },
            shutdown_kernel="immediate",
            resources={"metadata": {"path": folder}},
            config=Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"}),
        )
        try:
            client.execute()
        except _Stuck as stuck:
            return f"{stuck}; the cells after {stuck.them} were not run."
        except (DeadKernelError, RuntimeError) as error:
            if isinstance(error, DeadKernelError) or "kernel" in str(error).lower():
                return "A cell ended the whole Python process; the cells after it were not run."
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
        if not exercises.is_check(cell):
            await super().async_execute_cell(cell, cell_index, *arguments, **options)
            if any(output.get("ename") == "TooLate" for output in cell.get("outputs", [])):
                self.late += 1
                if self.late == LATE_CELLS:
                    raise _Stuck(f"{LATE_CELLS} cells ran for too long", "them")
                await self._answers("kernel_info_request", {})
            return cell
        await self._answers("snapshot_request", {"part": cell.metadata.nbgrader.grade_id})
        return cell

    async def _answers(self, kind, content):
        """Send a message to the kernel and wait until it is answered."""
        message = self.kc.session.msg(kind, content)
        self.kc.shell_channel.send(message)
        before, self.timeout = self.timeout, 5
        try:
            if await self.async_wait_for_reply(message["header"]["msg_id"]) is None:
                raise _Stuck("A cell could not be stopped")
        finally:
            self.timeout = before

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
