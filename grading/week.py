"""Commands before and after grading: people, due dates, collecting, returning, exporting.

Each function takes a course and returns lines to print. It raises Unable if it must refuse.
"""

import contextlib
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import MissingEntry  # type: ignore[import-untyped]
from sqlalchemy.exc import SAWarning

from grading import downloads, gradebook
from grading.course import Course, known_exercise
from grading.downloads import HandIn, Unreadable
from grading.files import Unable, put, replacing
from grading.intake import nearest, printable, students, submission
from grading.people import People
from grading.tables import Table

EXCHANGE_MODE = 0o777  # nbgrader requires the exchange to be writable by everybody


def roster(course: Course, file: Path) -> list[str]:
    """Add all people in a table to the gradebook, or update them."""
    people, refused = _table(file).people()
    with course.gradebook() as book:
        for student, about in People(book.students).updates(people):
            book.update_or_create_student(student, **about)
    return [*refused, f"{len(people)} students are in the gradebook"]


def due(course: Course, exercise: str, when: str, student: str = "") -> list[str]:
    """Set an exercise's due date, or one student's extension; the next grading applies it.

    when: as 2026-11-30 23:59, in local time unless it ends with an offset like +01:00.
    """
    known_exercise(exercise)
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
    known_exercise(exercise)
    new = kept = 0
    with _opened(archive, course) as (found, lines, people):
        for student, files, remarks in downloads.by_student(found, people):
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
                taken = submission(student, exercise, folder)
                if problem := taken.reason or taken.question:
                    lines.append(f"{printable(student)}: {problem}")
    return [*lines, f"{new} collected, {kept} as they were"]


def give_back(course: Course, exercise: str, archive: Path, target: Path) -> list[str]:
    """Write a zip with a feedback page for each submission in `archive`.

    A page is named like the submission's file in the archive, apart from the learner's title.
    Moodle's "upload multiple feedback files in a zip" and Canvas's "upload submissions" take it.
    """
    known_exercise(exercise)
    lines, done = [], set()
    with _opened(archive, course) as (found, _, people):
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


def exchange(course: Course, folder: Path) -> list[str]:
    """Set up a folder as nbgrader's exchange, and configure the course for it."""
    folder = folder.resolve()
    if folder.is_relative_to(course.folder):
        raise Unable(f"{folder} is in the course folder, which learners must not see")
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_mode & EXCHANGE_MODE != EXCHANGE_MODE:
        folder.chmod(EXCHANGE_MODE)
    own = course.folder / "nbgrader_config.py"
    line = f"c.Exchange.root = {str(folder)!r}"
    before = own.read_text(encoding="utf-8").splitlines()
    kept = [one for one in before if not one.startswith("c.Exchange.root =")]
    put(own, "\n".join([*kept, line]) + "\n")
    return [
        f"{folder} is the exchange. In the nbgrader_config.py of each learner:",
        "c = get_config()",
        line,
        f"c.CourseDirectory.course_id = {course.settings().CourseDirectory.course_id!r}",
    ]


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


@contextlib.contextmanager
def _opened(archive: Path, course: Course) -> Iterator[tuple[Sequence[HandIn], list[str], People]]:
    """Yield (a download's hand-ins, lines about the rest, the people of the class)."""
    with course.gradebook() as book:
        people = People(book.students)
    try:
        found, lines, stack = downloads.hand_ins(archive)
        with stack:
            yield found, lines, people
    except Unreadable as error:
        message = str(error) if str(archive) in str(error) else f"{archive} {error}"
        raise Unable(message) from None
