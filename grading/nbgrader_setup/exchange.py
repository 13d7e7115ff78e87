"""Safe replacements for nbgrader's exchange commands.

Every learner can write to the exchange. nbgrader's own `collect` trusts folder names and stops at
the first one that it cannot parse; its `release_feedback` stops at the first submission that did
not come through the exchange. `nbgrader_config.py` replaces both by the classes in this module.
"""

import hashlib
import os
import pwd
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry  # type: ignore[import-untyped]
from nbgrader.exchange.default import (  # type: ignore[import-untyped]
    ExchangeCollect,
    ExchangeReleaseFeedback,
)
from nbgrader.utils import parse_utc  # type: ignore[import-untyped]

from grading.intake import safe_files
from grading.intake.names import name_problem, printable
from grading.intake.submissions import refuse_special_files
from grading.records.seed import course_seed

Record = dict[str, Any]  # nbgrader's record of a hand-in: username, filename, timestamp
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
MAX_FILE_BYTES = 1_000  # size limit of each of these two files


class Collect(ExchangeCollect):  # type: ignore[misc]
    """`nbgrader collect` that skips invalid submissions and reports them.

    They are left in the exchange.
    """

    def init_src(self) -> None:
        """Choose one hand-in per student, which `copy_files` then copies."""
        if not self.coursedir.course_id:
            self.fail("No course id specified. Re-run with --course flag.")
        self.course_path = str(Path(self.root, self.coursedir.course_id))
        self.inbound_path = str(Path(self.course_path, "inbound"))
        if not Path(self.inbound_path).is_dir():
            self.fail(f"Course not found: {self.inbound_path}")
        if not os.access(self.inbound_path, os.R_OK | os.X_OK):
            self.fail(f"You don't have read permissions for the directory: {self.inbound_path}")
        student = self.coursedir.student_id or "*"
        pattern = f"{student}+{self.coursedir.assignment_id}+*"
        by_student: dict[str, list[Record]] = {}
        for folder in Path(self.inbound_path).glob(pattern):
            record = _record(folder.name)
            by_student.setdefault(record["username"], []).append(record)
        self.duedate = self._due_date()
        self.src_records = []
        for records in by_student.values():
            chosen = self._choose(records)
            if problem := self._problem(chosen):
                self.log.error(
                    "%s: %s; it is left in the exchange", printable(chosen["filename"]), problem
                )
            else:
                self.src_records.append(chosen)

    def _due_date(self) -> datetime | None:
        due: datetime | None = None
        with (
            Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book,
            suppress(MissingEntry),
        ):
            due = book.find_assignment(self.coursedir.assignment_id).duedate
        return due

    def _choose(self, records: Sequence[Record]) -> Record:
        """Return the newest record; with `before_duedate`, the newest in time, if any.

        Records that the student's own account wrote are preferred to those that another account
        wrote in the student's name.
        """
        newest = sorted(records, key=lambda record: record["timestamp"], reverse=True)
        newest.sort(key=lambda record: not (self.check_owner and self.is_owner(record)))
        if self.duedate is not None and self.before_duedate:
            in_time = [record for record in newest if record["timestamp"] <= self.duedate]
            newest = in_time or newest
        return newest[0]

    def is_owner(self, record: Record) -> bool:
        """Return whether the account that owns the folder has the student's name."""
        try:
            owner = Path(self.inbound_path, record["filename"]).lstat().st_uid
            return bool(pwd.getpwuid(owner).pw_name == record["username"])
        except (OSError, KeyError):
            return False

    def _problem(self, record: Record) -> str:
        """Return why a record cannot be collected, "" if it can."""
        student, folder = record["username"], Path(self.inbound_path, record["filename"])
        if not student:
            return "not the name of a hand-in"
        if problem := name_problem(student):
            return problem
        if folder.is_symlink() or not folder.is_dir():
            return "not a folder"
        try:
            refuse_special_files(folder)
            size = self.get_size(str(folder))
        except (ValueError, OSError, RecursionError) as error:
            return str(error)
        most = 1000 * self.coursedir.max_dir_size
        return f"more than {most / 10**6:g} MB" if size > most else ""


def _record(filename: str) -> Record:
    """Parse <student>+<exercise>+<time>[+<random>], a folder name of the exchange.

    The username is "" if there is no time.
    """
    student, _, time, *_ = filename.rsplit("+", 3)
    try:
        return {"username": student, "filename": filename, "timestamp": parse_utc(time)}
    except Exception:  # nbgrader's time parsers raise many kinds of errors
        return {"username": "", "filename": filename, "timestamp": datetime.min}


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """`nbgrader release_feedback` for submissions that bypassed the exchange, too.

    The exchange names each page after a secret that the learner's `nbgrader submit` drew. For a
    submission without one, this class derives an unguessable name, so that nobody can fetch the
    page.
    """

    def copy_files(self) -> None:
        course, exercise = Path(self.coursedir.root), self.coursedir.assignment_id
        feedback = Path(self.coursedir.format_path(self.coursedir.feedback_directory, ".", "."))
        for folder in sorted(feedback.glob(f"*/{exercise}")):
            add_exchange_files(folder, course, folder.parent.name, exercise)
        super().copy_files()


def add_exchange_files(folder: Path, course: Path, student: str, exercise: str) -> None:
    """Write the secret and the timestamp next to the feedback page, for nbgrader."""
    secret = _text(course, student, exercise, SECRET)
    if not secret.strip():
        words = f"{course_seed(course)} {student} {exercise}"
        secret = hashlib.sha256(words.encode()).hexdigest()
    (folder / SECRET).write_text(secret, encoding="utf-8")
    (folder / TIMESTAMP).write_text(_text(course, student, exercise, TIMESTAMP), encoding="utf-8")


def _text(course: Path, student: str, exercise: str, name: str) -> str:
    """Return the content of a submitted file, "" if it cannot be read."""
    content, _ = safe_files.read(course / "submitted", (student, exercise, name), MAX_FILE_BYTES)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return ""
