"""nbgrader's exchange, into which every learner can put anything.

nbgrader's own `collect` trusts the names of folders and stops at the first that it cannot parse;
its `release_feedback` stops at the first submission that did not come through the exchange.
"""

import hashlib
import os
import pwd
import stat
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import (  # type: ignore[import-untyped]
    ExchangeCollect,
    ExchangeReleaseFeedback,
)
from nbgrader.utils import parse_utc  # type: ignore[import-untyped]

from grading.course import Course
from grading.intake import EXCHANGE_FILES, MOST_BYTES, name_problem, printable, read_file

Record = dict[str, Any]  # nbgrader's record of a hand-in: username, filename, timestamp
TIMESTAMP, SECRET = EXCHANGE_FILES


def refuse_odd(folder: Path) -> None:
    """Raise ValueError if a folder, which nbgrader would copy whole, holds what it should not.

    nbgrader would follow a link, and wait for ever at a FIFO.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            about = Path(parent, name).lstat()
            if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
                raise ValueError(f"{printable(name)} is neither a file nor a folder; take it out")
            if name.endswith(".ipynb") and about.st_size > MOST_BYTES:
                raise ValueError(f"{printable(name)} has more than {MOST_BYTES // 10**6} MB")


class Collect(ExchangeCollect):  # type: ignore[misc]
    """`nbgrader collect` that leaves what it can't take in the exchange, and says so."""

    src_records: list[Record]

    def init_src(self) -> None:
        """Choose one hand-in per student, which `copy_files` then copies."""
        super().init_src()
        chosen, self.src_records = self.src_records, []
        for record in chosen:
            if problem := self._problem(record):
                name = printable(record["filename"])
                self.log.error("%s: %s; it is left in the exchange", name, problem)
            else:
                self.src_records.append(record)

    def _path_to_record(self, path: str) -> Record:
        """Parse <student>+<exercise>+<time>[+<random>]; the name is "" if there is no time."""
        filename = Path(path).name
        student, _, time, *_ = filename.rsplit("+", 3)
        try:
            return {"username": student, "filename": filename, "timestamp": parse_utc(time)}
        except Exception:  # nbgrader's time parsers raise many kinds of errors
            return {"username": "", "filename": filename, "timestamp": datetime.min}

    def _sort_by_timestamp(self, records: Sequence[Record]) -> list[Record]:
        """Return the newest first, but what the student's own account wrote before all others."""
        newest = sorted(records, key=lambda record: record["timestamp"], reverse=True)
        return sorted(newest, key=lambda record: not (self.check_owner and self._is_owner(record)))

    def _is_owner(self, record: Record) -> bool:
        try:
            owner = Path(self.inbound_path, record["filename"]).lstat().st_uid
            return bool(pwd.getpwuid(owner).pw_name == record["username"])
        except (OSError, KeyError):
            return False

    def _problem(self, record: Record) -> str:
        """Return why a record cannot be collected, "" if it can."""
        folder = Path(self.inbound_path, record["filename"])
        if problem := name_problem(record["username"]):
            return problem
        if folder.is_symlink() or not folder.is_dir():
            return "not a folder"
        try:
            refuse_odd(folder)
            size = self.get_size(str(folder))
        except (ValueError, OSError, RecursionError) as error:
            return str(error)
        most = 1000 * self.coursedir.max_dir_size
        return f"more than {most / 10**6:g} MB" if size > most else ""


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """`nbgrader release_feedback` also for submissions that came another way.

    The exchange names a page after a secret that the learner's `nbgrader submit` drew. Where there
    is none, a name is made that nobody can guess.
    """

    def copy_files(self) -> None:
        course, exercise = Course(self.coursedir.root), self.coursedir.assignment_id
        feedback = Path(self.coursedir.format_path(self.coursedir.feedback_directory, ".", "."))
        for folder in sorted(feedback.glob(f"*/{exercise}")):
            student = folder.parent.name
            own = course.folder / "submitted" / student / exercise
            secret = read_file(own / SECRET, 1_000)[0].decode(errors="replace")
            if not secret.strip():
                words = f"{course.seed()} {student} {exercise}"
                secret = hashlib.sha256(words.encode()).hexdigest()
            time = read_file(own / TIMESTAMP, 1_000)[0].decode(errors="replace")
            (folder / SECRET).write_text(secret, encoding="utf-8")
            (folder / TIMESTAMP).write_text(time, encoding="utf-8")
        super().copy_files()
