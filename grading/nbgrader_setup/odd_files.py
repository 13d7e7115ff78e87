"""What plain `nbgrader autograde` and the formgrader lack, where nbgrader has no place for it: care
with the folder that is handed in."""

import functools
import shutil
from pathlib import Path

from nbgrader.converters import Autograde

from grading.intake.submissions import refuse_odd_files


def install():
    """Change what Autograde does with a submitted folder, once in this process.

    nbgrader copies all of it: it would copy what a link points to, wait for ever at a FIFO, and lay
    out pages of a learner's where the formgrader shows them in the instructor's name. An error in
    `init_destination`, which comes first, is that submission's alone.
    """
    if not hasattr(Autograde.init_destination, "__wrapped__"):
        Autograde.init_destination = _looked_at(Autograde.init_destination)
        Autograde.init_assignment = _cleared(Autograde.init_assignment)


def _looked_at(plain):
    @functools.wraps(plain)
    def init_destination(self, assignment_id, student_id):
        refuse_odd_files(Path(self.coursedir.root, self._format_source(assignment_id, student_id)))
        return plain(self, assignment_id, student_id)

    return init_destination


def _cleared(plain):
    @functools.wraps(plain)
    def init_assignment(self, assignment_id, student_id):
        plain(self, assignment_id, student_id)
        copied = Path(self.coursedir.root, self._format_dest(assignment_id, student_id))
        for path in copied.glob("*"):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != "timestamp.txt":
                path.unlink()

    return init_assignment
