"""nbgrader's gradebook: what results it gets, and what instructors have put into it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any

import nbformat
from nbgrader import utils  # type: ignore[import-untyped]
from nbgrader.api import (  # type: ignore[import-untyped]
    Assignment,
    BaseCell,
    Comment,
    Grade,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties  # type: ignore[import-untyped]
from traitlets.config import Config

TIMESTAMP = r"\d[\w :.,+/-]{5,60}"  # a date, a time and perhaps a time zone
Key = tuple[str, str]  # (student, exercise)


@dataclass
class Marks:
    """What the gradebook says about one submission.

    auto: part → points that the grading gave. scores: part → points that count, also those given by
    hand. comments: key of an answer → what somebody wrote about it. late: seconds after the due
    date, or after the extension.
    """

    auto: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    penalty: float = 0
    late: float = 0

    @property
    def score(self) -> float:
        """Return the points after a penalty, as `nbgrader export` does."""
        return max(0, sum(self.scores.values()) - self.penalty)

    @property
    def is_graded(self) -> bool:
        """Return whether there are points, and not just an extension, say."""
        return any(points is not None for points in self.auto.values()) or any(self.scores.values())

    @property
    def hours(self) -> str:
        """Return how many hours it is late, rounded up: 0.01 for a second."""
        return f"{ceil(self.late / 36) / 100:g}"


def marks(book: Any) -> dict[Key, Marks]:
    """Return all that the gradebook says."""
    found: dict[Key, Marks] = defaultdict(Marks)

    def rows(kind: Any, *columns: Any) -> Iterator[Any]:
        of = (SubmittedAssignment.student_id, Assignment.name, BaseCell.name)
        query = book.db.query(*of, *columns).select_from(kind).join(kind.notebook).join(kind.cell)
        yield from query.join(SubmittedNotebook.assignment).join(SubmittedAssignment.assignment)

    for student, name, part, auto, score in rows(Grade, Grade.auto_score, Grade.score):
        own = found[student, name]
        own.auto[part], own.scores[part] = auto, score or 0
    for student, name, key, comment in rows(Comment, Comment.manual_comment):
        if comment:
            found[student, name].comments[key] = comment
    for one in book.db.query(SubmittedAssignment).all():
        own = found[one.student_id, one.name]
        own.penalty, own.late = one.late_submission_penalty or 0, one.total_seconds_late
    return found


def record(book: Any, state: Mapping[Key, Mapping[str, Any]], config: Config) -> None:
    """Bring the gradebook into line with the results.

    Points and comments that were given by hand stay.
    """
    before = marks(book)
    for key, result in state.items():
        points = {part["key"]: part["points"] for part in result["parts"]}
        if not result["page"] or before[key].auto != points:
            _record_one(book, *key, result, points)
    if any(one.duedate for one in book.assignments) or any(one.penalty for one in before.values()):
        for submission in book.db.query(SubmittedAssignment).all():
            for notebook in submission.notebooks:
                if submission.total_seconds_late > 0 or notebook.late_submission_penalty:
                    _apply_penalty(notebook.name, submission.name, submission.student_id, config)
    book.db.expire_all()


def _record_one(
    book: Any, student: str, name: str, result: Mapping[str, Any], points: Mapping[str, float]
) -> None:
    book.update_or_create_student(student)
    submission = book.update_or_create_submission(name, student)
    submission.timestamp = time_of(result["timestamp"])
    (notebook,) = submission.notebooks
    failed = all(part["cause"] == "not-graded" for part in result["parts"])
    for grade in notebook.grades:
        grade.auto_score = points[grade.name]
        grade.needs_manual_grade = failed or grade.manual_score is not None
    book.db.commit()


def _apply_penalty(notebook: str, assignment: str, student: str, config: Config) -> None:
    """Let the course's late submission plugin decide, as nbgrader's autograde does."""
    about = {"notebook": notebook, "assignment": assignment, "student": student}
    about["db_url"] = config.CourseDirectory.db_url
    step = AssignLatePenalties(config=config)
    step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": about})


def time_of(text: str) -> datetime | None:
    """Return the time in the text of a timestamp.txt in UTC, as nbgrader stores it, or None."""
    # The parser opens a file named after the time zone, so refuse paths that lead elsewhere.
    if not re.fullmatch(TIMESTAMP, text, re.ASCII) or ".." in text:
        return None
    try:
        time: datetime | None = utils.parse_utc(text)
    except Exception:  # nbgrader's time parsers raise many kinds of errors
        return None
    return time
