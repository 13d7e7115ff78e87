"""What stands before plain `nbgrader autograde` and the formgrader, where nbgrader has no place for
it: a look at the folder that it is about to copy."""

import functools
from pathlib import Path

from nbgrader.converters import Autograde

from .intake import refuse_odd_files


def install():
    """Make Autograde pass over a folder with links, FIFOs or the like, and name it in its log.

    nbgrader would copy what a link points to, and wait for ever at a FIFO. Of its methods
    `init_destination` is the first that is called for each submission; an error in it is that
    submission's alone.
    """
    plain = Autograde.init_destination
    if hasattr(plain, "__wrapped__"):
        return

    @functools.wraps(plain)
    def init_destination(self, assignment_id, student_id):
        folder = Path(self.coursedir.root, self._format_source(assignment_id, student_id))
        refuse_odd_files(folder)
        return plain(self, assignment_id, student_id)

    Autograde.init_destination = init_destination
