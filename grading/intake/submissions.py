"""Discovery and reading of submissions in a course folder.

Learners may have put anything there.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grading.intake import safe_files
from grading.intake.copies import MAX_NOTEBOOK_BYTES, choose, name_list
from grading.intake.names import name_problem, printable
from grading.release import exercises

MAX_TIMESTAMP_BYTES = 1_000
NOTEBOOK_SUFFIXES = (".ipynb", ".ipynb.txt", ".ipynb.json")
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")  # added by `nbgrader submit`
SYSTEM_FILES = {".DS_Store", ".git", ".ipynb_checkpoints", "Thumbs.db", "__MACOSX", "desktop.ini"}
MAX_DEPTH, MAX_FOLDERS = 3, 100  # limits of the search for notebooks
LINK = "a link and not a folder"
NOT_AN_EXERCISE = "not the name of an exercise"
LIBRARIES = {"IPython", "ipykernel", "matplotlib", "numpy", "rooflib"}
IMPORTED_MODULES = {*sys.stdlib_module_names, *LIBRARIES}


@dataclass(frozen=True)
class Submission:
    """One student's submission for one exercise.

    notebook: None if nothing there can be graded; then `reason` says why. remarks: what was
    corrected without loss of points. tampering: differences that are rarely accidental. question:
    what the instructor has to decide; until then `notebook` is graded. note: which copies do not
    count.
    """

    student: str
    exercise: str
    folder: Path
    notebook: Path | None
    reason: str
    remarks: tuple[str, ...] = ()
    tampering: tuple[str, ...] = ()
    question: str = ""
    note: str = ""

    def read(self) -> tuple[bytes, bytes, str]:
        """Return (notebook content, content of timestamp.txt, problem).

        The problem says why the notebook is unreadable; it is "" if it could be read.
        """
        base = self.folder.parents[1]  # submitted/
        content, reason = b"", self.reason
        if self.notebook is not None:
            path = self.notebook.relative_to(base).parts
            content, reason = safe_files.read(base, path, MAX_NOTEBOOK_BYTES)
        path = (*self.folder.relative_to(base).parts, "timestamp.txt")
        timestamp, _ = safe_files.read(base, path, MAX_TIMESTAMP_BYTES)
        return content, timestamp, reason


def digest(content: bytes, timestamp: bytes, reason: str) -> str:
    """Return a digest that changes when the submission changes."""
    return hashlib.sha256(repr((reason, timestamp)).encode() + content).hexdigest()


def submissions(course: Path) -> list[Submission]:
    """Return all submissions in the course folder, by student and exercise."""
    base = course / "submitted"
    return [
        _submission(base, student, folder, exercise)
        for student in _students(base)
        for exercise, folder in sorted(_exercises(base, student).items())
    ]


def handed_in(course: Path) -> list[str]:
    """Return the students who have a folder in submitted/."""
    return _students(course / "submitted")


def misplaced(course: Path) -> list[str]:
    """Return a line for each entry of submitted/ that is misplaced or misnamed.

    Such entries are not graded.
    """
    base = course / "submitted"
    return [f"{path}: {problem}" for path, problem in _misplaced(base)]


def refused_students(course: Path) -> list[tuple[str, str]]:
    """Return (printable name, problem) of each student folder with an invalid name."""
    folders = _student_folders(course / "submitted")
    return [(printable(name), problem) for name in folders if (problem := name_problem(name))]


def refuse_special_files(folder: Path) -> None:
    """Raise ValueError if the folder holds symlinks, FIFOs or oversized notebooks.

    nbgrader would copy the whole folder.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ValueError(f"{printable(name)} is neither a file nor a folder; take it out")
            if path.suffix == ".ipynb" and path.stat().st_size > MAX_NOTEBOOK_BYTES:
                size = f"more than {MAX_NOTEBOOK_BYTES // 10**6} MB"
                raise ValueError(f"{printable(name)} has {size}")


def _students(base: Path) -> list[str]:
    return [name for name in _student_folders(base) if not name_problem(name)]


def _student_folders(base: Path) -> list[str]:
    return [
        name for name, mode in _entries(base) if stat.S_ISDIR(mode) and name not in SYSTEM_FILES
    ]


def _exercises(base: Path, student: str) -> dict[str, str]:
    """Return exercise → the name of its folder, which may differ in letter case."""
    known = {name.casefold(): name for name in exercises.names()}
    found: dict[str, str] = {}
    for name, mode in _entries(base, student):
        exercise = known.get(name.casefold())
        if exercise and stat.S_ISDIR(mode) and (name == exercise or exercise not in found):
            found[exercise] = name
    return found


def _misplaced(base: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, problem) of each misplaced entry of submitted/."""
    for name, mode in _entries(base):
        if name in SYSTEM_FILES:
            continue
        if stat.S_ISLNK(mode):
            if (base / name).is_dir():
                yield printable(name), LINK
        elif not stat.S_ISDIR(mode):
            if _looks_like_a_notebook(name):
                yield printable(name), "a notebook must lie in STUDENT/EXERCISE/"
        elif problem := name_problem(name) or _unreadable(base, name):
            yield printable(name), problem
        else:
            for inner, why in _misplaced_of(base, name):
                yield f"{name}/{inner}", why


def _misplaced_of(base: Path, student: str) -> Iterator[tuple[str, str]]:
    taken = _exercises(base, student)
    known = {name.casefold() for name in exercises.names()}
    for name, mode in _entries(base, student):
        is_folder = stat.S_ISDIR(mode)
        if name in SYSTEM_FILES or name in taken.values():
            continue
        if stat.S_ISLNK(mode) and (base / student / name).is_dir():
            exercise = name.casefold() in known
            yield printable(name), LINK if exercise else NOT_AN_EXERCISE
        elif is_folder and name.casefold() in known:
            yield printable(name), "the exercise has another folder"
        elif is_folder and (not name.startswith(".") or name.lstrip(".").casefold() in known):
            yield printable(name), NOT_AN_EXERCISE
        elif not is_folder and _looks_like_a_notebook(name):
            yield printable(name), "a notebook must lie in a folder with the name of its exercise"


def _unreadable(base: Path, student: str) -> str:
    """Return why this folder cannot be listed, "" if it can."""
    try:
        safe_files.list_folder(base, (student,))
    except OSError as error:
        return safe_files.reason(error, "the folder")
    return ""


def _entries(base: Path, *parts: str) -> list[tuple[str, int]]:
    try:
        return safe_files.list_folder(base, parts)
    except OSError:
        return []


def _submission(base: Path, student: str, name: str, exercise: str) -> Submission:
    folder = base / student / name
    try:
        entries = safe_files.list_folder(base, (student, name))
    except OSError as error:
        return Submission(student, exercise, folder, None, safe_files.reason(error, "the folder"))
    files = [entry for entry, mode in entries if not stat.S_ISDIR(mode)]
    remarks = []
    notebooks = _notebooks(base, (student, name))
    chosen, reason, question, note = choose(base, (student, name), notebooks, exercise)
    if chosen is None:
        return Submission(student, exercise, folder, None, reason)
    if name != exercise:
        remarks.append(f"the folder was named {printable(name)}")
    if chosen != (f"{exercise}.ipynb",):
        remarks.append(f"the notebook was named {printable('/'.join(chosen))}")
    ignored = [file for file in files if file not in EXCHANGE_FILES and file not in SYSTEM_FILES]
    ignored += ["/".join(path) for path in notebooks if len(path) > 1]
    ignored = [path for path in ignored if path != "/".join(chosen)]
    if ignored:
        remarks.append(f"left aside: {name_list(ignored)}")
    tampering = [
        f"{entry} lay beside the notebook and has the name of a module that it uses"
        for entry, _ in entries
        if entry.removesuffix(".py") in IMPORTED_MODULES
    ]
    return Submission(
        student,
        exercise,
        folder,
        folder.joinpath(*chosen),
        reason,
        tuple(remarks),
        tuple(tampering),
        question,
        note,
    )


def _notebooks(base: Path, folder: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the relative paths of notebooks below a folder, within search limits.

    Archives often add subfolders.
    """
    found: list[tuple[str, ...]] = []
    waiting: list[tuple[str, ...]] = [()]
    searched = 0
    while waiting and searched < MAX_FOLDERS:
        below = waiting.pop(0)
        searched += 1
        for name, mode in _entries(base, *folder, *below):
            if _is_notebook(name, mode):
                found.append((*below, name))
            elif stat.S_ISDIR(mode) and name[0] not in "._" and len(below) < MAX_DEPTH:
                waiting.append((*below, name))
    return found


def _is_notebook(name: str, mode: int) -> bool:
    return _looks_like_a_notebook(name) and stat.S_ISREG(mode)


def _looks_like_a_notebook(name: str) -> bool:
    """Return whether a name ends like a notebook's.

    A browser may have added .txt or .json.
    """
    return name.lower().endswith(NOTEBOOK_SUFFIXES) and not name.startswith(".")
