"""A class in a scratch course folder: hand in, run the instructor's commands, read the results."""

import contextlib
import copy
import csv
import functools
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from repository import ROOT
from submissions import Submission, hand_in, submissions

from grading.release import exercises

NAME = "int8-matmul"  # the exercise that most classes hand in
COMMAND = (sys.executable, "-m", "grading")


def command(
    *words: object, cwd: Path = ROOT, timeout: float = 600, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as an instructor does; return what it printed."""
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Check that a command succeeded; return its output."""
    assert done.returncode == 0, f"{done.args}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Check that a command failed with one line for a person; return the line.

    A progress bar may stand before it.
    """
    assert done.returncode not in (0, None), done.stdout
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    *_, last = done.stderr.replace("\r", "\n").splitlines() or [""]
    assert len(last) > 10, (done.stdout, done.stderr)
    return last


def on_the_page(*words: str) -> str:
    """Return the shortest command on the pages for instructors that has all these words."""
    pages = ("instructors.md", "instructors-year.md")
    text = "".join((ROOT / "chapters" / page).read_text(encoding="utf-8") for page in pages)
    fence = r"```.*?\n(.*?)```"
    lines = "".join(re.findall(fence, text, re.DOTALL)).splitlines()
    lines += re.findall("`([^`\n]+)`", re.sub(fence, "", text, flags=re.DOTALL))
    wanted = ("make ", "COURSE=", *words)
    found = [line for line in lines if all(one in line for one in wanted)]
    assert found, f"the pages have no command with {words}"
    return min(found, key=len)


class Classroom:
    """A course folder.

    release: a course folder to start from as a copy, such as the fixture `release`.
    """

    def __init__(self, folder: Path, release: Path | None = None) -> None:
        self.folder = folder
        if release is not None:
            shutil.copytree(release, folder, dirs_exist_ok=True)

    # ---- what learners do

    def released(self, name: str = NAME, language: str = "") -> NotebookNode:
        folder = f"release-{language}" if language else "release"
        return nbformat.read(self.folder / folder / name / f"{name}.ipynb", as_version=4)

    def solved(self, name: str = NAME, submission: str = "", language: str = "") -> NotebookNode:
        """Return the released notebook, solved by a submission or by the reference."""
        found = [one for one in submissions(name) if one.name == submission]
        mine = found[0] if found else Submission(name, "reference", "", {})
        return hand_in(mine, self.released(name, language))

    def folder_of(self, student: str, name: str = NAME) -> Path:
        folder = self.folder / "submitted" / student / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def hand_in(self, student: str, name: str, notebook: NotebookNode) -> Path:
        path = self.folder_of(student, name) / f"{name}.ipynb"
        path.write_text(nbformat.v4.writes(notebook), encoding="utf-8")
        return path

    # ---- what instructors do

    def run(self, step: str, *words: object) -> subprocess.CompletedProcess[str]:
        """Run `python -m grading step FOLDER words`."""
        return command(*COMMAND, step, self.folder, *words)

    def here(self, step: str, *words: object) -> subprocess.CompletedProcess[str]:
        """Do what `run` does, but in this process, which saves the start of Python."""
        from grading.__main__ import main  # takes a second

        arguments = [step, str(self.folder), *map(str, words)]
        out, errors, status = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                main(arguments)
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
                errors.write(ended.code if isinstance(ended.code, str) else "")
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())

    def grade(self, *words: object) -> str:
        return said(self.here("grade", *words))

    def nbgrader(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("nbgrader", *words)

    def gradebook(self) -> Any:
        return Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}", course_id="roofline")

    # ---- what they then read

    def table(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table such as `grades.csv`."""
        with (self.folder / name).open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def scores(self, name: str = NAME) -> dict[str, float]:
        rows = self.table("grades.csv")
        return {row["student"]: float(row["score"]) for row in rows if row["assignment"] == name}

    def causes(self, name: str = NAME) -> dict[str, dict[str, str]]:
        """Return student → part that lost points → cause."""
        found: dict[str, dict[str, str]] = {}
        for row in self.table("parts.csv"):
            if row["assignment"] == name:
                lost = (
                    {row["part"]: row["cause"]} if float(row["points"]) < float(row["of"]) else {}
                )
                found.setdefault(row["student"], {}).update(lost)
        return found

    def remarks(self, kind: str) -> list[dict[str, str]]:
        """Return the rows of `remarks.csv` of this kind, such as "changed"."""
        return [row for row in self.table("remarks.csv") if row["kind"] == kind]

    def not_graded(self) -> dict[str, str]:
        """Return student/exercise, or a place in submitted/, → why it was not graded."""
        return {
            "/".join(filter(None, (row["student"], row["assignment"]))): row["remark"]
            for row in self.remarks("not graded")
        }

    def graded(self, student: str, name: str = NAME) -> NotebookNode:
        path = self.folder / "autograded" / student / name / f"{name}.ipynb"
        return nbformat.read(path, as_version=4)

    def page(self, student: str, name: str = NAME) -> str:
        path = self.folder / "feedback" / student / name / f"{name}.html"
        return path.read_text(encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """Return all files that a person is given."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_file() and not name.startswith((".grading", "submitted", "gradebook.db")):
                found[name] = path.read_bytes()
        for name in ("report.html", "nbgrader_config.py"):  # name the folder
            found.pop(name, None)
        return found


@functools.cache
def points(name: str = NAME) -> dict[str, float]:
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


def answers(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells that a learner writes answers into."""
    return [
        one
        for one in notebook.cells
        if one.cell_type == "code" and one.metadata.get("nbgrader", {}).get("solution")
    ]


def code(source: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source)


def with_first(notebook: NotebookNode, source: str) -> NotebookNode:
    """Return a copy of the notebook with another code cell in front."""
    notebook = copy.deepcopy(notebook)
    notebook.cells.insert(0, code(source))
    return notebook
