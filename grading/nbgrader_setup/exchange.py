"""nbgrader's exchange, a folder into which every learner may write: what is taken out of it.

nbgrader collects by the names of folders that learners have made there, copies what is in them, and
ends at the first one that it does not understand. And it returns feedback only to hand-ins that
came through the exchange. It has no settings for that, so methods of it are replaced.
"""

import functools
import hashlib
import pwd
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory  # type: ignore[import-untyped]
from nbgrader.exchange.default import (  # type: ignore[import-untyped]
    ExchangeCollect,
    ExchangeReleaseFeedback,
)

from grading.intake import careful
from grading.intake.names import shown, unfit
from grading.intake.submissions import refuse_odd_files
from grading.records.seed import course_seed

Record = dict[str, Any]  # nbgrader's own: username, filename, timestamp
STAMP, SECRET = "timestamp.txt", "submission_secret.txt"
MOST_BYTES = 1_000  # of each of these two


def install() -> None:
    """Replace the methods, once in this process."""
    if not hasattr(ExchangeCollect.init_src, "__wrapped__"):
        ExchangeCollect._path_to_record = _understood(ExchangeCollect._path_to_record)
        ExchangeCollect._sort_by_timestamp = _own_first(ExchangeCollect._sort_by_timestamp)
        ExchangeCollect.init_src = _fit(ExchangeCollect.init_src)
        ExchangeReleaseFeedback.copy_files = _completed(ExchangeReleaseFeedback.copy_files)
        CourseDirectory.get_existing_timestamp = _or_none(CourseDirectory.get_existing_timestamp)


def _understood(plain: Callable[..., Record]) -> Callable[..., Record]:
    """A folder whose name says no time belongs to nobody, and ends nothing."""

    @functools.wraps(plain)
    def record(self: Any, path: str) -> Record:
        try:
            return plain(self, path)
        except Exception:  # of whatever parser of times
            return {"username": "", "filename": Path(path).name, "timestamp": datetime.min}

    return record


def _or_none(plain: Callable[..., datetime | None]) -> Callable[..., datetime | None]:
    """What a learner wrote into timestamp.txt may be no time."""

    @functools.wraps(plain)
    def get_existing_timestamp(self: Any, folder: str) -> datetime | None:
        try:
            return plain(self, folder)
        except Exception:  # of whatever parser of times
            return None

    return get_existing_timestamp


def _own_first(plain: Callable[..., list[Record]]) -> Callable[..., list[Record]]:
    """A hand-in that somebody else made in a student's name stands behind the student's own."""

    @functools.wraps(plain)
    def sort_by_timestamp(self: Any, records: Sequence[Record]) -> list[Record]:
        own = [one for one in records if self.check_owner and _is_own(self, one)]
        others = [one for one in records if one not in own]
        return [*plain(self, own), *plain(self, others)]

    return sort_by_timestamp


def _is_own(collect: Any, record: Record) -> bool:
    try:
        owner = Path(collect.inbound_path, record["filename"]).lstat().st_uid
        return bool(pwd.getpwuid(owner).pw_name == record["username"])
    except (OSError, KeyError):
        return False


def _fit(plain: Callable[..., None]) -> Callable[..., None]:
    """Without what can't be collected; what was collected before stays."""

    @functools.wraps(plain)
    def init_src(self: Any) -> None:
        plain(self)
        taken = []
        for one in self.src_records:
            if problem := _problem(self, one):
                self.log.error(
                    "%s: %s; it is left in the exchange", shown(one["filename"]), problem
                )
            else:
                taken.append(one)
        self.src_records = taken

    return init_src


def _problem(collect: Any, record: Record) -> str:
    student, folder = record["username"], Path(collect.inbound_path, record["filename"])
    if not student:
        return "not the name of a hand-in"
    if why := unfit(student):
        return why
    if folder.is_symlink() or not folder.is_dir():
        return "not a folder"
    try:
        refuse_odd_files(folder)
        size = collect.get_size(str(folder))
    except (ValueError, OSError, RecursionError) as error:
        return str(error)
    most = 1000 * collect.coursedir.max_dir_size
    return f"more than {most / 10**6:g} MB" if size > most else ""


def _completed(plain: Callable[..., None]) -> Callable[..., None]:
    """Pages lie in the exchange under a name that only their learner can know.

    It is made of a secret that the learner's `nbgrader submit` drew. Where a hand-in came otherwise
    nobody can fetch the page, and nothing ends.
    """

    @functools.wraps(plain)
    def copy_files(self: Any) -> None:
        course, exercise = Path(self.coursedir.root), self.coursedir.assignment_id
        feedback = Path(self.coursedir.format_path(self.coursedir.feedback_directory, ".", "."))
        for folder in sorted(feedback.glob(f"*/{exercise}")):
            _complete(folder, course, folder.parent.name, exercise)
        plain(self)

    return copy_files


def _complete(folder: Path, course: Path, student: str, exercise: str) -> None:
    """Have both files that nbgrader reads stand beside the page."""
    secret = _text(course, student, exercise, SECRET)
    if not secret.strip():
        words = f"{course_seed(course)} {student} {exercise}"
        secret = hashlib.sha256(words.encode()).hexdigest()
    (folder / SECRET).write_text(secret, encoding="utf-8")
    (folder / STAMP).write_text(_text(course, student, exercise, STAMP), encoding="utf-8")


def _text(course: Path, student: str, exercise: str, name: str) -> str:
    """What stands in this file of the hand-in, "" if nothing that can be read."""
    content, _ = careful.content(course / "submitted", (student, exercise, name), MOST_BYTES)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return ""
