"""Tests of what a notebook may cost the grader itself.

Costs are messages, outputs, cells and CPU time. No test here reads a clock: messages are counted,
and an rlimit ends computations that are too long.
"""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from classroom import Classroom
from classroom.made_up import InProcessBackend
from nbformat.v4 import new_code_cell, new_notebook
from sandboxed import LIMITS, run_in

from grading import sandbox
from grading.course import MIN_JOB_SECONDS, Course
from grading.execution import outputs
from grading.execution.outputs import MAX_ERRORS, MAX_OUTPUTS, NOTEBOOK_OUTPUTS, Outputs
from grading.execution.time_limits import TimeLimits
from grading.intake.reading import MAX_CELLS
from grading.limits import run_limited
from grading.parallel import pool
from grading.parallel.workers import JOB_SECONDS
from grading.sandbox import cell_channel
from grading.sandbox.inside import output
from grading.work import read

NAMED = {"data": {"text/plain": "x"}, "metadata": {}, "transient": {"display_id": "one"}}
ERROR = {"ename": "E", "evalue": "1", "traceback": ["x"]}


def test_display_updates_take_linear_time() -> None:
    def storm() -> int:
        ours, shown = Outputs(), list[Any]()
        for _ in range(6):
            shown.append([])
            ours.begin(shown[-1])
            for _ in range(MAX_OUTPUTS):
                ours.take("display_data", NAMED)
        for number in range(20_000):
            ours.take("update_display_data", NAMED | {"data": {"text/plain": str(number)}})
        return sum(map(len, shown))

    assert run_limited(storm, cpu=10) <= NOTEBOOK_OUTPUTS


def test_the_size_of_a_shared_display_counts_once_per_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a page would hold the same large text a thousand times."""
    monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", 100_000)
    ours, shown = Outputs(), list[Any]()
    ours.begin(shown)
    for _ in range(30):
        ours.take("display_data", NAMED)
    ours.take("update_display_data", NAMED | {"data": {"text/plain": "y" * 10_000}})
    assert len(str(shown)) < 100_000


def test_the_errors_of_a_cell_are_limited() -> None:
    ours, shown = Outputs(), list[Any]()
    ours.begin(shown)
    for _ in range(5_000):
        ours.take("error", ERROR | {"traceback": ["x"] * 100_000})
    assert len(shown) == MAX_ERRORS
    assert sum(len(one.traceback) for one in shown) < 10_000


def test_the_outputs_of_cells_and_notebooks_are_limited() -> None:
    ours = Outputs()
    shown: list[list[Any]] = []
    for _ in range(20):
        shown.append([])
        ours.begin(shown[-1])
        for _ in range(MAX_OUTPUTS + 9):
            ours.take("stream", {"name": "stdout", "text": "x"})
    assert max(map(len, shown)) == MAX_OUTPUTS
    assert sum(map(len, shown)) == NOTEBOOK_OUTPUTS


SAYS = "from IPython.display import display\nfor _ in range({count}):\n    {deed}"


# Each cell would exceed the sandbox's limit on messages or bytes, and also the grader's own.
@pytest.mark.parametrize(
    ("count", "deed"),
    [
        (6_000, "display(1)"),
        pytest.param(6_000, "print(1, flush=True)", marks=pytest.mark.long),
        pytest.param(1_001, "display('x' * 100_000)", marks=pytest.mark.long),
        pytest.param(1_001, "print('x' * 10**5)", marks=pytest.mark.long),
    ],
)
def test_verbose_cells_stay_within_the_message_limits(count: int, deed: str) -> None:
    with sandbox.open(LIMITS) as box:
        done = run_in(box, *[SAYS.format(count=count, deed=deed)] * 2, "print('still')")
    assert not done.died
    assert done.texts[2] == "still\n"


def test_limits_in_the_sandbox_are_below_the_graders() -> None:
    # Each message counts as two lines, because an empty line follows; errors are extra.
    assert 2 * (output.CELL_MESSAGES + output.CELL_ERRORS + 2) < cell_channel.ENDLESS_LINES
    assert 2 * (output.ALL_MESSAGES + 1_000 * 12) < cell_channel.ALL_ENDLESS_LINES
    assert output.ALL_BYTES < cell_channel.ENDLESS_BYTES


FLOODS = """
from ipykernel.kernelapp import IPKernelApp
lines = IPKernelApp.instance().session
line = {line}
while True:
    lines.connection.sendall(line)
"""
EMPTY = '{"ename": "", "evalue": "", "traceback": []}'
LINES = {
    "small messages": 'b\'[%d, "stream", {"name": "stdout", "text": "x"}]\\n\' % lines.number * 99',
    "empty lines": 'b"\\n" * 9999',
    "noise": 'b"[1]\\n" * 999',
    "clearing": "b'[%d, \"clear_output\", {}]\\n' % lines.number * 99",
    "errors": f"""b'[%d, "error", {EMPTY}]\\n' % lines.number""",
    "lines of another order": 'b\'[7, "stream", {"name": "stdout", "text": "x"}]\\n\' * 99',
    "lines that are almost too long": 'b"[" + b" " * 7_000_000 + b"]\\n"',
}


# By default, test one flood with too many lines and one with too many bytes; the others are long
# tests.
BRIEF = ("small messages", "lines that are almost too long")


@pytest.mark.parametrize(
    "name",
    [name if name in BRIEF else pytest.param(name, marks=pytest.mark.long) for name in LINES],
)
def test_a_flood_of_messages_ends_the_notebook(name: str) -> None:
    taken = 0

    class Counted(cell_channel.Channel):
        def _read(self, line: bytes) -> Any:
            nonlocal taken
            taken += 1
            return super()._read(line)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grading.sandbox.box.Channel", Counted)
        with sandbox.open(LIMITS) as box:
            assert run_in(box, FLOODS.format(line=LINES[name])).died
    assert taken <= cell_channel.ENDLESS_LINES


def cells(count: int) -> list[Any]:
    return [new_code_cell("1 /") for _ in range(count)]


def older(count: int) -> bytes:
    """Return a notebook of format version 3, with its cells in a worksheet."""
    cell = {
        "cell_type": "code",
        "input": "1 /",
        "outputs": [],
        "language": "python",
        "metadata": {},
    }
    sheet = {"cells": [cell] * count, "metadata": {}}
    top = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [sheet]}
    return json.dumps(top).encode()


def test_notebooks_with_too_many_cells_are_not_graded() -> None:
    newest = [
        nbformat.writes(new_notebook(cells=cells(count))).encode()
        for count in (MAX_CELLS, MAX_CELLS + 1)
    ]
    for fits, too_many in (newest, [older(5), older(MAX_CELLS + 1)]):
        assert read(fits)[1] == ""
        assert read(too_many) == (None, f"the notebook has more than {MAX_CELLS} cells")


class Limited(InProcessBackend):
    """A backend that records the time limit that it gets."""

    seconds = 0.0

    def limit(self, seconds: float) -> None:
        self.seconds = seconds


def test_a_refused_submission_is_not_graded_again(release: Path, tmp_path: Path) -> None:
    room = Classroom(tmp_path / "course", release)
    room.hand_in("ada", "int8-matmul", new_notebook(cells=cells(MAX_CELLS + 1)))
    backend = Limited()
    assert room.course.grade(backend, limits=TimeLimits(notebook=33)) == 1
    assert isinstance(room.course, Course)
    assert backend.seconds == 33
    assert "cells" in room.course.state()["ada"]["int8-matmul"]["reason"]
    assert room.course.grade(backend, limits=TimeLimits(notebook=1)) == 0
    assert backend.seconds == MIN_JOB_SECONDS


def test_a_backends_time_limit_never_increases() -> None:
    local = pool.Local(1, sandbox=False)
    assert local.limits[0] == JOB_SECONDS
    local.limit(20)
    assert local.limits[0] == 20
    local.limit(10_000)
    assert local.limits[0] == 20
