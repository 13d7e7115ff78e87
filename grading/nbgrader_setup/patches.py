"""Monkey patches of five nbgrader methods whose behavior no setting can change.

Learners choose the folder names in `submitted/` and the files below them. nbgrader uses a name as
a glob pattern, puts it into pages unescaped, copies all files beside a notebook, and stops at a
timestamp that it cannot parse. CONTRIBUTING lists these methods with the tests that guard them.
"""

import functools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.apps.api import NbGraderAPI  # type: ignore[import-untyped]
from nbgrader.converters import Autograde, BaseConverter  # type: ignore[import-untyped]
from nbgrader.converters.base import NbGraderException  # type: ignore[import-untyped]
from nbgrader.coursedir import CourseDirectory  # type: ignore[import-untyped]
from nbgrader.server_extensions.formgrader import base  # type: ignore[import-untyped]

from grading.intake.names import name_problem, printable
from grading.intake.submissions import refuse_special_files

IDS_IN_PAGES = ("student_id", "assignment_id", "notebook_id")


def install() -> None:
    """Patch nbgrader's methods, once per process."""
    for owner, name, replaced in (
        (Autograde, "init_destination", _refuse_special_files),
        (BaseConverter, "init_notebooks", _skip_invalid_names),
        (CourseDirectory, "get_existing_timestamp", _none_if_unreadable),
        (NbGraderAPI, "get_submitted_students", _valid_students),
        (base.BaseHandler, "render", _refuse_invalid_ids),
    ):
        original = getattr(owner, name)
        if not hasattr(original, "__wrapped__"):
            setattr(owner, name, replaced(original))


def _refuse_special_files(original: Callable[..., bool]) -> Callable[..., bool]:
    """Fail one submission if its folder holds symlinks, FIFOs or oversized notebooks.

    nbgrader would follow symlinks, and block forever on a FIFO. `init_destination` is its first
    step for a submission, and an error in it fails only that submission.
    """

    @functools.wraps(original)
    def init_destination(self: Any, assignment_id: str, student_id: str) -> bool:
        course = self.coursedir
        folder = course.format_path(course.submitted_directory, student_id, assignment_id)
        refuse_special_files(Path(course.root, folder))
        return original(self, assignment_id, student_id)

    return init_destination


def _skip_invalid_names(original: Callable[..., None]) -> Callable[..., None]:
    """Skip folders with invalid student names: the name `*` would match every folder."""

    @functools.wraps(original)
    def init_notebooks(self: Any) -> None:
        original(self)
        for folder in list(self.assignments):
            student = Path(folder).parent.name
            if problem := name_problem(student):
                self.log.error("%s: %s; its folder is left out", printable(student), problem)
                del self.assignments[folder]
        if not self.assignments:
            raise NbGraderException("No submissions of students who can be graded")

    return init_notebooks


def _none_if_unreadable(
    original: Callable[..., datetime | None],
) -> Callable[..., datetime | None]:
    """Make the method return None if a learner's timestamp.txt cannot be parsed."""

    @functools.wraps(original)
    def get_existing_timestamp(self: Any, folder: str) -> datetime | None:
        try:
            return original(self, folder)
        except Exception:  # nbgrader's time parsers raise many kinds of errors
            return None

    return get_existing_timestamp


def _valid_students(original: Callable[..., set[str]]) -> Callable[..., set[str]]:
    """Skip invalid student names: the formgrader puts names into its pages unescaped."""

    @functools.wraps(original)
    def get_submitted_students(self: Any, assignment_id: str) -> set[str]:
        return {student for student in original(self, assignment_id) if not name_problem(student)}

    return get_submitted_students


def _refuse_invalid_ids(original: Callable[..., str]) -> Callable[..., str]:
    """Answer 404 for invalid names in the formgrader's URLs.

    Its pages put them into scripts unescaped, and %3C in a URL stands for <.
    """

    @functools.wraps(original)
    def render(self: Any, template: str, **values: Any) -> str:
        if any(name_problem(values[name]) for name in IDS_IN_PAGES if values.get(name)):
            raise base.web.HTTPError(404)
        return original(self, template, **values)

    return render
