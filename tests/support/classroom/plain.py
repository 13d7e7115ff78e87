"""Grading of a notebook in a fork instead of a kernel.

This uses the grader's snapshots, questions and judge, and saves the second that a kernel takes to
start and stop.
"""

import functools
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
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
from roofkit.notebook_language import language_of
from roofkit.words import spoken

matplotlib.use("agg")


@functools.cache
def _small_process() -> ProcessPoolExecutor:
    """Return an executor with one process, which hasn't loaded the tests.

    Each grading forks a dozen times, and a fork takes longer the more memory a process has.
    """
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def grade(notebook: NotebookNode, name: str, limits: TimeLimits = TIME_LIMITS) -> dict[str, Graded]:
    """Return part → verdict for a notebook, whose cells must terminate."""
    return _small_process().submit(grade_here, notebook, name, limits).result()


def grade_here(
    notebook: NotebookNode, name: str, limits: TimeLimits = TIME_LIMITS
) -> dict[str, Graded]:
    """Grade in forks of this process.

    It is for tests that change this process's modules or open files.
    """

    def graded(spare: bool) -> dict[str, Graded]:
        with sandbox.UnsafeBox() as place, Questions(place, spare=spare) as questions:
            run(notebook, questions)
            return judge_parts(name, questions, "tests", limits)

    with spoken(language_of(notebook)):
        try:
            return graded(spare=False)
        except Ended:
            return graded(spare=True)


def run(notebook: NotebookNode, questions: Questions) -> None:
    """Run the notebook in a fork of this process; collect its snapshots."""
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
