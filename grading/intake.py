"""What was handed in: found, read, and laid out so that nbgrader can grade all of it."""

import copy
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from . import exercises
from .seed import FOLDER

NOTEBOOK_BYTES = 20_000_000


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    `notebook` is None if nothing there can be graded; then `reason` says why. `remarks` are about
    what was set right without costing points.
    """

    student: str
    exercise: str
    folder: Path
    notebook: Path | None = None
    reason: str = ""
    remarks: tuple[str, ...] = ()

    def digest(self):
        """Changes when what was handed in changes."""
        content = self.notebook.read_bytes() if self.notebook else b""
        time = self.folder / "timestamp.txt"
        stamp = time.read_bytes() if time.is_file() else b""
        return hashlib.sha256(repr((self.reason, stamp)).encode() + content).hexdigest()


def submissions(course):
    """All submissions in the course folder, by student and exercise."""
    known = exercises.names()
    found = []
    for student in _folders(course / "submitted"):
        for folder in _folders(student):
            if folder.name in known:
                found.append(_submission(student.name, folder))
    return found


def strangers(course):
    """Folders in submitted/ that belong to no exercise, as lines to show."""
    known = exercises.names()
    return [
        f"{student.name}/{folder.name}: not the name of an exercise"
        for student in _folders(course / "submitted")
        for folder in _folders(student)
        if folder.name not in known
    ]


def _folders(parent):
    if not parent.is_dir():
        return []
    return sorted(
        path for path in parent.iterdir() if path.is_dir() and not path.name.startswith(".")
    )


def _submission(student, folder):
    exercise = folder.name
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]
    notebooks = [path for path in files if path.suffix == ".ipynb"]
    named = [path for path in notebooks if path.stem == exercise]
    alike = [path for path in notebooks if path.stem.startswith(exercise)]
    chosen = next((group[0] for group in (named, alike, notebooks) if len(group) == 1), None)
    remarks = []
    if chosen is None:
        several = "several notebooks, and none has the exercise's name"
        reason = several if notebooks else "there is no notebook in the folder"
        return Submission(student, exercise, folder, None, reason)
    if chosen.stem != exercise:
        remarks.append(f"the notebook was named {chosen.name}")
    aside = [path.name for path in files if path not in (chosen, folder / "timestamp.txt")]
    if aside:
        remarks.append(f"left aside: {', '.join(aside)}")
    reason = _unreadable(chosen)
    notebook = None if reason else chosen
    return Submission(student, exercise, folder, notebook, reason, tuple(remarks))


def _unreadable(path):
    """Why this file is no notebook, "" if it is one."""
    size = path.stat().st_size
    if size == 0:
        return "the file is empty"
    if size > NOTEBOOK_BYTES:
        return f"the file has more than {NOTEBOOK_BYTES // 10**6} MB"
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except UnicodeDecodeError:
        return "the file is not text"
    except Exception as error:  # whatever is wrong with it, it is no notebook
        kind = "JSON" if "JSON" in type(error).__name__ + str(error) else "a notebook"
        return f"the file is not {kind}"
    if not notebook.get("cells"):
        return "the notebook has no cells"
    return ""


def lay_out(course, submission, reason=""):
    """Put the submission, alone and under its right name, where nbgrader takes it from.

    With a reason, or where nothing can be graded, the empty exercise stands in for it and says why.
    """
    folder = inbox(course) / submission.student / submission.exercise
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target = folder / f"{submission.exercise}.ipynb"
    reason = reason or submission.reason
    if reason:
        stand_in = copy.deepcopy(nbformat.read(_released(course, submission.exercise), 4))
        stand_in.cells.insert(0, new_markdown_cell(f"**Could not be graded**: {reason}."))
        nbformat.write(stand_in, target)
    else:
        shutil.copyfile(submission.notebook, target)
    time = submission.folder / "timestamp.txt"
    if time.is_file() and not time.is_symlink():
        shutil.copyfile(time, folder / time.name)


def inbox(course):
    return course / FOLDER / "handed-in"


def _released(course, exercise):
    return course / "release" / exercise / f"{exercise}.ipynb"
