"""The instructor's commands. Each takes a course, and returns lines to print or raises Unable."""

import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grading import downloads, gradebook
from grading.course import Course
from grading.files import Unable, replacing
from grading.intake import printable, submission
from grading.release import exercises
from grading.tables import People, Table
from roofkit.words import ORIGINAL


def run(command: str, course: Path, **options: Any) -> list[str]:
    """Run the command of this name with its options."""
    its = Course(course)
    if command not in ("release", "grade", "nbgrader"):  # these make no course of a mistyped name
        if not its.folder.exists():
            print(f"{its.folder} is a new course folder")
        its.prepare()
    return COMMANDS[command](its, **options)


def release(course: Course, exercise: Sequence[str], language: Sequence[str]) -> list[str]:
    languages = [code for code in language if code != ORIGINAL]
    course.release(exercise, languages)
    lines = [f"in {course.folder / 'release'}: {', '.join(course.names())}"]
    return lines + [f"in {code}: {course.folder / f'release-{code}'}" for code in languages]


def grade(course: Course, workers: int | None, scheduler: str) -> list[str]:
    if not course.given.is_dir():
        raise Unable(f"{course.given} is missing: no submissions to grade")
    if scheduler and workers:
        raise Unable("--workers counts notebooks on this machine; a scheduler has its own workers")
    graded, lines = course.grade(workers, scheduler)
    return [f"{graded} graded: what is new or has changed", *lines]


def nbgrader(course: Course, words: Sequence[str]) -> list[str]:
    """Run an nbgrader command in the course folder."""
    if not (course.folder / "nbgrader_config.py").is_file():
        raise Unable(f"{course.folder} is no course folder: `make release COURSE=…` makes one")
    command = [str(Path(sys.executable).with_name("nbgrader")), *words]
    raise SystemExit(subprocess.call(command, cwd=course.folder))


def roster(course: Course, table: Path) -> list[str]:
    """Add all people in a table to the gradebook, or update them."""
    people, refused = _table(table).people()
    with course.gradebook() as book:
        for student, about in People(book.students).updates(people):
            book.update_or_create_student(student, **about)
        known = len(book.students)
    return [*refused, f"{len(people)} students in the table, {known} in the class"]


# --- due dates -----------------------------------------------------------------------------------


def due(course: Course, exercise: str, when: Sequence[str], student: str) -> list[str]:
    """Set an exercise's due date, or one student's extension; the next grading applies it.

    when: as 2026-11-30 23:59, in local time unless it ends with an offset like +01:00.
    """
    course.check_name(exercise)
    text = " ".join(when)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Unable(f"{text!r} is not a time; write one as 2026-11-30 23:59") from None
    moment = moment.astimezone(UTC).replace(tzinfo=None, microsecond=0)  # as nbgrader stores it
    with course.gradebook() as book:
        assignment = book.update_or_create_assignment(exercise)
        if student:
            _extend(book, assignment, moment, student)
        else:
            for one in assignment.submissions:  # who has an extension keeps its date
                if one.extension is not None and assignment.duedate is not None:
                    own = assignment.duedate + one.extension
                    one.extension = max(own - moment, timedelta())
            assignment.duedate = moment
        book.db.commit()
        lines = [
            f"{exercise} is due for {printable(one.student_id)} at "
            f"{_local(assignment.duedate + one.extension)}"
            for one in assignment.submissions
            if one.extension
        ]
        return [f"{exercise} is due at {_local(assignment.duedate)}", *sorted(lines)]


def _extend(book: Any, assignment: Any, moment: datetime, student: str) -> None:
    if student not in {one.id for one in book.students}:
        raise Unable(f"{printable(student)!r} is not in the class: see `make roster`")
    if assignment.duedate is None or not assignment.notebooks:
        raise Unable(f"{assignment.name} has no due date yet, or was not released")
    if moment < assignment.duedate:
        raise Unable(f"{_local(moment)} is before {_local(assignment.duedate)}, the date for all")
    own = book.update_or_create_submission(assignment.name, student)
    own.extension = moment - assignment.duedate


def _local(moment: datetime) -> str:
    """Return a time in UTC in the zone of this machine, or of the variable TZ."""
    return f"{moment.replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M %Z}"


# --- learning platforms --------------------------------------------------------------------------


def collect(course: Course, exercise: str, download: Path, replace: bool) -> list[str]:
    """Unpack a platform's download into submitted/; a learner's folder is named as in the roster.

    replace: whether to replace different earlier hand-ins.
    """
    course.check_name(exercise)
    new = kept = 0
    with downloads.opened(download) as (found, lines):
        for student, files, remarks in downloads.by_student(found, _people(course)):
            lines += remarks
            folder = course.given / student / exercise
            if not files:
                continue
            if folder.is_symlink() or folder.parent.is_symlink():
                lines.append(f"{printable(student)}: its folder is a link")
                continue
            existing = downloads.content(folder) if folder.is_dir() else {}
            if existing == files:
                kept += 1
            elif existing and not replace:
                lines.append(
                    f"{printable(student)}: another hand-in is there; --replace takes this one"
                )
            else:
                downloads.put(folder, files)
                new += 1
                reason = submission(student, exercise, folder).reason
                lines += [f"{printable(student)}: {reason}"] if reason else []
    return [*lines, f"{new} collected, {kept} as they were"]


def give_back(course: Course, exercise: str, download: Path, target: Path) -> list[str]:
    """Write a zip with a feedback page for each submission in the download.

    A page is named like the submission's file in the download, apart from the learner's title.
    Moodle's "upload multiple feedback files in a zip" and Canvas's "upload submissions" take it.
    """
    course.check_name(exercise)
    lines, done, people = [], 0, _people(course)
    with downloads.opened(download) as (found, _):
        _refuse_existing(target)
        with (
            replacing(target) as unfinished,
            zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zipped,
        ):
            for student, (one, *others) in downloads.of_students(found, people).items():
                page = course.feedback(student, exercise)
                problem = downloads.namesakes([one, *others])
                if problem or not page.is_file():
                    lines.append(f"{printable(student)}: {problem or 'no page of feedback'}")
                    continue
                done += 1
                zipped.write(page, f"{one.path.removesuffix(one.title)}{exercise}.html")
    return [*lines, f"{done} pages: {target}"]


def export(
    course: Course, table: Path, target: Path, column: Sequence[tuple[str, str]]
) -> list[str]:
    """Fill the points into a platform's table: see `tables`.

    They are converted where the platform's column has another maximum. column: (exercise, heading
    of its column), for columns not named after the exercise.
    """
    theirs, named = _table(table), dict(column)
    with course.gradebook() as book:
        marks, people = gradebook.marks(book), People(book.students)
    points = {name: exercises.load(name).points for name in course.names()}
    if unknown := sorted(named.keys() - points.keys()):
        raise Unable(f"{unknown[0]!r} was not released; there is {', '.join(points)}")
    scores = {key: f"{own.score:g}" for key, own in marks.items() if own.is_graded}
    try:
        columns = theirs.columns(list(points), named)
    except ValueError as error:
        raise Unable(f"{table} {error}") from None
    told = []
    for name, head in columns.items():
        most = theirs.most(head) or points[name]
        factor = most / points[name]
        own = [key for key in scores if key[1] == name]
        scores |= {key: f"{marks[key].score * factor:.6g}" for key in own}
        told.append(f"{name} → {head}" + (f": of {most:g} points" if factor != 1 else ""))
    filled, lines = theirs.fill(scores, columns, people)
    _refuse_existing(target)
    with replacing(target) as unfinished:
        unfinished.write_bytes(filled.encode())
    return [*lines, *told, f"{target}"]


def _refuse_existing(target: Path) -> None:
    """Two names that were swapped, or one given twice, must not cost what is in the file."""
    if not target.parent.is_dir():
        raise Unable(f"there is no folder {target.parent}")
    if target.exists():
        raise Unable(f"{target} is there already; give another name, or remove it first")


def _table(file: Path) -> Table:
    try:
        return Table(file.read_bytes())
    except ValueError as error:
        raise Unable(f"{file} {error}") from None


def _people(course: Course) -> People:
    with course.gradebook() as book:
        return People(book.students)


COMMANDS: dict[str, Callable[..., list[str]]] = {
    **{one.__name__: one for one in (release, grade, nbgrader, roster, due, collect, export)},
    "return": give_back,
}
