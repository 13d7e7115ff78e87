"""What is in submitted/: students' folders, and the notebook in each that counts.

Learners and platforms choose these names and files, so nothing here follows a link, waits for a
FIFO, or reads more than a notebook can have.
"""

import contextlib
import difflib
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.notebook import CHECK, defined, read
from grading.release import exercises

MOST_BYTES = 20_000_000  # of a notebook
MOST_TEXT = 128  # characters of a name or an address in nbgrader's gradebook
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # a browser may have added the last part
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")  # added by `nbgrader submit`
SYSTEM_FILES = {".DS_Store", ".git", ".ipynb_checkpoints", "Thumbs.db", "__MACOSX", "desktop.ini"}
MOST_DEPTH, MOST_FOLDERS, MOST_COPIES, MOST_NAMES = 3, 100, 20, 10
MOST_NAME_BYTES = 250  # on most file systems, with room for the dots of `downloads.put`
FORBIDDEN = set('<>"*?[]\\')  # in names: they mean something in HTML or in nbgrader's patterns
# Control and format characters, unassigned and private ones, surrogates, line separators.
UNPRINTABLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
JOINERS = {"\u200c", "\u200d", "\u200e", "\u200f"}  # Persian, Hindi, Hebrew names need these


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    path: of the notebook that counts. reason: why nothing can be graded, "" if it can. question:
    what the instructor should decide; until then `path` counts. digest: changes when any of this
    does, or the notebook, or what decides about its points.
    """

    student: str
    exercise: str
    folder: Path
    path: Path | None
    timestamp: bytes
    reason: str
    question: str
    remarks: tuple[str, ...]
    digest: str

    @property
    def key(self) -> tuple[str, str]:
        return self.student, self.exercise

    def read(self) -> tuple[bytes, str]:
        """Return (content, ""), or (b"", why it can't be graded)."""
        return read_file(self.path) if self.path and not self.reason else (b"", self.reason)


def name_problem(name: str) -> str:
    """Return why a student can't have this name, "" if one can."""
    if name.startswith("."):
        return "a name that begins with a dot is hidden"
    if len(name) > MOST_TEXT:
        return f"a name of more than {MOST_TEXT} characters"
    return "not a name that a student can have" if is_odd(name) or "/" in name else ""


def is_odd(name: str) -> bool:
    """Return whether a file of this name is not to be written."""
    return not 0 < len(name.encode(errors="replace")) <= MOST_NAME_BYTES or any(
        one in FORBIDDEN or (unicodedata.category(one) in UNPRINTABLE and one not in JOINERS)
        for one in name
    )


def printable(name: str) -> str:
    """Return a name as one short line."""
    text = "".join(one if one.isprintable() else "?" for one in name)
    return text if len(text) <= 80 else f"{text[:77]}..."


def nearest(name: str, among: Iterable[str]) -> str:
    """Return "; the nearest is …" for the end of a message, "" if none is near."""
    folded = {one.casefold(): one for one in sorted(among, reverse=True)}
    found = difflib.get_close_matches(
        name.casefold(), folded, 1, cutoff=0.4
    )  # "ada" for "ada@x.org"
    return f"; the nearest is {printable(folded[found[0]])!r}" if found else ""


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(map(printable, names[:MOST_NAMES])) + more


def read_file(path: Path, most: int = MOST_BYTES) -> tuple[bytes, str]:
    """Return (content, ""), or (b"", why this is no file that can be read)."""
    try:
        # A FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return b"", "it is not a file"
            content = file.read(most + 1)
    except OSError as error:
        return b"", f"the file cannot be read ({os.strerror(error.errno or 0)})"
    if len(content) > most:
        return b"", f"the file has more than {most / 10**6:g} MB"
    return content, "" if content else "the file is empty"


def entries(folder: Path) -> list[tuple[str, int]]:
    """Return (name, mode) of what is in a folder, sorted; links are not followed."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return sorted((one.name, one.stat(follow_symlinks=False).st_mode) for one in found)
    return []


def is_notebook(name: str) -> bool:
    return name.lower().endswith(NOTEBOOKS) and not name.startswith(".")


def students(course: Path) -> list[str]:
    """Return the students who have a folder in submitted/."""
    return [
        name
        for name, mode in entries(course / "submitted")
        if stat.S_ISDIR(mode) and name not in SYSTEM_FILES and not name_problem(name)
    ]


def submissions(course: Path, known: Sequence[str]) -> Iterator[Submission]:
    """Yield all submissions of the exercises `known`, by student and in their order."""
    for student in students(course):
        folders = _exercises(course / "submitted" / student, known)
        for exercise in known:
            if exercise in folders:
                folder = course / "submitted" / student / exercise
                yield submission(student, exercise, folder, known)


def _exercises(folder: Path, known: Sequence[str]) -> list[str]:
    """Return those of the exercises that have a folder in a student's."""
    return [name for name, mode in entries(folder) if stat.S_ISDIR(mode) and name in known]


def submission(student: str, exercise: str, folder: Path, known: Sequence[str]) -> Submission:
    """Return what a student's folder for one of the `known` exercises holds."""
    timestamp, _ = read_file(folder / "timestamp.txt", 1_000)
    notebooks = list(_notebooks(folder))
    name, question, note, content = "", "", "", b""
    reason = _unreadable(folder)
    if not reason and not notebooks:
        reason = "there is no notebook in the folder"
    if not reason:
        name, reason, question, note = choose(folder, notebooks, exercise)
    if name:
        content, reason = read_file(folder / name)
    if content and (other := _other_exercise(content, exercise, known)):
        reason = f"this is the notebook of {other}"
    remarks = [note] if note else []
    # Canvas numbers the files of a second hand-in.
    if name and not re.fullmatch(rf"{re.escape(exercise)}(-\d+)?\.ipynb", name):
        remarks.append(f"the notebook was named {printable(name)}")
    aside = {one for one, mode in entries(folder) if not stat.S_ISDIR(mode)} | set(notebooks)
    aside -= {name, *EXCHANGE_FILES, *SYSTEM_FILES}
    if aside:
        remarks.append(f"left aside: {listed(sorted(aside))}")
    about = repr((name, reason, question, timestamp, remarks)).encode("utf-8", "replace")
    return Submission(
        student,
        exercise,
        folder,
        folder / name if name else None,
        timestamp,
        reason,
        question,
        tuple(remarks),
        f"{exercises.version(exercise)[:16]}-{hashlib.sha256(about + content).hexdigest()}",
    )


def _notebooks(folder: Path) -> Iterator[str]:
    """Yield the paths of notebooks in a folder and, since archives add some, in folders in it."""
    waiting: list[tuple[str, ...]] = [()]
    for _ in range(MOST_FOLDERS):
        if not waiting:
            return
        below = waiting.pop(0)
        for name, mode in entries(folder.joinpath(*below)):
            if is_notebook(name) and stat.S_ISREG(mode):
                yield "/".join((*below, name))
            elif stat.S_ISDIR(mode) and name[0] not in "._" and len(below) < MOST_DEPTH:
                waiting.append((*below, name))


# --- several notebooks in one folder -------------------------------------------------------------


def choose(folder: Path, notebooks: Sequence[str], exercise: str) -> tuple[str, str, str, str]:
    """Return (the notebook that counts, why none does, a question, a note).

    Browsers and JupyterLab save copies, such as `int8-matmul (1).ipynb`, beside a notebook that may
    be as it was released. So the one counts that holds all answers of the others. If their answers
    differ, the one with the exercise's name does until the instructor decides, and else none.
    """
    ranked = sorted(notebooks, key=lambda path: _rank(path, exercise))
    if len(ranked) == 1:
        return ranked[0], "", "", ""
    answers = {path: _answers(folder / path, exercise) for path in ranked[:MOST_COPIES]}
    best = max(answers, key=lambda path: len(answers[path]))
    if not answers[best]:
        return ranked[0], "", "", f"several notebooks without answers: {listed(ranked)}"
    others = [path for path in answers if not answers[path].items() <= answers[best].items()]
    if not others:
        return best, "", "", f"{printable(best)} counts, of {listed(ranked)}"
    said = f"several notebooks with different answers: {listed([best, *others])}"
    first = next(path for path in ranked if path in (best, *others))
    tied = [
        path for path in (best, *others) if _rank(path, exercise)[:3] == _rank(first, exercise)[:3]
    ]
    if len(tied) > 1:
        return "", f"{said}; remove all but the one that counts", "", ""
    return first, "", f"{said}; {printable(first)} counts until you remove it", ""


def _rank(path: str, exercise: str) -> tuple[bool, bool, bool, int, str]:
    """Return a rank that is lower the more a path is like the expected one."""
    name, wanted = path.rpartition("/")[2], exercise.casefold()
    stem = name.casefold().partition(".ipynb")[0]
    is_named, begins = stem == wanted, stem.startswith(wanted)
    return name != f"{exercise}.ipynb", not is_named, not begins, path.count("/"), path


def _answers(path: Path, exercise: str) -> Mapping[str, Any]:
    """Return function of the exercise → what is written for it; {} if the file can't be read."""
    content, problem = read_file(path)
    try:
        cells = [] if problem else read(content)[0]
    except ValueError:
        return {}
    wanted = {part.function for part in exercises.load(exercise).parts}
    checks = {part.key for part in exercises.load(exercise).parts}
    if not any(f'check("{key}"' in cell.source for key in checks for cell in cells):
        return {}  # another exercise's notebook, which may have functions of the same names
    found: dict[str, Any] = {}
    for cell in cells:
        own = defined(cell.source)
        found |= {name: own[name] for name in wanted & own.keys() if own[name]}
    return found


def _other_exercise(content: bytes, exercise: str, known: Sequence[str]) -> str:
    """Return the exercise whose checks most of a notebook's cells call, "" if it is this one."""
    try:
        called = {found[1] for cell in read(content)[0] if (found := CHECK.match(cell.source))}
    except ValueError:
        return ""
    if called <= {part.key for part in exercises.load(exercise).parts}:
        return ""
    published = sorted(path.stem for path in exercises.FOLDER.glob("*.py"))  # the site has all
    count = {
        name: len(called & {part.key for part in exercises.load(name).parts})
        for name in dict.fromkeys((*known, exercise, *published))
    }
    best = max(count, key=lambda name: (count[name], name == exercise))
    return "" if count[best] == count[exercise] else best


# --- what is in the wrong place ------------------------------------------------------------------


def misplaced(course: Path, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (path below submitted/, problem) of what is not graded because of where it is."""
    base = course / "submitted"
    for student, mode in entries(base):
        place, is_folder = base / student, stat.S_ISDIR(mode)
        own = (name_problem(student) or _unreadable(place)) if is_folder else _stray(place, mode)
        if own:
            yield printable(student), own
        elif is_folder and student not in SYSTEM_FILES:
            for name, inner in entries(place):
                if not stat.S_ISDIR(inner):
                    problem = _stray(place / name, inner)
                else:
                    is_known = name in (*known, *SYSTEM_FILES)
                    problem = "" if is_known else _exercise_problem(name, known)
                if problem:
                    yield f"{student}/{printable(name)}", problem


def _stray(path: Path, mode: int) -> str:
    """Return what is wrong with something that is no folder."""
    if stat.S_ISLNK(mode) and path.is_dir():
        return "a link and not a folder"
    is_file = stat.S_ISREG(mode) and path.name not in SYSTEM_FILES
    return "a notebook must lie in STUDENT/EXERCISE/" if is_file and is_notebook(path.name) else ""


def _exercise_problem(name: str, known: Iterable[str]) -> str:
    if name in exercises.names():
        return "this exercise was not released"
    return "" if name.startswith(".") else f"not the name of an exercise{nearest(name, known)}"


def _unreadable(folder: Path) -> str:
    try:
        os.scandir(folder).close()
    except OSError as error:
        return f"the folder cannot be read ({os.strerror(error.errno or 0)})"
    return ""
