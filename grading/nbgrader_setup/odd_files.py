"""Makes plain `nbgrader autograde` refuse or leave out odd files in a submitted folder.

nbgrader has no setting for this, so two methods of its Autograde are replaced.
"""

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde  # type: ignore[import-untyped]

from grading.intake.submissions import refuse_odd_files


def install() -> None:
    """Replace the two methods, once in this process.

    nbgrader copies the whole submitted folder. It would follow links, wait for ever at a FIFO, and
    put a learner's own HTML pages where the formgrader serves them with the instructor's login.
    `init_destination` comes first, and an error in it stops only that submission.
    """
    if not hasattr(Autograde.init_destination, "__wrapped__"):
        Autograde.init_destination = _checked(Autograde.init_destination)
        Autograde.init_assignment = _cleared(Autograde.init_assignment)


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
