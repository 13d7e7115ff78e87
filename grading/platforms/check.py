"""Finds what an instructor can put right before grading, and changes nothing."""

import functools
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import SubmittedAssignment  # type: ignore[import-untyped]

from grading.allowed_modules import modules_folder
from grading.intake import careful, reading
from grading.intake.missing_modules import missing_modules
from grading.intake.names import shown
from grading.intake.submissions import Submission, strangers, submissions
from grading.limits import Overrun, apart
from grading.platforms.members import Members, members
from grading.records import gradebook
from grading.sandbox import modules
from grading.settings import database
from grading.work import Unable

ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz")
MAX_DEPTH, MAX_FOLDERS = 5, 200  # below a student's folder, in which archives are looked for
TOO_MUCH = "reading it takes more than there is for one"


def check(folder: Path) -> tuple[list[str], str]:
    """(lines: what is wrong, where, and what to do; one line about all of it).

    Raises Unable if this is not a course folder.
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
        *_phantoms(folder, about, extensions),
        *(f"submitted/{line}" for line in strangers(folder)),
        *_archives(folder / "submitted", sorted(about.handed_in)),
        *_notebooks(folder, found),
    ]
    summary = f"{_counted(len(found), 'hand-in')} of {_counted(len(about.handed_in), 'student')}"
    summary += f", {len(about.roster)} in the roster" if about.roster else ", no roster"
    return lines, f"{summary}: {len(lines) or 'nothing'} to put right"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _extensions(session: Any) -> dict[str, list[str]]:
    """Student → exercises for which there is an extension."""
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
        yield f"submitted/{shown(student)}: not in the roster; {rename}enter the person with roster"


def _phantoms(
    folder: Path, about: Members, extensions: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Whoever stands in the gradebook alone, as by an extension for a mistyped name."""
    for student in sorted(about.known - about.all):
        granted = ", ".join(sorted(extensions.get(student, ())))
        nearest = about.nearest(student)
        words = [
            ".venv/bin/python",
            "-m",
            "grading",
            "nbgrader",
            str(folder),
            "db",
            "student",
            "remove",
        ]
        yield (
            f"gradebook: {shown(student)} is not in the class"
            + (f" and has an extension for {granted}" if granted else "")
            + (f"; if {nearest} is meant, grant it again with due" if granted and nearest else "")
            + f"; remove with {shlex.join([*words, student, '--force'])}"
        )


def _archives(base: Path, students: Sequence[str]) -> Iterator[str]:
    for place in [(), *((student,) for student in students)]:
        for path in _files(base, place, deep=bool(place)):
            if path[-1].lower().endswith(ARCHIVES):
                todo = "unpack it there" if place else "take it in with collect"
                yield f"submitted/{'/'.join(map(shown, path))}: not opened; {todo}"


def _files(base: Path, place: tuple[str, ...], deep: bool) -> Iterator[tuple[str, ...]]:
    """Files in a folder and, if `deep`, in those below it, as paths from `base`."""
    waiting = [place]
    for _ in range(MAX_FOLDERS):
        if not waiting:
            return
        here = waiting.pop(0)
        try:
            entries = careful.entries(base, here)
        except OSError:
            continue
        for name, mode in entries:
            if stat.S_ISREG(mode) and not name.startswith("."):
                yield (*here, name)
            elif stat.S_ISDIR(mode) and deep and name[0] not in "._" and len(here) < MAX_DEPTH:
                waiting.append((*here, name))


def _notebooks(folder: Path, found: Sequence[Submission]) -> Iterator[str]:
    by_student: dict[str, list[Submission]] = {}
    for one in found:
        by_student.setdefault(one.student, []).append(one)
    for own in by_student.values():
        try:
            problems = apart(functools.partial(_problems, folder, own))
        except (Overrun, RuntimeError):
            problems = [[TOO_MUCH] for _ in own]
        for one, said in zip(own, problems, strict=True):
            for line in said:
                yield f"submitted/{shown(one.student)}/{one.folder.name}: {line}"


def _problems(folder: Path, own: Sequence[Submission]) -> list[list[str]]:
    """What is wrong with each of these hand-ins."""
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
        nb = reading.of_bytes(content)
    except MemoryError:
        raise
    except Exception:  # whatever is wrong with it, it is no notebook
        yield "the file is not a notebook; ask for it again"
        return
    if missing := missing_modules(nb):
        names = " ".join(map(shown, missing))
        yield f"imports what is not installed: {names}; grade --allow PACKAGE installs it"
