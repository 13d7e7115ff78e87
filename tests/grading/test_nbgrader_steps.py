"""Tests of our steps of nbgrader's autograding: their settings and what they log."""

import logging
import os
import subprocess

import nbformat
import pytest
from submissions import Submission, hand_in
from traitlets.config import Config

from grading.__main__ import main
from grading.execution.time_limits import TimeLimits
from grading.intake.repair import repair
from grading.nbgrader_setup import preprocessors
from grading.nbgrader_setup.preprocessors import Repair, Values
from grading.release import exercises

NAME = "int8-matmul"
STUB = ["# YOUR CODE HERE", "raise NotImplementedError"]
LIMITS = ("cell_seconds", "call_seconds", "cell_wall_seconds", "call_wall_seconds")
EACH = {name: float(n) for n, name in enumerate((*LIMITS, "notebook_seconds"), start=1)}


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_can_be_configured(limit):
    given = Config({"Values": {limit: 1.5}})
    assert getattr(Values(config=given), limit) == 1.5
    assert getattr(Values(), limit) != 1.5


def test_each_configured_limit_reaches_its_field_in_the_grader(tmp_path, monkeypatch):
    seen = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preprocessors, "grade", lambda nb, name, seed, limits: seen.append(limits))
    Values(config=Config({"Values": EACH})).preprocess(None, {"nbgrader": {"assignment": NAME}})
    assert seen == [TimeLimits(**{name.removesuffix("_seconds"): n for name, n in EACH.items()})]


def test_repairs_are_logged_by_nbgrader(caplog):
    source = exercises.source(NAME)
    functions = {part.key: part.function for part in exercises.load(NAME).parts}
    notebook = hand_in(Submission(NAME, "reference", "", {}), source, source, functions)
    check = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    notebook.cells.remove(check)
    step = Repair()
    step.log = logging.getLogger("nbgrader")
    with caplog.at_level(logging.WARNING):
        step.preprocess(notebook, {"nbgrader": {"assignment": NAME}})
    (line,) = caplog.messages
    assert check.metadata.nbgrader.grade_id in line
    assert repair(notebook, NAME) == ([], [])


@pytest.mark.parametrize("name", exercises.names())
def test_released_solution_cells_hold_the_announced_stub(release, name):
    notebook = nbformat.read(release / "release" / name / f"{name}.ipynb", as_version=4)
    words = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert all(f"`{line}`" in words for line in STUB)
    for part in exercises.load(name).parts:
        # A draft to repair may define the function, too; its cell holds no solution.
        (cell,) = (
            cell
            for cell in notebook.cells
            if f"def {part.function}(" in cell.source
            and cell.metadata.get("nbgrader", {}).get("solution")
        )
        assert [line.strip() for line in cell.source.splitlines()[-2:]] == STUB


def test_commands_run_without_an_activated_environment(tmp_path, monkeypatch):
    seen = {}

    def run(command, **options):
        seen.update(options, command=command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PATH", "/usr/bin")
    with pytest.raises(SystemExit) as ended:
        main(["nbgrader", str(tmp_path / "course"), "list", "--inbound"])
    assert ended.value.code == 3, "nbgrader's own status"
    program, *words = seen["command"]
    assert (os.access(program, os.X_OK), words) == (True, ["list", "--inbound"])
    assert seen["cwd"] == tmp_path / "course"
    assert (seen["cwd"] / "nbgrader_config.py").is_file()
    assert seen["env"]["PATH"] == f"{program.parent}{os.pathsep}/usr/bin"
