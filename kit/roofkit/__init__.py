"""Helpers for learners' notebooks and pages of the book, on top of `rooflib`.

`roofkit.check` compares a learner's functions with published cases, `roofkit.figures` has the
interactive figures, and `roofkit.validate` the exit status of `nbgrader validate`.
"""

__version__ = "1.0.0"
