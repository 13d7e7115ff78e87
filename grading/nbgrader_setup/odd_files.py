"""Makes plain nbgrader refuse odd names of students, and refuse or leave out odd files.

nbgrader has no setting for this, so two methods of its Autograde are replaced, two that find out
who has handed in, and the one that makes the formgrader's pages.
"""

import functools
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.apps.api import NbGraderAPI  # type: ignore[import-untyped]
from nbgrader.converters import Autograde, BaseConverter  # type: ignore[import-untyped]
from nbgrader.converters.base import NbGraderException  # type: ignore[import-untyped]
from nbgrader.server_extensions.formgrader import base  # type: ignore[import-untyped]

from grading.intake.names import shown, unfit
from grading.intake.submissions import refuse_odd_files

IN_ADDRESSES = ("student_id", "assignment_id", "notebook_id")


def install() -> None:
    """Replace the methods, once in this process.

    nbgrader copies the whole submitted folder. It would follow links, wait for ever at a FIFO, and
    put a learner's own HTML pages where the formgrader serves them with the instructor's login.
    `init_destination` comes first, and an error in it stops only that submission.
    """
    if not hasattr(Autograde.init_destination, "__wrapped__"):
        Autograde.init_destination = _checked(Autograde.init_destination)
        Autograde.init_assignment = _cleared(Autograde.init_assignment)
        BaseConverter.init_notebooks = _of_fit_names(BaseConverter.init_notebooks)
        NbGraderAPI.get_submitted_students = _fit_names(NbGraderAPI.get_submitted_students)
        base.BaseHandler.render = _of_fit_addresses(base.BaseHandler.render)


def _fit_names(plain: Callable[..., set[str]]) -> Callable[..., set[str]]:
    """Without those who can't be a student: the formgrader would put their names into its pages."""

    @functools.wraps(plain)
    def get_submitted_students(self: Any, assignment_id: str) -> set[str]:
        return {student for student in plain(self, assignment_id) if not unfit(student)}

    return get_submitted_students


def _of_fit_addresses(plain: Callable[..., str]) -> Callable[..., str]:
    """No page about a name that nobody can have: the formgrader's pages take names out of their
    addresses, in which %3C stands for <, and put them into their scripts as they are."""

    @functools.wraps(plain)
    def render(self: Any, template: str, **names: Any) -> str:
        if any(unfit(names.get(one) or "") for one in IN_ADDRESSES):
            raise base.web.HTTPError(404)
        return plain(self, template, **names)

    return render


def _of_fit_names(plain: Callable[..., None]) -> Callable[..., None]:
    """Without their folders: nbgrader would take the name `*` for everybody's."""

    @functools.wraps(plain)
    def init_notebooks(self: Any) -> None:
        plain(self)
        form = self._format_source("(?P<assignment_id>.*)", "(?P<student_id>.*)", escape=True)
        for folder in list(self.assignments):
            found = re.match(form, folder)
            student = found["student_id"] if found else ""
            problem = "" if student == "." else unfit(student)  # what is released is nobody's
            if problem:
                self.log.error("%s: %s; its folder is left out", shown(student), problem)
                del self.assignments[folder]
        if not self.assignments:
            raise NbGraderException("No submissions of students who can be graded")

    return init_notebooks


def _checked(plain: Callable[..., bool]) -> Callable[..., bool]:
    @functools.wraps(plain)
    def init_destination(self: Any, assignment_id: str, student_id: str) -> bool:
        refuse_odd_files(Path(self.coursedir.root, self._format_source(assignment_id, student_id)))
        return plain(self, assignment_id, student_id)

    return init_destination


def _cleared(plain: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(plain)
    def init_assignment(self: Any, assignment_id: str, student_id: str) -> None:
        plain(self, assignment_id, student_id)
        copied = Path(self.coursedir.root, self._format_dest(assignment_id, student_id))
        for path in copied.glob("*"):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != "timestamp.txt":
                path.unlink()

    return init_assignment
