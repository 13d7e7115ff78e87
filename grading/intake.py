"""What is in submitted/: students' folders, and the notebook in each that counts.

Learners and platforms choose these names and files, so nothing here follows a link, waits for a
FIFO, or reads more than a notebook can have.
"""

import hashlib
import itertools
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.notebook import CHECK, MOST_SOURCE, Cell, defined, read
from grading.release import exercises

MOST_BYTES = 20_000_000  # of a notebook
MOST_TEXT = 128  # characters of a name or an address in nbgrader's gradebook
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # a browser may have added the last part
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")  # added by `nbgrader submit`
SYSTEM_FILES = {".DS_Store", ".git", ".ipynb_checkpoints", "Thumbs.db", "__MACOSX", "desktop.ini"}
MOST_FOLDERS, MOST_COPIES, MOST_NAMES = 100, 20, 10
MOST_NAME_BYTES = 250  # on most file systems, with room for the dots of `downloads.put`
FORBIDDEN = set('<>"*?[]\\')  # in names: they mean something in HTML or in nbgrader's patterns
MISPLACED = "only a notebook in STUDENT/EXERCISE/ is graded, of an exercise that was released"
# Persian, Hindi, Hebrew names need these joiners and marks, others these spaces.
NEEDED = set("\u2002\u2003\u2009\u200c\u200d\u200e\u200f\u00a0\u202f\u3000")

Misplaced = tuple[str, str]  # a path below submitted/, and why it is not graded


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise.

    path: of the notebook that counts. reason: why nothing can be graded, "" if it can. question:
    what the instructor should decide; until then `path` counts. digest: changes when any of this
    does, or the notebook, or what decides about its points.
    """

    student: str
    exercise: str
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
        one in FORBIDDEN or not (one.isprintable() or one in NEEDED) for one in name
    )


def printable(name: str) -> str:
    """Return a name as one short line."""
    text = "".join(one if one.isprintable() else "?" for one in name)
    return text if len(text) <= 80 else f"{text[:77]}..."


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


def entries(folder: Path) -> tuple[list[tuple[str, int]], str]:
    """Return (sorted (name, mode) of what is in a folder, ""), or ([], why it can't be read).

    Links are not followed.
    """
    try:
        with os.scandir(folder) as found:
            return sorted((one.name, one.stat(follow_symlinks=False).st_mode) for one in found), ""
    except OSError as error:
        return [], f"the folder cannot be read ({os.strerror(error.errno or 0)})"


def submissions(course: Path, known: Sequence[str]) -> tuple[list[Submission], list[Misplaced]]:
    """Return (all submissions of the exercises `known`, what is not graded, and why).

    Both are sorted by student; exercises are in their order.
    """
    base = course / "submitted"
    found: list[Submission] = []
    elsewhere: list[Misplaced] = []
    for student, mode in entries(base)[0]:
        if student in SYSTEM_FILES:
            continue
        inside, problem = entries(base / student) if stat.S_ISDIR(mode) else ([], MISPLACED)
        if problem := name_problem(student) or problem:
            elsewhere.append((printable(student), problem))
            continue
        own = set()
        for name, inner in inside:
            if stat.S_ISDIR(inner) and name in known:
                own.add(name)
            elif name not in SYSTEM_FILES and not name.startswith("."):
                elsewhere.append((f"{student}/{printable(name)}", MISPLACED))
        found += [submission(student, one, base / student / one) for one in known if one in own]
    return found, elsewhere


def submission(student: str, exercise: str, folder: Path) -> Submission:
    """Return what a student's folder for an exercise holds."""
    timestamp, _ = read_file(folder / "timestamp.txt", 1_000)
    notebooks = list(_notebooks(folder))
    name, question, content, remarks = "", "", b"", []
    inside, reason = entries(folder)
    if not reason and not notebooks:
        reason = "there is no notebook in the folder"
    if not reason:
        name, question = choose(folder, notebooks, exercise)
        content, reason = read_file(folder / name)
    if not reason and (meant := _meant(_called(_cells(content)), exercise)) != exercise:
        reason = f"this is the notebook of {meant}"
    # Canvas numbers the files of a second hand-in.
    if name and not re.fullmatch(rf"{re.escape(exercise)}(-\d+)?\.ipynb", name):
        remarks.append(f"the notebook was named {printable(name)}")
    aside = {one for one, mode in inside if not stat.S_ISDIR(mode)} | set(notebooks)
    aside -= {name, *EXCHANGE_FILES, *SYSTEM_FILES}
    if aside:
        remarks.append(f"left aside: {listed(sorted(aside))}")
    about = repr((name, reason, question, timestamp, remarks)).encode("utf-8", "replace")
    return Submission(
        student,
        exercise,
        folder / name if name else None,
        timestamp,
        reason,
        question,
        tuple(remarks),
        f"{exercises.version(exercise)[:16]}-{hashlib.sha256(about + content).hexdigest()}",
    )


def _notebooks(folder: Path) -> Iterator[str]:
    """Yield the paths of notebooks in a folder and, since archives add some, in folders in it."""
    for parent, folders, _files in itertools.islice(os.walk(folder), MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name, mode in entries(Path(parent))[0]:
            if name.lower().endswith(NOTEBOOKS) and name[0] != "." and stat.S_ISREG(mode):
                yield str(Path(parent, name).relative_to(folder))


# --- several notebooks in one folder -------------------------------------------------------------


def choose(folder: Path, notebooks: Sequence[str], exercise: str) -> tuple[str, str]:
    """Return (the notebook that counts, a question to the instructor).

    Browsers and JupyterLab save copies, such as `int8-matmul (1).ipynb`, beside a notebook that may
    be as it was released. So the one with most answers counts, and of several the one whose name is
    most like the exercise's. There is a question if others hold other answers.
    """

    def unlike(path: str) -> tuple[bool, bool, int, str]:
        name = path.rpartition("/")[2]
        begins = name.casefold().startswith(exercise.casefold())
        return name != f"{exercise}.ipynb", not begins, len(path), path

    ranked = sorted(notebooks, key=unlike)
    if len(ranked) == 1:
        return ranked[0], ""
    answers = {path: _answers(folder / path, exercise) for path in ranked[:MOST_COPIES]}
    best = max(answers, key=lambda path: len(answers[path]))
    others = [path for path in answers if not answers[path].items() <= answers[best].items()]
    said = f"several notebooks with different answers: {listed([best, *others])}"
    return best, f"{said}; {printable(best)} counts until you remove it" if others else ""


def _cells(content: bytes) -> list[Cell]:
    try:
        return read(content)[0]
    except ValueError:  # which grading then says
        return []


def _answers(path: Path, exercise: str) -> Mapping[str, Any]:
    """Return function of the exercise → what is written for it; {} if the file can't be read."""
    cells = _cells(read_file(path)[0])
    called = _called(cells)
    if not called or _meant(called, exercise) != exercise:
        return {}  # a draft or another exercise's notebook may have functions of the same names
    wanted = {part.function for part in exercises.load(exercise).parts}
    found, left = dict[str, str](), MOST_SOURCE  # parsing takes time, at each grading
    for cell in cells:
        if any(name in cell.source for name in wanted) and (left := left - len(cell.source)) >= 0:
            found |= {name: code for name, code in defined(cell.source).items() if code}
    return {name: code for name, code in found.items() if name in wanted}


def _called(cells: Sequence[Cell]) -> set[str]:
    """Return the keys of the checks that a notebook calls."""
    return {found[1] for cell in cells if (found := CHECK.match(cell.source))}


def _meant(called: set[str], exercise: str) -> str:
    """Return the exercise that most of these checks are of: in doubt, this one."""

    def fitting(name: str) -> int:
        return len(called & {part.key for part in exercises.load(name).parts})

    if fitting(exercise) == len(called):
        return exercise
    return max((exercise, *exercises.names()), key=fitting)  # the first of equals
