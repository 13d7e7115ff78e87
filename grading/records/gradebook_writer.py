"""The one writer of a course's gradebook, graded notebooks and feedback pages."""

import re
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Self

import nbformat
from nbgrader import utils  # type: ignore[import-untyped]
from nbgrader.api import (  # type: ignore[import-untyped]
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties  # type: ignore[import-untyped]
from traitlets.config import Config

from grading.records.results import replace

STAMP = r"\d[\w :.,+/-]{5,60}"  # a time that begins with a date, and perhaps names a zone


class Outcome(Protocol):
    """The part of `grading.work.Outcome` that is recorded here."""

    @property
    def notebook(self) -> str: ...
    @property
    def feedback(self) -> str: ...
    @property
    def comments(self) -> Mapping[str, str]: ...
    @property
    def parts(self) -> Sequence[Mapping[str, Any]]: ...


class GradebookWriter:
    """Keeps the gradebook open for one run.

    with GradebookWriter(folder, config) as writer:
        writer.record("ada", "int8-matmul", outcome, timestamp)
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.config = config
        self.gradebook = Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id)
        # The cells of an exercise don't change during a run, so they are not read again after
        # each commit.
        self.gradebook.db().expire_on_commit = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.gradebook.close()

    def given(
        self, student: str, exercise: str
    ) -> tuple[dict[str, tuple[float | None, float]], dict[str, str]]:
        """What the instructor gave by hand, by the key of the cell: `Job.manual`, `.comments`."""
        try:
            notebook = self.gradebook.find_submission_notebook(exercise, exercise, student)
        except MissingEntry:
            return {}, {}
        points = {
            name: (grade.manual_score, grade.extra_credit or 0)
            for grade, name in self._named(Grade, notebook)
            if grade.manual_score is not None or grade.extra_credit
        }
        comments = {
            name: comment.manual_comment
            for comment, name in self._named(Comment, notebook)
            if comment.manual_comment
        }
        return points, comments

    def all_given(self) -> dict[tuple[str, str], list[list[Any]]]:
        """(student, exercise) → all that the instructor gave by hand, in an order of its own."""
        found: dict[tuple[str, str], list[list[Any]]] = {}
        for kind, values in (
            (Grade, (Grade.manual_score, Grade.extra_credit)),
            (Comment, (Comment.manual_comment,)),
        ):
            query = self.gradebook.db.query(
                SubmittedAssignment.student_id, Assignment.name, BaseCell.name, *values
            )
            query = query.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            query = query.join(
                SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id
            )
            query = query.join(kind, kind.notebook_id == SubmittedNotebook.id)
            query = query.join(BaseCell, BaseCell.id == kind.cell_id)
            for student, exercise, cell, *given in query:
                if any(value not in (None, "") for value in given) and given != [None, 0]:
                    found.setdefault((student, exercise), []).append([cell, *given])
        return {place: sorted(given, key=repr) for place, given in found.items()}

    def _named(self, kind: Any, notebook: Any) -> Any:
        """(grade or comment, key of its cell) of a submitted notebook, as now in the gradebook.

        One query for all of them; nbgrader's properties make one for each.
        """
        query = self.gradebook.db.query(kind, BaseCell.name)
        query = query.join(BaseCell, BaseCell.id == kind.cell_id)
        return query.filter(kind.notebook_id == notebook.id).populate_existing()

    def record(self, student: str, exercise: str, outcome: Outcome, stamp: bytes) -> bool:
        """Write everything that came out of a grading. If it is interrupted, call it again.

        stamp: content of timestamp.txt, b"" if there is none. Returns whether points are taken off
        for lateness, which `outcome.feedback` does not show.
        """
        folder = self.folder / "autograded" / student / exercise
        shutil.rmtree(folder, ignore_errors=True)
        late = self._gradebook(student, exercise, outcome, stamp)
        replace(folder / f"{exercise}.ipynb", outcome.notebook)
        if stamp:
            replace(folder / "timestamp.txt", stamp.decode(errors="replace"))
        page = outcome.feedback
        replace(self.folder / "feedback" / student / exercise / f"{exercise}.html", page)
        return late

    def _gradebook(self, student: str, exercise: str, outcome: Outcome, stamp: bytes) -> bool:
        book = self.gradebook
        book.update_or_create_student(student)
        submission = book.update_or_create_submission(exercise, student)
        submission.timestamp = time_of(stamp)
        (notebook,) = submission.notebooks
        points = {part["key"]: part["points"] for part in outcome.parts}
        failed = all(part["cause"] == "not-graded" for part in outcome.parts)
        for grade, name in self._named(Grade, notebook):
            grade.auto_score = points[name]
            grade.needs_manual_grade = failed or grade.manual_score is not None
        for comment, name in self._named(Comment, notebook):
            comment.auto_comment = outcome.comments.get(name)
        book.db.commit()
        if submission.total_seconds_late > 0 or notebook.late_submission_penalty:
            self._penalty(student, exercise)
        return bool(notebook.late_submission_penalty)

    def penalties_now(self) -> list[tuple[str, str]]:
        """Apply the due dates and the penalties that hold now, to all that was recorded before.

        Returns (student, exercise) of those from whom something else is taken off than before.
        """
        self.gradebook.db.expire_all()
        changed = []
        for submission in self.gradebook.db.query(SubmittedAssignment).all():
            for notebook in submission.notebooks:
                before = notebook.late_submission_penalty or 0
                if submission.total_seconds_late <= 0 and not before:
                    continue
                student, exercise = submission.student_id, submission.name
                self._penalty(student, exercise)
                if (notebook.late_submission_penalty or 0) != before:
                    changed.append((student, exercise))
        return changed

    def _penalty(self, student: str, exercise: str) -> None:
        about = {"notebook": exercise, "assignment": exercise, "student": student}
        about["db_url"] = self.config.CourseDirectory.db_url
        step = AssignLatePenalties(config=self.config)
        nothing = nbformat.v4.new_notebook()
        step.preprocess(nothing, {"nbgrader": about})
        self.gradebook.db.expire_all()


def time_of(stamp: bytes) -> datetime | None:
    """When the submission was handed in; None if timestamp.txt does not say."""
    text = stamp.decode("utf-8-sig", errors="replace").strip()
    # The name of a time zone is taken for that of a file.
    if not re.fullmatch(STAMP, text, re.ASCII) or ".." in text:
        return None
    try:
        time: datetime | None = utils.parse_utc(text)
    except Exception:  # of whatever reader of times
        return None
    return time
