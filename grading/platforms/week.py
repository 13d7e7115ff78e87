"""An instructor's week: a roster, due dates, what was handed in, and what goes back.

Each function takes a course, and returns lines to print. Unable if it could do nothing.
"""

import shutil
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import MissingEntry  # type: ignore[import-untyped]
from sqlalchemy.exc import SAWarning

from grading.course import Course
from grading.intake.names import shown, unfit
from grading.platforms import downloads, grades
from grading.platforms.downloads import HandIn, Unreadable
from grading.platforms.roster import Table
from grading.records import results
from grading.release import exercises
from grading.reports import rows
from grading.settings import settings
from grading.work import Unable

EVERYBODY = 0o777  # may write into the exchange, as nbgrader wants it


def roster(course: Course, file: Path) -> list[str]:
    """Enter everybody in this table into the gradebook. Who is there already is brought up to date.

    Their folders are named by the first of `roster.IDS` that the table has.
    """
    people, refused = _table(file).people()
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
    """Set a due date, of one student alone if there is a name; it counts at the next grading.

    when: as 2026-11-30 23:59, in this machine's time unless it ends with an offset like +01:00.
    """
    _known(exercise)
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        raise Unable(f"{when!r} is not a time; write one as 2026-11-30 23:59") from None
    moment = moment.astimezone(UTC).replace(tzinfo=None)  # as nbgrader keeps it
    with course.gradebook() as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
        if not student:
            gradebook.update_or_create_assignment(exercise, duedate=moment)
            return [f"{exercise} is due at {moment} UTC"]
        try:
            assignment = gradebook.find_assignment(exercise)
        except MissingEntry:
            raise Unable(f"{exercise} has not been released yet") from None
        if assignment.duedate is None:
            raise Unable(f"{exercise} has no due date that could be extended; set one first")
        more = moment - assignment.duedate
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(exercise, student)
        gradebook.grant_extension(exercise, student, minutes=more / timedelta(minutes=1))
    return [f"{exercise} is due for {shown(student)} at {moment} UTC"]


def collect(course: Course, exercise: str, archive: Path, again: bool = False) -> list[str]:
    """Put what a platform let one download where it is graded.

    A learner's folder has the name that the roster gives to the platform's number, else the
    platform's own name and the number. again: what was handed in otherwise before is replaced.
    """
    _known(exercise)
    found, lines = _sorted(archive, course)
    new = kept = 0
    for student, files in sorted(found.items()):
        folder = course.folder / "submitted" / student / exercise
        if folder.is_symlink() or folder.parent.is_symlink():
            lines.append(f"{shown(student)}: its folder is a link")
            continue
        there = _content(folder) if folder.is_dir() else {}
        if there == files:
            kept += 1
            continue
        if there and not again:
            lines.append(f"{shown(student)}: another hand-in is there; --replace takes this one")
            continue
        _put(folder, files)
        new += 1
    return [*lines, f"{new} collected, {kept} as they were"]


def give_back(course: Course, exercise: str, archive: Path, target: Path) -> list[str]:
    """Write a zip with the page of feedback for each hand-in of `archive`, named as it was.

    Moodle's "upload multiple feedback files in a zip" and Canvas's "upload submissions" take it.
    """
    _known(exercise)
    students = _students(course)
    lines, done = [], set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped:
        for one, _ in _read(archive):
            if not isinstance(one, HandIn):
                continue
            student = _student(one, students)
            page = course.feedback(student, exercise)
            if student in done:
                continue
            if not page.is_file():
                lines.append(f"{shown(student)}: no page of feedback")
                continue
            done.add(student)
            zipped.write(page, one.member.removesuffix(one.title) + f"{exercise}.html")
    return [*lines, f"{len(done)} pages: {target}"]


def export(course: Course, theirs: Path, target: Path, named: Mapping[str, str]) -> list[str]:
    """Fill the platform's own table with the points: see `grades`.

    named: exercise → head of its column, where that can't be told from the exercise's name.
    """
    text = _text(theirs)
    for exercise in named:
        _known(exercise)
    try:
        columns = grades.columns(text, exercises.names(), named)
        if not columns:
            raise ValueError(
                f"no column has the name of an exercise; there is "
                f"{', '.join(Table(text).heads)}. Say which one is meant: --column EXERCISE=HEAD"
            )
        scores = {
            (student, name): score
            for student, name, score, _, note in rows.grades(course, course.state())
            if note != rows.NOT_HANDED_IN
        }
        filled, lines = grades.fill(text, scores, columns)
    except ValueError as error:
        raise Unable(f"{theirs}: {error}") from None
    target.write_text(filled, encoding="utf-8", newline="")
    return [*lines, *(f"{name} → {head}" for name, head in columns.items()), f"{target}"]


def exchange(course: Course, folder: Path) -> list[str]:
    """Have nbgrader hand out, collect and return through this folder, which all can write to.

    The course's own nbgrader_config.py names it from now on.
    """
    folder = folder.resolve()
    if folder.is_relative_to(course.folder):
        raise Unable(f"{folder} is in the course folder, which learners must not see")
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_mode & EVERYBODY != EVERYBODY:
        folder.chmod(EVERYBODY)
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
    """Have the next grading do these again: "ada", or "ada/int8-matmul"."""
    state = course.state()
    for place in places:
        student, _, exercise = place.partition("/")
        own = state.get(student, {})
        if not own or (exercise and exercise not in own):
            raise Unable(f"{shown(place)} has not been graded yet")
        for name in [exercise] if exercise else own:
            course.results.put(student, name, own[name] | {"digest": ""})


def _known(exercise: str) -> None:
    if exercise not in exercises.names():
        raise Unable(f"{exercise!r} is not an exercise; there is {', '.join(exercises.names())}")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Unable(f"{file} is not text in UTF-8") from None


def _table(file: Path) -> Table:
    try:
        return Table(_text(file))
    except ValueError as error:
        raise Unable(f"{file}: {error}") from None


def _read(archive: Path) -> Iterable[tuple[HandIn | str, bytes]]:
    try:
        yield from downloads.read(archive)
    except Unreadable as error:
        raise Unable(str(error)) from None


def _students(course: Course) -> dict[str, str]:
    """The platform's number → student, as the roster has them."""
    with course.gradebook() as gradebook:
        return {one.lms_user_id: one.id for one in gradebook.students if one.lms_user_id}


def _student(one: HandIn, students: Mapping[str, str]) -> str:
    return students.get(one.number) or f"{one.person} {one.number}"


def _sorted(archive: Path, course: Course) -> tuple[dict[str, dict[str, bytes]], list[str]]:
    """(student → name of a file → content, lines about what could not be taken)."""
    students = _students(course)
    found: dict[str, dict[str, bytes]] = {}
    lines = []
    for one, content in _read(archive):
        if not isinstance(one, HandIn):
            lines.append(f"{shown(one)}: not named as Moodle or Canvas does")
            continue
        student, title = _student(one, students), one.title
        if problem := unfit(student) or ("/" in student and "a name with a slash") or "":
            lines.append(f"{shown(student)}: {problem}")
        elif unfit(title) or "/" in title:
            lines.append(f"{shown(student)}: {shown(title)}: not the name of a file")
        elif not content:
            lines.append(f"{shown(student)}: {shown(title)}: empty, or too large")
        else:
            found.setdefault(student, {})[_free(title, found.get(student, {}))] = content
    return found, lines


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    """The folder with these files alone: whole, or as it was if this is stopped halfway."""
    made = folder.with_name(f".{folder.name}.new")  # a hidden name, which is nobody's hand-in
    if made.is_symlink():
        made.unlink()
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    for name, content in files.items():
        (made / name).write_bytes(content)
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)


def _free(title: str, taken: Mapping[str, bytes] | Sequence[str]) -> str:
    """The title, with a number before it if the learner has handed in another file of that name."""
    name, number = title, 1
    while name in taken:
        number += 1
        name = f"{number}-{title}"
    return name


def _content(folder: Path) -> dict[str, bytes]:
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        if one.is_file() and not one.is_symlink() and one.stat().st_size <= downloads.FILE_BYTES
    }
