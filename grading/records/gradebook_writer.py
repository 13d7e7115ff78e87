"""The one writer of a course's gradebook, graded notebooks and feedback pages."""

import shutil
from pathlib import Path

import nbformat
from nbgrader import utils
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties

from grading.records.results import replace


class GradebookWriter:
    """Open for as long as one run takes.

    with GradebookWriter(folder, config) as writer:
        writer.record("ada", "int8-matmul", outcome, timestamp)
    """

    def __init__(self, folder, config):
        self.folder = Path(folder)
        self.config = config
        self.gradebook = Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id)
        # What an exercise consists of stays as it is for a run, and need not be read each time.
        self.gradebook.db().expire_on_commit = False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.gradebook.close()

    def given(self, student, exercise):
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

    def _named(self, kind, notebook):
        """(grade or comment, key of its cell) of a submitted notebook, as the gradebook has it now.

        One question for all, where nbgrader's properties ask for each.
        """
        query = self.gradebook.db.query(kind, BaseCell.name)
        query = query.join(BaseCell, BaseCell.id == kind.cell_id)
        return query.filter(kind.notebook_id == notebook.id).populate_existing()

    def record(self, student, exercise, outcome, stamp):
        """Write all that came out. Killed within, it has written a part; then write it again.

        stamp: content of timestamp.txt, b"" if there is none. Returns whether there is a penalty
        for being late, of which `outcome.feedback` doesn't know.
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

    def _gradebook(self, student, exercise, outcome, stamp):
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

    def _penalty(self, student, exercise):
        about = {"notebook": exercise, "assignment": exercise, "student": student}
        about["db_url"] = self.config.CourseDirectory.db_url
        step = AssignLatePenalties(config=self.config)
        step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": about})
        self.gradebook.db.expire_all()


def time_of(stamp):
    """When it was handed in, None if timestamp.txt doesn't say it."""
    try:
        return utils.parse_utc(stamp.decode().strip()) if stamp.strip() else None
    except (ValueError, OverflowError, TypeError):
        return None
