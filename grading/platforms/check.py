"""Reports problems that an instructor can fix before grading; changes nothing."""

import functools
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import SubmittedAssignment  # type: ignore[import-untyped]

from grading.allowed_modules import modules_folder
from grading.errors import Unable
from grading.intake import reading, safe_files
from grading.intake.missing_modules import missing_modules
from grading.intake.names import printable
from grading.intake.submissions import Submission, misplaced, submissions
from grading.limits import Overrun, run_limited
from grading.platforms.members import Members, members
from grading.records import gradebook
from grading.sandbox import modules
from grading.settings import database

ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz")
MAX_DEPTH, MAX_FOLDERS = 5, 200  # limits of the search for archives
TOO_MUCH = "reading it takes more than there is for one"


def check(folder: Path) -> tuple[list[str], str]:
    """Return (a line for each problem, with its path and a remedy; a summary).

    Raises Unable if `folder` is not a folder.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise Unable(f"{folder} is not a folder; name the course folder, such as my-class")
    with gradebook.read_only(database(folder)) as session:
        about = members(folder, session)
        extensions = _extensions(session)
    found = submissions(folder)
    lines = [
        *_not_in_roster(about),
        *_not_in_class(folder, about, extensions),
        *(f"submitted/{line}" for line in misplaced(folder)),
        *_archives(folder / "submitted", sorted(about.handed_in)),
        *_notebooks(folder, found),
    ]
    summary = f"{_counted(len(found), 'hand-in')} of {_counted(len(about.handed_in), 'student')}"
    summary += f", {len(about.roster)} in the roster" if about.roster else ", no roster"
    return lines, f"{summary}: {len(lines) or 'nothing'} to put right"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _extensions(session: Any) -> dict[str, list[str]]:
    """Return student → exercises whose due date was extended for this student."""
    found: dict[str, list[str]] = {}
    query = session.query(SubmittedAssignment) if session else ()
    for submission in query:
        if submission.extension:
            found.setdefault(submission.student_id, []).append(submission.name)
    return found


def _not_in_roster(about: Members) -> Iterator[str]:
    if not about.roster:
        return
    for student in sorted(about.handed_in - about.roster.keys()):
        free = about.roster.keys() - about.handed_in
        nearest = about.nearest(student, free) or about.nearest(student, about.roster)
        rename = f"rename the folder if it is {nearest}'s, or " if nearest else ""
        todo = f"{rename}enter the person with roster"
        yield f"submitted/{printable(student)}: not in the roster; {todo}"


def _not_in_class(
    folder: Path, about: Members, extensions: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Report students that exist only in the gradebook.

    A mistyped name may have created them.
    """
    for student in sorted(about.known - about.all):
        granted = ", ".join(sorted(extensions.get(student, ())))
        nearest = about.nearest(student)
        remove = [".venv/bin/python", "-m", "grading", "nbgrader", str(folder)]
        remove += ["db", "student", "remove", student, "--force"]
        yield (
            f"gradebook: {printable(student)} is not in the class"
            + (f" and has an extension for {granted}" if granted else "")
            + (f"; if {nearest} is meant, grant it again with due" if granted and nearest else "")
            + f"; remove with {shlex.join(remove)}"
        )


def _archives(base: Path, students: Sequence[str]) -> Iterator[str]:
    for folder in [(), *((student,) for student in students)]:
        for path in _files(base, folder, deep=bool(folder)):
            if path[-1].lower().endswith(ARCHIVES):
                todo = "unpack it there" if folder else "take it in with collect"
                yield f"submitted/{'/'.join(map(printable, path))}: not opened; {todo}"


def _files(base: Path, folder: tuple[str, ...], deep: bool) -> Iterator[tuple[str, ...]]:
    """Yield the paths of files in a folder, relative to `base`.

    With `deep`, files in subfolders are included.
    """
    waiting = [folder]
    for _ in range(MAX_FOLDERS):
        if not waiting:
            return
        parent = waiting.pop(0)
        try:
            entries = safe_files.list_folder(base, parent)
        except OSError:
            continue
        for name, mode in entries:
            if stat.S_ISREG(mode) and not name.startswith("."):
                yield (*parent, name)
            elif stat.S_ISDIR(mode) and deep and name[0] not in "._" and len(parent) < MAX_DEPTH:
                waiting.append((*parent, name))


def _notebooks(folder: Path, found: Sequence[Submission]) -> Iterator[str]:
    by_student: dict[str, list[Submission]] = {}
    for one in found:
        by_student.setdefault(one.student, []).append(one)
    for own in by_student.values():
        try:
            problems = run_limited(functools.partial(_problems, folder, own))
        except (Overrun, RuntimeError):
            problems = [[TOO_MUCH] for _ in own]
        for one, lines in zip(own, problems, strict=True):
            for line in lines:
                yield f"submitted/{printable(one.student)}/{one.folder.name}: {line}"


def _problems(folder: Path, own: Sequence[Submission]) -> list[list[str]]:
    """Return a list of problems for each of these submissions."""
    modules.use(modules_folder(folder))
    return [[line for line in _problems_of(one) if line] for one in own]


def _problems_of(one: Submission) -> Iterator[str]:
    content, _, reason = one.read()
    yield reason
    yield one.question
    yield f"several notebooks: {one.note}; remove the others" if one.note else ""
    if reason:
        return
    try:
        missing = missing_modules(reading.of_bytes(content))
    except MemoryError:
        raise
    except Exception:  # a malformed notebook can raise anything
        yield "the file is not a notebook; ask for it again"
    else:
        if missing:
            names = " ".join(map(printable, missing))
            yield f"imports what is not installed: {names}; grade --allow PACKAGE installs it"
