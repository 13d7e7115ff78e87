"""What was handed in: found and read with care, as anything may stand in its place."""

import hashlib
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from grading.release import exercises

NOTEBOOK_BYTES = 20_000_000
STAMP_BYTES = 1_000
NAMES_SHOWN = 10
MODULES = {*sys.stdlib_module_names, "IPython", "ipykernel", "matplotlib", "numpy", "rooflib"}


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    notebook: None if nothing there can be graded; then `reason` says why. remarks: what was put
    right without costing points. tampering: what rarely happens by accident.
    """

    student: str
    exercise: str
    folder: Path
    notebook: Path | None = None
    reason: str = ""
    remarks: tuple[str, ...] = ()
    tampering: tuple[str, ...] = ()

    def read(self) -> tuple[bytes, bytes, str]:
        """(content of the notebook, of timestamp.txt, why the notebook has none)."""
        content, reason = b"", self.reason
        if self.notebook is not None:
            content, reason = _read(self.notebook, NOTEBOOK_BYTES)
        stamp, problem = _read(self.folder / "timestamp.txt", STAMP_BYTES)
        return content, b"" if problem else stamp, reason


def digest(content: bytes, stamp: bytes, reason: str) -> str:
    """Changes when what was handed in changes."""
    return hashlib.sha256(repr((reason, stamp)).encode() + content).hexdigest()


def submissions(course: Path) -> list[Submission]:
    """All submissions in the course folder, by student and exercise."""
    known = exercises.names()
    return [
        _submission(student.name, folder)
        for student in _folders(course / "submitted")
        if not _unfit(student)
        for folder in _folders(student)
        if folder.name in known and not folder.is_symlink()
    ]


def strangers(course: Path) -> list[str]:
    """Folders in submitted/ that belong to no exercise, as lines to show."""
    known = exercises.names()
    lines = []
    for student in _folders(course / "submitted"):
        if problem := _unfit(student) or _closed(student):
            lines.append(f"{shown(student.name)}: {problem}")
            continue
        for folder in _folders(student):
            place = f"{student.name}/{shown(folder.name)}"
            if folder.name not in known:
                lines.append(f"{place}: not the name of an exercise")
            elif folder.is_symlink():
                lines.append(f"{place}: a link and not a folder")
    return lines


def refuse_odd_files(folder: Path) -> None:
    """Raise a ValueError if nbgrader, which copies the folder, would trip over something in it."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ValueError(f"{shown(name)} is neither a file nor a folder; take it out")
            if path.suffix == ".ipynb" and path.stat().st_size > NOTEBOOK_BYTES:
                raise ValueError(f"{shown(name)} has more than {NOTEBOOK_BYTES // 10**6} MB")


def shown(name: str) -> str:
    """A name that somebody chose, fit for a line of a report."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _unfit(student: Path) -> str:
    """Why this folder can't be a student's, "" if it can."""
    if student.is_symlink():
        return "a link and not a folder"
    # Pages that list students don't all take care of what HTML would be.
    odd = student.name != shown(student.name) or set(student.name) & set('<>"')
    return "not a name that a student can have" if odd else ""


def _closed(folder: Path) -> str:
    """Why what is in this folder can't be seen, "" if it can."""
    try:
        for path in folder.iterdir():
            path.lstat()
    except OSError as error:
        return _why(error, "the folder")
    return ""


def _folders(parent: Path) -> list[Path]:
    try:
        paths = [path for path in sorted(parent.iterdir()) if path.is_dir()]
    except OSError:
        return []
    return [path for path in paths if not path.name.startswith(".")]


def _submission(student: str, folder: Path) -> Submission:
    exercise = folder.name
    try:
        paths = sorted(folder.iterdir())
        files = [path for path in paths if not path.is_dir()]
    except OSError as error:
        return Submission(student, exercise, folder, None, _why(error, "the folder"))
    notebooks = [path for path in files if path.suffix == ".ipynb" and _is_file(path)]
    named = [path for path in notebooks if path.stem == exercise]
    alike = [path for path in notebooks if path.stem.startswith(exercise)]
    chosen = next((group[0] for group in (named, alike, notebooks) if len(group) == 1), None)
    remarks = []
    if chosen is None:
        several = "several notebooks, and none has the exercise's name"
        reason = several if notebooks else "there is no notebook in the folder"
        return Submission(student, exercise, folder, None, reason)
    if chosen.stem != exercise:
        remarks.append(f"the notebook was named {shown(chosen.name)}")
    aside = [path.name for path in files if path not in (chosen, folder / "timestamp.txt")]
    if aside:
        names = ", ".join(map(shown, aside[:NAMES_SHOWN]))
        more = f" and {len(aside) - NAMES_SHOWN} more" if len(aside) > NAMES_SHOWN else ""
        remarks.append(f"left aside: {names}{more}")
    tampering = [
        f"{path.name} lay beside the notebook and has the name of a module that it uses"
        for path in paths
        if path.name.removesuffix(".py") in MODULES and path.suffix in (".py", "")
    ]
    return Submission(student, exercise, folder, chosen, "", tuple(remarks), tuple(tampering))


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _read(path: Path, most: int) -> tuple[bytes, str]:
    """(content, why there is none) of a file that may be anything."""
    try:
        # Without following a link, or waiting for whoever would write into a FIFO.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return b"", _why(error, "the file")
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        return b"", "it is not a file"
    with os.fdopen(file, "rb") as stream:
        try:
            content = stream.read(most + 1)
        except OSError as error:
            return b"", _why(error, "the file")
    if len(content) > most:
        return b"", f"the file has more than {most / 10**6:g} MB"
    return content, "" if content else "the file is empty"


def _why(error: OSError, what: str) -> str:
    return f"{what} cannot be read ({os.strerror(error.errno or 0)})"
