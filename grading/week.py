"""Commands before and after grading: people, due dates, collecting, returning, exporting.

Each function takes a course and returns lines to print. It raises Unable if it must refuse.
"""

import warnings
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import MissingEntry  # type: ignore[import-untyped]
from sqlalchemy.exc import SAWarning

from grading import downloads, gradebook
from grading.course import Course
from grading.files import Unable, replacing
from grading.intake import nearest, printable, students, submission
from grading.people import People
from grading.release import exercises
from grading.tables import Table


def roster(course: Course, file: Path) -> list[str]:
    """Add all people in a table to the gradebook, or update them."""
    people, refused = _table(file).people()
    with course.gradebook() as book:
        for student, about in People(book.students).updates(people):
            book.update_or_create_student(student, **about)
        known = len(book.students)
    return [*refused, f"{len(people)} students in the table, {known} in the class"]


def due(course: Course, exercise: str, when: str, student: str = "") -> list[str]:
    """Set an exercise's due date, or one student's extension; the next grading applies it.

    when: as 2026-11-30 23:59, in local time unless it ends with an offset like +01:00.
    """
    course.check_name(exercise)
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        raise Unable(f"{when!r} is not a time; write one as 2026-11-30 23:59") from None
    moment = moment.astimezone(UTC).replace(tzinfo=None, microsecond=0)  # as nbgrader stores it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # raised by nbgrader's own queries
        if student:
            return _extend(course, exercise, moment, student)
        return _set_due(course, exercise, moment)


def _set_due(course: Course, exercise: str, moment: datetime) -> list[str]:
    """Set the due date for all; students keep an extension that ends later."""
    with course.gradebook() as book:
        assignment = book.update_or_create_assignment(exercise)
        lines = []
        for submission in assignment.submissions:
            if submission.extension is None or assignment.duedate is None:
                continue
            own = assignment.duedate + submission.extension
            submission.extension = own - moment if own > moment else None
            about = "stays" if own > moment else "is no extension any more"
            lines.append(f"{printable(submission.student_id)}: {local(own)} {about}")
        assignment.duedate = moment
        book.db.commit()
    return [*sorted(lines), f"{exercise} is due at {local(moment)}"]


def _extend(course: Course, exercise: str, moment: datetime, student: str) -> list[str]:
    with course.gradebook() as book:
        known = {*(one.id for one in book.students), *students(course.folder)}
        if not known:
            raise Unable("nobody is in the class yet: enter its people first, with `make roster`")
        if student not in known:
            hint = nearest(student, known)
            raise Unable(f"{printable(student)!r} is not in the class{hint}")
        try:
            assignment = book.find_assignment(exercise)
        except MissingEntry:
            assignment = None
        if assignment is None or assignment.duedate is None:
            raise Unable(f"{exercise} has no due date that could be extended; set one first")
        if moment < assignment.duedate:
            due = local(assignment.duedate)
            raise Unable(f"{local(moment)} is before {due}, when {exercise} is due for all")
        released = bool(assignment.notebooks)
    lines = []
    if not released:  # nbgrader refuses to release an exercise that already has an extension
        course.release([exercise])
        lines.append(f"{exercise} was released first, into {course.folder / 'release'}")
    with course.gradebook() as book:
        more = moment - book.find_assignment(exercise).duedate
        book.update_or_create_student(student)
        book.update_or_create_submission(exercise, student)
        book.grant_extension(exercise, student, minutes=more / timedelta(minutes=1))
    return [*lines, f"{exercise} is due for {printable(student)} at {local(moment)}"]


def local(moment: datetime) -> str:
    """Return a time in UTC in the zone of this machine, or of the variable TZ."""
    return f"{moment.replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M %Z}"


def collect(course: Course, exercise: str, archive: Path, replace: bool = False) -> list[str]:
    """Unpack a platform's download into submitted/; a learner's folder is named as in the roster.

    replace: whether to replace different earlier hand-ins.
    """
    course.check_name(exercise)
    new = kept = 0
    with downloads.opened(archive) as (found, lines):
        for student, files, remarks in downloads.by_student(found, _people(course)):
            lines += remarks
            folder = course.folder / "submitted" / student / exercise
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
                if exercise in exercises.names():
                    taken = submission(student, exercise, folder, course.names())
                    problem = taken.reason or taken.question
                    lines += [f"{printable(student)}: {problem}"] if problem else []
    return [*lines, f"{new} collected, {kept} as they were"]


def give_back(course: Course, exercise: str, archive: Path, target: Path) -> list[str]:
    """Write a zip with a feedback page for each submission in `archive`.

    A page is named like the submission's file in the archive, apart from the learner's title.
    Moodle's "upload multiple feedback files in a zip" and Canvas's "upload submissions" take it.
    """
    course.check_name(exercise)
    lines, done, people = [], set(), _people(course)
    with downloads.opened(archive) as (found, _):
        _refuse_existing(target)
        with (
            replacing(target) as unfinished,
            zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zipped,
        ):
            for one in found:
                student = one.student(people)
                page = course.feedback(student, exercise)
                if student in done:
                    continue
                if not page.is_file():
                    lines.append(f"{printable(student)}: no page of feedback")
                    continue
                done.add(student)
                zipped.write(page, f"{one.path.removesuffix(one.title)}{exercise}.html")
    return [*lines, f"{len(done)} pages: {target}"]


def export(
    course: Course, theirs: Path, target: Path, named: Mapping[str, str], scale: bool = False
) -> list[str]:
    """Fill the points into a platform's table: see `tables`.

    named: exercise → heading of its column, for columns not named after the exercise. scale:
    whether to convert points where the platform's column has another maximum.
    """
    table = _table(theirs)
    with course.gradebook() as book:
        marks, people = gradebook.marks(book), People(book.students)
        points = {one.name: one.max_score for one in book.assignments if one.notebooks}
    if unknown := sorted(named.keys() - points.keys()):
        raise Unable(f"{unknown[0]!r} was not released; there is {', '.join(points)}")
    scores = {key: f"{own.score:g}" for key, own in marks.items() if own.is_graded}
    try:
        columns = table.columns(list(points), named)
    except ValueError as error:
        raise Unable(f"{theirs} {error}") from None
    for name, head in columns.items():
        full = points[name]
        most = table.most(head) or full
        own = [key for key in scores if key[1] == name]
        if most == full or not own:
            continue
        if not scale:
            raise Unable(
                f"{name} has {full:g} points here and {most:g} in {theirs}, {head!r}: change it on "
                "the platform and export the table again, or let --scale convert the points"
            )
        scores |= {key: f"{marks[key].score * most / full:.6g}" for key in own}
    filled, lines = table.fill(scores, columns, people)
    _refuse_existing(target)
    with replacing(target) as unfinished:
        unfinished.write_bytes(filled.encode())
    return [*lines, *(f"{name} → {head}" for name, head in columns.items()), f"{target}"]


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
