"""Writes grading results: the gradebook, graded notebooks and feedback pages."""

import functools
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from nbgrader.preprocessors import AssignLatePenalties  # type: ignore[import-untyped]
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from traitlets.config import Config

from grading.records import gradebook
from grading.records.results import replace

TIMESTAMP = r"\d[\w :.,+/-]{5,60}"  # a date, a time and perhaps a time zone


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


@dataclass(frozen=True)
class _Ids:
    """The gradebook's ids of an exercise, its notebook and, by name, its cells."""

    assignment: str
    notebook: str
    graded: Mapping[str, str]
    commented: Mapping[str, str]


class GradebookWriter:
    """Writes results, with the gradebook open for one grading.

    with GradebookWriter(folder, config) as writer:
        writer.record("ada", "int8-matmul", outcome, timestamp)
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.config = config
        about = config.CourseDirectory
        self.gradebook = gradebook.opened(about.db_url, about.course_id)
        # Don't reload objects after each commit: the cells of an exercise don't change meanwhile.
        self.gradebook.db().expire_on_commit = False
        self.ids = functools.cache(self._exercise_ids)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.gradebook.close()

    def given(
        self, student: str, exercise: str
    ) -> tuple[dict[str, tuple[float | None, float]], dict[str, str]]:
        """Return the instructor's manual points and comments, as in a `Job`."""
        notebook = self._notebook(student, exercise)
        if notebook is None:
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
        """Return (student, exercise) → all manual points and comments, sorted."""
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
                if any(given) or given[0] == 0:  # manual points may be 0
                    found.setdefault((student, exercise), []).append([cell, *given])
        return {key: sorted(given, key=repr) for key, given in found.items()}

    def _notebook(self, student: str, exercise: str) -> str | None:
        """Return the id of a submitted notebook, None if it is not in the gradebook."""
        found = select(SubmittedNotebook.id).join(SubmittedAssignment).join(Assignment)
        found = found.where(Assignment.name == exercise)
        found = found.where(SubmittedAssignment.student_id == student)
        notebook: str | None = self.gradebook.db.scalar(found)
        return notebook

    def _named(self, kind: Any, notebook: str) -> Any:
        """Query (grade or comment, key of its cell) for a submitted notebook.

        The query bypasses the cache. This is a single query; nbgrader's properties make one for
        each cell.
        """
        query = self.gradebook.db.query(kind, BaseCell.name)
        query = query.join(BaseCell, BaseCell.id == kind.cell_id)
        return query.filter(kind.notebook_id == notebook).populate_existing()

    def record(self, student: str, exercise: str, outcome: Outcome, timestamp: bytes) -> bool:
        """Write all results of grading one submission; idempotent.

        Call it again after an interruption. timestamp: content of timestamp.txt, b"" if there is
        none. Returns whether there is a late penalty; `outcome.feedback` does not show it, so the
        page must be rewritten.
        """
        folder = self.folder / "autograded" / student / exercise
        shutil.rmtree(folder, ignore_errors=True)
        late = self._write_gradebook(student, exercise, outcome, timestamp)
        replace(folder / f"{exercise}.ipynb", outcome.notebook)
        if timestamp:
            replace(folder / "timestamp.txt", timestamp.decode(errors="replace"))
        page = outcome.feedback
        replace(self.folder / "feedback" / student / exercise / f"{exercise}.html", page)
        return late

    def _write_gradebook(
        self, student: str, exercise: str, outcome: Outcome, timestamp: bytes
    ) -> bool:
        book = self.gradebook
        points = {part["key"]: part["points"] for part in outcome.parts}
        failed = all(part["cause"] == "not-graded" for part in outcome.parts)
        if self._notebook(student, exercise) is None:
            book.update_or_create_student(student)
            about = points, failed, outcome.comments, parse_timestamp(timestamp)
            try:
                if not self._insert(student, exercise, *about):
                    return False
            except IntegrityError:  # another program inserted the submission concurrently
                book.db.rollback()
        submission = book.update_or_create_submission(exercise, student)
        submission.timestamp = parse_timestamp(timestamp)
        (notebook,) = submission.notebooks
        for grade, name in self._named(Grade, notebook.id):
            grade.auto_score = points[name]
            grade.needs_manual_grade = failed or grade.manual_score is not None
        for comment, name in self._named(Comment, notebook.id):
            comment.auto_comment = outcome.comments.get(name)
        book.db.commit()
        if submission.total_seconds_late > 0 or notebook.late_submission_penalty:
            self._apply_penalty(student, exercise)
        return bool(notebook.late_submission_penalty)

    def _insert(
        self,
        student: str,
        exercise: str,
        points: Mapping[str, float],
        failed: bool,
        comments: Mapping[str, str],
        time: datetime | None,
    ) -> bool:
        """Insert a first submission as nbgrader's `add_submission` does.

        Returns whether the exercise has a due date. This takes one statement per table; nbgrader's
        statements for each cell would take longer than all other work on a notebook here.
        """
        db = self.gradebook.db
        ids = self.ids(exercise)
        assignment = {"id": new_uuid(), "student_id": student, "timestamp": time}
        notebook = {"id": new_uuid(), "notebook_id": ids.notebook}
        notebook["assignment_id"] = assignment["id"]
        about = {"notebook_id": notebook["id"]}
        grades = [
            about | {"cell_id": cell, "auto_score": points[name], "needs_manual_grade": failed}
            for name, cell in ids.graded.items()
        ]
        rows = [
            about | {"cell_id": cell, "auto_comment": comments.get(name)}
            for name, cell in ids.commented.items()
        ]
        db.execute(insert(SubmittedAssignment), [assignment | {"assignment_id": ids.assignment}])
        db.execute(insert(SubmittedNotebook), [notebook])
        db.execute(insert(Grade), grades)
        db.execute(insert(Comment), rows)
        db.commit()
        due = select(Assignment.duedate).where(Assignment.id == ids.assignment)
        return db.scalar(due) is not None

    def _exercise_ids(self, exercise: str) -> _Ids:
        notebook = self.gradebook.find_notebook(exercise, exercise)
        return _Ids(
            notebook.assignment_id,
            notebook.id,
            {cell.name: cell.id for cell in notebook.grade_cells},
            {cell.name: cell.id for cell in notebook.solution_cells},
        )

    def update_penalties(self) -> list[tuple[str, str]]:
        """Apply the current due dates to all submissions.

        Returns (student, exercise) of those whose late penalty changed.
        """
        changed = []
        for submission in self.gradebook.db.query(SubmittedAssignment).all():
            for notebook in submission.notebooks:
                before = notebook.late_submission_penalty or 0
                if submission.total_seconds_late <= 0 and not before:
                    continue
                student, exercise = submission.student_id, submission.name
                self._apply_penalty(student, exercise)
                if (notebook.late_submission_penalty or 0) != before:
                    changed.append((student, exercise))
        return changed

    def _apply_penalty(self, student: str, exercise: str) -> None:
        about = {"notebook": exercise, "assignment": exercise, "student": student}
        about["db_url"] = self.config.CourseDirectory.db_url
        step = AssignLatePenalties(config=self.config)
        empty = nbformat.v4.new_notebook()
        step.preprocess(empty, {"nbgrader": about})
        self.gradebook.db.expire_all()


def parse_timestamp(content: bytes) -> datetime | None:
    """Parse the content of a timestamp.txt; return None if it is not a time."""
    text = content.decode("utf-8-sig", errors="replace").strip()
    # The parser opens a file named after the time zone, so refuse paths that lead elsewhere.
    if not re.fullmatch(TIMESTAMP, text, re.ASCII) or ".." in text:
        return None
    try:
        time: datetime | None = utils.parse_utc(text)
    except Exception:  # nbgrader's time parsers raise many kinds of errors
        return None
    return time
