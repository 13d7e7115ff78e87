"""Tests of the order in which a notebook's cells run, with a made-up process."""

import platform
import signal
import sys

import pytest
from classroom import code
from nbformat.v4 import new_markdown_cell, new_notebook

from grading.execution import notebook
from grading.execution.notebook import Execution, run
from grading.execution.time_limits import TimeLimits
from grading.sandbox.cell_channel import Ended, Endless

LIMITS = TimeLimits(cell=3, cell_wall=70)
CPU, WALL = "cpu", "wall"
STOPPED = "This cell ran for more than {} s and was stopped."


def check(part):
    cell = code("check()")
    cell.metadata["nbgrader"] = {"grade": True, "grade_id": part}
    return cell


def tagged(source, *tags):
    cell = code(source)
    cell.metadata["tags"] = list(tags)
    return cell


class Process:
    """Fake box, channel, questions and clock of a process with scripted cells.

    does: source of a cell → what happens: messages, an error to raise, or the clocks whose limits
    the cell exceeds, followed by its messages after the interrupt.
    """

    address = "/run/box/ask"
    tick = 1.0  # seconds from one message to the next

    def __init__(self, monkeypatch, does, spare=False):
        self.does, self.spare, self.requests, self.signals = does, spare, [], []
        self.limits, self.now, self.left = [], 0.0, []
        monkeypatch.setattr(notebook, "Stopwatch", self.stopwatch)
        monkeypatch.setattr(notebook, "monotonic", lambda: self.now)

    def channel(self):
        return self

    def kernel(self):
        assert [what for what, _ in self.requests] == ["begin"]
        return 123

    def signal(self, number):
        self.signals.append(number)

    def stopwatch(self, process):
        assert process == (None if self.requests[-1][0] == "begin" else 123)
        return self

    def late(self, cpu, wall):
        self.limits.append((cpu, wall))
        return self.left.pop(0) if self.left and self.left[0] in (CPU, WALL) else None

    def request(self, what, word):
        self.requests.append((what, word))
        self.left = list(self.does.get(word if isinstance(word, str) else "", [{}]))

    def receive(self, seconds):
        self.now += self.tick
        if self.left and self.left[0] in (CPU, WALL):
            return None
        said = self.left.pop(0) if self.left else {}
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, tuple) else ("done", said)


def ran(monkeypatch, *cells, spare=False, **does):
    """Run these cells; return the execution, the process and the notebook."""
    process = Process(monkeypatch, does, spare)
    nb = new_notebook(cells=list(cells))
    return run(nb, process, process, LIMITS), process, nb


def text(words):
    return "stream", {"name": "stdout", "text": words}


def printed(cell):
    return "".join("".join(one.get("text", one.get("traceback", ""))) for one in cell.outputs)


def test_cells_run_in_order_and_checks_keep_a_forked_copy(monkeypatch):
    cells = [
        new_markdown_cell("text"),
        *(code("one"), code(" \n"), tagged("skipped", "skip-execution"), check("first")),
        *(tagged("two", "slide"), check("last"), code("")),
    ]
    execution, process, nb = ran(monkeypatch, *cells, one=[text("a"), text("b"), {}])
    assert execution == Execution("", frozenset())
    begin, *requests = process.requests
    assert begin == ("begin", [notebook.PROBE, Process.address])
    assert requests == [("run", "one"), ("keep", "first"), ("run", "two"), ("stay", "last")]
    assert [cell.get("execution_count") for cell in nb.cells] == [
        *(None, 1, None, None, None),
        *(2, None, None),
    ]
    assert printed(nb.cells[1]) == "ab"
    assert process.signals == []


@pytest.mark.parametrize(
    ("after", "spare", "how"),
    [([], True, "keep"), ([code("more")], False, "keep"), ([], False, "stay")],
)
def test_no_forked_copy_is_kept_after_the_last_cell_unless_copies_fork_again(
    monkeypatch, after, spare, how
):
    _, process, _ = ran(monkeypatch, check("one"), *after, spare=spare)
    assert (how, "one") in process.requests


def test_old_outputs_of_a_cell_are_removed(monkeypatch):
    old = code("one")
    old.outputs = [notebook.new_output("stream", name="stdout", text="old")]
    _, _, nb = ran(monkeypatch, old, one=[text("new"), {}])
    assert printed(nb.cells[0]) == "new"


def test_a_notebook_names_the_python_that_ran_it(monkeypatch):
    _, _, nb = ran(monkeypatch)
    assert nb.metadata.kernelspec.language == "python"
    about = nb.metadata.language_info
    assert about.version == platform.python_version()
    assert about.codemirror_mode.version == sys.version_info.major
    nb.metadata.kernelspec.name = nb.metadata.language_info.name = "changed"
    assert notebook.KERNEL["name"] == "python3"
    assert notebook.LANGUAGE["name"] == "python"


@pytest.mark.parametrize(
    ("error", "reason", "count"),
    [(Ended(), notebook.ENDED, None), (Endless(), notebook.ENDLESS, 1)],
)
def test_a_process_that_ends_or_sends_an_endless_message_stops_the_run(
    monkeypatch, error, reason, count
):
    execution, process, nb = ran(monkeypatch, code("one"), code("two"), one=[text("a"), error])
    assert execution == Execution(reason, frozenset())
    assert ("run", "two") not in process.requests
    assert nb.cells[0].execution_count == count
    assert printed(nb.cells[0]) == "a"


@pytest.mark.parametrize(("clock", "seconds"), [(CPU, 3), (WALL, 70)])
def test_a_timed_out_cell_is_interrupted_and_the_next_cell_runs(monkeypatch, clock, seconds):
    cells = code("one"), code("two"), check("part")
    execution, process, nb = ran(monkeypatch, *cells, one=[text("a"), clock, text("b"), {}])
    assert execution == Execution("", {clock})
    assert process.signals == [signal.SIGINT]
    assert process.requests[-1] == ("stay", "part")
    assert printed(nb.cells[0]) == "ab" + STOPPED.format(seconds)
    assert nb.cells[1].outputs == []
    error = nb.cells[0].outputs[-1]
    assert (error.output_type, error.ename, error.evalue) == ("error", notebook.TOO_LATE, "")
    assert (3, 70) in process.limits


def test_a_cell_that_goes_on_after_the_interrupt_ends_the_run(monkeypatch):
    execution, process, nb = ran(monkeypatch, code("one"), code("two"), one=[CPU, WALL])
    assert execution == Execution(notebook.NOT_STOPPED, {CPU, WALL})
    assert printed(nb.cells[0]) == STOPPED.format(3)
    assert ("run", "two") not in process.requests


def test_three_timed_out_cells_end_the_run(monkeypatch):
    """Check that the reason for the end of the run says that three cells timed out."""
    cells = [code("one"), code("one"), code("two"), code("one"), code("three")]
    execution, process, nb = ran(monkeypatch, *cells, one=[CPU, {}])
    assert execution == Execution(notebook.MANY_LATE, {CPU})
    assert process.requests[-1] == ("run", "one")
    assert len(process.requests) == 1 + 4
    assert printed(nb.cells[3]) == STOPPED.format(3)


@pytest.mark.parametrize(
    ("does", "reason", "late"),
    [
        ([{"kept": False}], notebook.USED_UP, set()),
        ([{"kept": True}], "", set()),
        ([{}], "", set()),
        ([WALL], notebook.NOT_STOPPED, {WALL}),
    ],
)
def test_the_run_ends_if_a_check_keeps_no_forked_copy_or_times_out(monkeypatch, does, reason, late):
    execution, process, _ = ran(monkeypatch, check("part"), code("two"), part=does)
    assert execution == Execution(reason, late)
    assert (("run", "two") in process.requests) is (reason == "")
    assert all(wall >= 70 for _, wall in process.limits)


def test_the_clocks_are_not_read_for_each_message(monkeypatch):
    """Reading the clocks takes longer than handling a message."""
    monkeypatch.setattr(Process, "tick", notebook.POLL_SECONDS / 10)
    _, process, _ = ran(monkeypatch, code("one"), one=[text("a")] * 100 + [{}])
    assert 8 <= len(process.limits) <= 10


def test_a_notebooks_outputs_are_limited_together(monkeypatch):
    monkeypatch.setattr("grading.execution.outputs.NOTEBOOK_OUTPUTS", 3)
    cells = code("one"), code("two")
    _, _, nb = ran(monkeypatch, *cells, one=[text("a")] * 2 + [{}], two=[text("b")] * 2 + [{}])
    assert "".join(map(printed, nb.cells)) == "aab"
