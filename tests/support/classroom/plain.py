"""Grading of a notebook in a fork of this process instead of a kernel.

This uses the grader's snapshots, questions and judge, and saves the second that a kernel takes to
start and stop.
"""

import os
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib
import matplotlib.pyplot  # imported here so that forks have it
from nbformat import NotebookNode

from grading import sandbox
from grading.execution import probe
from grading.execution.questions import Ended, Questions
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.judging.verdicts import Graded, judge_parts
from grading.release import exercises

matplotlib.use("agg")


def grade(notebook: NotebookNode, name: str, limits: TimeLimits = TIME_LIMITS) -> dict[str, Graded]:
    """Return part → verdict for a notebook, which must terminate."""

    def graded(spare: bool) -> dict[str, Graded]:
        with sandbox.UnsafeBox() as place, Questions(place, spare=spare) as questions:
            run(notebook, questions)
            return judge_parts(name, questions, "tests", limits)

    try:
        return graded(spare=False)
    except Ended:
        return graded(spare=True)


def run(notebook: NotebookNode, questions: Questions) -> None:
    """Run the notebook in a fork, and collect the snapshots that it leaves."""
    child = os.fork()
    if child == 0:
        try:
            with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
                _run(notebook, questions.address)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    checks = filter(exercises.is_check, notebook.cells)
    questions.collect({cell.metadata.nbgrader.grade_id for cell in checks})


def _run(notebook: NotebookNode, address: str) -> None:
    namespace = {"__name__": "__main__"}
    for cell in notebook.cells:
        if exercises.is_check(cell):
            probe.snapshot(cell.metadata.nbgrader.grade_id, namespace, address)
        elif cell.cell_type == "code":
            try:
                exec(compile(cell.source, "cell", "exec"), namespace)
            except Exception:  # as in a kernel, the next cell still runs
                continue
