"""Commands before and after grading: roster, due dates, collecting, returning.

Each function takes a course and returns lines to print. It raises Unable if it must refuse.
"""

import contextlib
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import MissingEntry  # type: ignore[import-untyped]
from sqlalchemy.exc import SAWarning

from grading.course import Course
from grading.errors import Unable
from grading.intake.names import printable
from grading.platforms import downloads, grades, hand_ins, members, targets
from grading.platforms.downloads import Unreadable
from grading.platforms.roster import Table, text_of
from grading.records import results
from grading.release import exercises
from grading.reports import rows
from grading.settings import settings

EXCHANGE_MODE = 0o777  # nbgrader requires the exchange to be writable by everybody


def roster(course: Course, file: Path) -> list[str]:
    """Add all people in a table to the gradebook, or update them.

    Each person's folder is named after the first column of `roster.IDS` that has an entry.
    """
    people, refused = _table(file).people()
    members.add(course.folder, [one.id for one in people])
    with course.gradebook() as gradebook:
        for one in people:
            gradebook.update_or_create_student(
                one.id,
                first_name=one.first_name or None,
                last_name=one.last_name or None,
                email=one.email or None,
                lms_user_id=one.number or None,
            )
    return [*refused, f"{len(people)} students are in the gradebook"]


def due(course: Course, exercise: str, when: str, student: str = "") -> list[str]:
    """Set an exercise's due date, or one student's extension.

    The next grading applies it. when: as 2026-11-30 23:59, in local time unless it ends with an
    offset like +01:00.
    """
    _known(exercise)
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        raise Unable(f"{when!r} is not a time; write one as 2026-11-30 23:59") from None
    moment = moment.astimezone(UTC).replace(tzinfo=None)  # nbgrader stores naive UTC
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # raised by nbgrader's own queries
        if student:
            return _extend(course, exercise, moment, student)
        return _set_due(course, exercise, moment)


def _set_due(course: Course, exercise: str, moment: datetime) -> list[str]:
    """Set the due date for all; students keep an extension that ends later."""
    with course.gradebook() as gradebook:
        assignment = gradebook.update_or_create_assignment(exercise)
        lines = []
        for submission in assignment.submissions:
            if submission.extension is None or assignment.duedate is None:
                continue
            own = assignment.duedate + submission.extension
            submission.extension = own - moment if own > moment else None
            about = "stays" if own > moment else "is no extension any more"
            lines.append(f"{printable(submission.student_id)}: {own} UTC {about}")
        assignment.duedate = moment
        gradebook.db.commit()
    return [*sorted(lines), f"{exercise} is due at {moment} UTC"]


def _extend(course: Course, exercise: str, moment: datetime, student: str) -> list[str]:
    with course.gradebook() as gradebook:
        about = members.members(course.folder, gradebook.db)
        if student not in about.all:
            raise Unable(_unknown(student, about))
        try:
            assignment = gradebook.find_assignment(exercise)
        except MissingEntry:
            assignment = None
        if assignment is None or assignment.duedate is None:
            raise Unable(f"{exercise} has no due date that could be extended; set one first")
        if moment < assignment.duedate:
            raise Unable(
                f"{moment} UTC is before {assignment.duedate} UTC, when {exercise} is due for all"
            )
        released = bool(assignment.notebooks)
    lines = []
    if not released:  # nbgrader refuses to release an exercise that already has an extension
        course.release([exercise])
        lines.append(f"{exercise} was released first, into {course.folder / 'release'}")
    with course.gradebook() as gradebook:
        more = moment - gradebook.find_assignment(exercise).duedate
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(exercise, student)
        gradebook.grant_extension(exercise, student, minutes=more / timedelta(minutes=1))
    return [*lines, f"{exercise} is due for {printable(student)} at {moment} UTC"]


def _unknown(student: str, about: members.Members) -> str:
    if not about.all:
        return (
            "nobody is in the class yet; enter its people first: .venv/bin/python -m grading roster"
        )
    nearest = about.nearest(student)
    return f"{printable(student)!r} is not in the class" + (
        f"; the nearest name is {nearest}" if nearest else f" of {len(about.all)}"
    )


def collect(course: Course, exercise: str, archive: Path, again: bool = False) -> list[str]:
    """Unpack a platform's download into submitted/.

    A learner's folder is named as in the roster, or else after the platform's name and number.
    again: whether to replace different earlier submissions.
    """
    _known(exercise)
    new = kept = 0
    with _opened(archive, course) as (download, students):
        lines = list(download.lines)
        for student, files, remarks in hand_ins.by_student(download, students):
            lines += remarks
            folder = course.folder / "submitted" / student / exercise
            if not files:
                continue
            if folder.is_symlink() or folder.parent.is_symlink():
                lines.append(f"{printable(student)}: its folder is a link")
                continue
            existing = hand_ins.content(folder) if folder.is_dir() else {}
            if existing == files:
                kept += 1
            elif existing and not again:
                lines.append(
                    f"{printable(student)}: another hand-in is there; --replace takes this one"
                )
            else:
                hand_ins.put(folder, files)
                new += 1
    return [*lines, f"{new} collected, {kept} as they were"]


def give_back(course: Course, exercise: str, archive: Path, target: Path) -> list[str]:
    """Write a zip with a feedback page for each submission in `archive`.

    A page is named like the submission's file in the archive, apart from the learner's title.
    Moodle's "upload multiple feedback files in a zip" and Canvas's "upload submissions" accept it.
    An existing `target` is replaced atomically, and only if it holds nothing but such pages.
    """
    _known(exercise)
    page_name = f"{exercise}.html"
    lines, done = [], set()
    with _opened(archive, course) as (download, students):
        targets.refuse_same(archive, target, "the pages")
        targets.refuse_other_zip(target, page_name)
        with (
            results.replacing(target) as unfinished,
            zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zipped,
        ):
            for one in (member.hand_in for member in download.members):
                student = hand_ins.student_of(one, students)
                page = course.feedback(student, exercise)
                if student in done:
                    continue
                if not page.is_file():
                    lines.append(f"{printable(student)}: no page of feedback")
                    continue
                done.add(student)
                zipped.write(page, one.member.removesuffix(one.title) + page_name)
    return [*lines, f"{len(done)} pages: {target}"]


def export(course: Course, theirs: Path, target: Path, named: Mapping[str, str]) -> list[str]:
    """Fill the points into a platform's table: see `grades`.

    named: exercise → heading of its column, for columns not named after the exercise.
    """
    text = _text(theirs)
    for exercise in named:
        _known(exercise)
    try:
        columns = grades.columns(text, exercises.names(), named)
        if not columns:
            raise ValueError(grades.no_column(Table(text)))
        scores = {
            (student, name): score
            for student, name, score, _, note in rows.grades(course, course.state())
            if note != rows.NOT_HANDED_IN
        }
        filled, lines = grades.fill(text, scores, columns)
    except ValueError as error:
        raise Unable(f"{theirs}: {error}") from None
    targets.refuse_same(theirs, target, "the table to import")
    targets.refuse_other_table(target, filled)
    with results.replacing(target) as unfinished:
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
    results.replace(own, "\n".join([*kept, line]) + "\n")
    return [
        f"{folder} is the exchange. In the nbgrader_config.py of each learner:",
        "c = get_config()",
        line,
        f"c.CourseDirectory.course_id = {settings(course.folder).CourseDirectory.course_id!r}",
    ]


def again(course: Course, places: Iterable[str]) -> None:
    """Mark results for regrading; each place is "student" or "student/exercise"."""
    state = course.state()
    for place in places:
        student, _, exercise = place.partition("/")
        own = state.get(student, {})
        if not own or (exercise and exercise not in own):
            nearest = members.Members({}, frozenset(), frozenset(state)).nearest(student)
            hint = f"; the nearest name is {nearest}" if nearest and not own else ""
            raise Unable(f"{printable(place)} has not been graded yet{hint}")
        for name in [exercise] if exercise else own:
            course.results.put(student, name, own[name] | {"digest": ""})


def _known(exercise: str) -> None:
    if exercise not in exercises.names():
        raise Unable(f"{exercise!r} is not an exercise; there is {', '.join(exercises.names())}")


def _text(file: Path) -> str:
    try:
        return text_of(file.read_bytes())
    except ValueError as error:
        raise Unable(f"{file} {error}") from None


def _table(file: Path) -> Table:
    try:
        return Table(_text(file))
    except ValueError as error:
        raise Unable(f"{file}: {error}") from None


@contextlib.contextmanager
def _opened(archive: Path, course: Course) -> Iterator[tuple[downloads.Download, dict[str, str]]]:
    """Yield (the download, platform's number → the roster's student)."""
    with course.gradebook() as gradebook:
        roster = gradebook.students
        students = {one.lms_user_id: one.id for one in roster}
        names = {one.lms_user_id: f"{one.first_name or ''} {one.last_name or ''}" for one in roster}
    try:
        with downloads.opened(archive, names) as download:
            yield download, students
    except Unreadable as error:
        raise Unable(str(error)) from None
