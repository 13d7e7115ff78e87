"""A scratch course folder, with submissions where nbgrader looks for them."""

import copy
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from submissions import Submission, hand_in, submissions

from grading.course import Course
from grading.release import exercises


class Classroom:
    """A course folder with methods to hand in and read notebooks.

    release: a course folder to start from as a copy, such as the fixture `release`.
    """

    def __init__(self, folder: Path, release: Path | None = None) -> None:
        if release is not None:
            shutil.copytree(release, folder, dirs_exist_ok=True)
        self.course = Course(folder)
        self.folder = self.course.folder

    def released(self, name: str) -> NotebookNode:
        return nbformat.read(self.folder / "release" / name / f"{name}.ipynb", as_version=4)

    def solved(self, name: str, submission: str = "") -> NotebookNode:
        """Return the released notebook, solved by a submission or by the reference."""
        found = [one for one in submissions(name) if one.name == submission]
        mine = found[0] if found else Submission(name, "reference", "", {})
        return hand_in(mine, self.released(name), exercises.source(name), functions(name))

    def folder_of(self, student: str, name: str) -> Path:
        folder = self.folder / "submitted" / student / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def hand_in(self, student: str, name: str, notebook: NotebookNode) -> Path:
        path = self.folder_of(student, name) / f"{name}.ipynb"
        nbformat.write(notebook, path)
        return path

    def graded(self, student: str, name: str) -> NotebookNode:
        return nbformat.read(self.course.graded(student, name), as_version=4)

    def nbgrader(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a real nbgrader command in the course folder."""
        binaries = Path(sys.executable).parent
        return subprocess.run(
            [binaries / "nbgrader", *words],
            cwd=self.folder,
            env=os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )


def done(command: subprocess.CompletedProcess[str]) -> None:
    """Check that a command succeeded."""
    assert command.returncode == 0, command.stderr[-4000:]


@functools.cache
def functions(name: str) -> dict[str, str]:
    """Return part → name of its function."""
    return {part.key: part.function for part in exercises.load(name).parts}


def points(name: str) -> dict[str, float]:
    """Return part → points that it is worth."""
    return {part.key: part.points for part in exercises.load(name).parts}


def cell(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    """Return the cell with this nbgrader id."""
    (found,) = (
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )
    return found


def code(source: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source)


def with_first(notebook: NotebookNode, source: str) -> NotebookNode:
    """Return a copy of the notebook with another code cell in front."""
    notebook = copy.deepcopy(notebook)
    notebook.cells.insert(0, code(source))
    return notebook
