"""What was handed in: found and read with care, as anything may stand in its place."""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grading.intake import careful
from grading.intake.copies import NAMES_SHOWN, NOTEBOOK_BYTES, choose
from grading.intake.names import shown, unfit
from grading.release import exercises

STAMP_BYTES = 1_000
ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json")
EXCHANGED = ("timestamp.txt", "submission_secret.txt")  # which `nbgrader submit` puts beside it
LITTER = {".DS_Store", ".git", ".ipynb_checkpoints", "Thumbs.db", "__MACOSX", "desktop.ini"}
DEEPEST, FOLDERS = 3, 100  # below an exercise's folder, in which a notebook is looked for
LINK = "a link and not a folder"
NOT_AN_EXERCISE = "not the name of an exercise"
MODULES = {*sys.stdlib_module_names, "IPython", "ipykernel", "matplotlib", "numpy", "rooflib"}


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    notebook: None if nothing there can be graded; then `reason` says why. remarks: what was put
    right without costing points. tampering: what rarely happens by accident.
    question: what the instructor has to decide, though the notebook is graded meanwhile. note: that
    copies with less work do not count.
    """

    student: str
    exercise: str
    folder: Path
    notebook: Path | None = None
    reason: str = ""
    remarks: tuple[str, ...] = ()
    tampering: tuple[str, ...] = ()
    question: str = ""
    note: str = ""

    def read(self) -> tuple[bytes, bytes, str]:
        """(content of the notebook, of timestamp.txt, why the notebook has none)."""
        base = self.folder.parents[1]  # submitted/
        found, reason = b"", self.reason
        if self.notebook is not None:
            place = self.notebook.relative_to(base).parts
            found, reason = careful.content(base, place, NOTEBOOK_BYTES)
        place = (*self.folder.relative_to(base).parts, "timestamp.txt")
        stamp, problem = careful.content(base, place, STAMP_BYTES)
        return found, b"" if problem else stamp, reason


def digest(content: bytes, stamp: bytes, reason: str) -> str:
    """Changes when what was handed in changes."""
    return hashlib.sha256(repr((reason, stamp)).encode() + content).hexdigest()


def submissions(course: Path) -> list[Submission]:
    """All submissions in the course folder, by student and exercise."""
    base = course / "submitted"
    return [
        _submission(base, student, folder, exercise)
        for student in _students(base)
        for exercise, folder in sorted(_exercises(base, student).items())
    ]


def handed_in(course: Path) -> list[str]:
    """The students who have a folder in submitted/."""
    return _students(course / "submitted")


def strangers(course: Path) -> list[str]:
    """What in submitted/ lies or is named so that it can't be graded, as lines to show."""
    base = course / "submitted"
    return [f"{place}: {problem}" for place, problem in _strange(base)]


def refused_students(course: Path) -> list[tuple[str, str]]:
    """(name, fit to be shown; why it is refused) of each folder that may be a student's."""
    base = course / "submitted"
    return [
        (shown(name), problem)
        for name, mode in _entries(base)
        if stat.S_ISDIR(mode) and name not in LITTER and (problem := unfit(name))
    ]


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


def _students(base: Path) -> list[str]:
    return [name for name, mode in _entries(base) if stat.S_ISDIR(mode) and not unfit(name)]


def _exercises(base: Path, student: str) -> dict[str, str]:
    """Exercise → the name of its folder, which may be in other letters."""
    known = {name.casefold(): name for name in exercises.names()}
    found: dict[str, str] = {}
    for name, mode in _entries(base, student):
        exercise = known.get(name.casefold())
        if exercise and stat.S_ISDIR(mode) and (name == exercise or exercise not in found):
            found[exercise] = name
    return found


def _strange(base: Path) -> Iterator[tuple[str, str]]:
    """(place, problem)"""
    for name, mode in _entries(base):
        if name in LITTER:
            continue
        if stat.S_ISLNK(mode):
            if (base / name).is_dir():
                yield shown(name), LINK
        elif not stat.S_ISDIR(mode):
            if _looks_like_a_notebook(name):
                yield shown(name), "a notebook must lie in STUDENT/EXERCISE/"
        elif problem := unfit(name) or _closed(base, name):
            yield shown(name), problem
        else:
            for inner, why in _strange_of(base, name):
                yield f"{name}/{inner}", why


def _strange_of(base: Path, student: str) -> Iterator[tuple[str, str]]:
    taken = _exercises(base, student)
    known = {name.casefold() for name in exercises.names()}
    for name, mode in _entries(base, student):
        is_folder = stat.S_ISDIR(mode)
        if name in LITTER or name in taken.values():
            continue
        if stat.S_ISLNK(mode) and (base / student / name).is_dir():
            exercise = name.casefold() in known
            yield shown(name), LINK if exercise else NOT_AN_EXERCISE
        elif is_folder and name.casefold() in known:
            yield shown(name), "the exercise has another folder"
        elif is_folder and (not name.startswith(".") or name.lstrip(".").casefold() in known):
            yield shown(name), NOT_AN_EXERCISE
        elif not is_folder and _looks_like_a_notebook(name):
            yield shown(name), "a notebook must lie in a folder with the name of its exercise"


def _closed(base: Path, student: str) -> str:
    """Why what is in this folder can't be seen, "" if it can."""
    try:
        careful.entries(base, (student,))
    except OSError as error:
        return careful.why(error, "the folder")
    return ""


def _entries(base: Path, *parts: str) -> list[tuple[str, int]]:
    try:
        return careful.entries(base, parts)
    except OSError:
        return []


def _submission(base: Path, student: str, name: str, exercise: str) -> Submission:
    folder = base / student / name
    try:
        there = careful.entries(base, (student, name))
    except OSError as error:
        return Submission(student, exercise, folder, None, careful.why(error, "the folder"))
    files = [one for one, mode in there if not stat.S_ISDIR(mode)]
    remarks = []
    notebooks = _notebooks(base, (student, name))
    chosen, reason, question, note = choose(base, (student, name), notebooks, exercise)
    if chosen is None:
        return Submission(student, exercise, folder, None, reason)
    if name != exercise:
        remarks.append(f"the folder was named {shown(name)}")
    if chosen != (f"{exercise}.ipynb",):
        remarks.append(f"the notebook was named {shown('/'.join(chosen))}")
    aside = [one for one in files if one not in EXCHANGED and one not in LITTER]
    aside += ["/".join(path) for path in notebooks if len(path) > 1]
    aside = [one for one in aside if one != "/".join(chosen)]
    if aside:
        names = ", ".join(map(shown, aside[:NAMES_SHOWN]))
        more = f" and {len(aside) - NAMES_SHOWN} more" if len(aside) > NAMES_SHOWN else ""
        remarks.append(f"left aside: {names}{more}")
    tampering = [
        f"{one} lay beside the notebook and has the name of a module that it uses"
        for one, _ in there
        if one.removesuffix(".py") in MODULES
    ]
    return Submission(
        student,
        exercise,
        folder,
        folder.joinpath(*chosen),
        "",
        tuple(remarks),
        tuple(tampering),
        question,
        note,
    )


def _notebooks(base: Path, place: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Notebooks in this folder and in those below it, where archives unpack; paths from it."""
    found: list[tuple[str, ...]] = []
    waiting: list[tuple[str, ...]] = [()]
    looked = 0
    while waiting and looked < FOLDERS:
        here = waiting.pop(0)
        looked += 1
        for name, mode in _entries(base, *place, *here):
            if _is_notebook(name, mode):
                found.append((*here, name))
            elif stat.S_ISDIR(mode) and name[0] not in "._" and len(here) < DEEPEST:
                waiting.append((*here, name))
    return found


def _is_notebook(name: str, mode: int) -> bool:
    return _looks_like_a_notebook(name) and stat.S_ISREG(mode)


def _looks_like_a_notebook(name: str) -> bool:
    """Also with what browsers and mail programs put behind its name; not what macOS hides."""
    return name.lower().endswith(ENDINGS) and not name.startswith(".")
