"""`nbgrader validate` fails, with exit status 1, if a part of a notebook is not right.

Stock nbgrader lists the failed checks and exits with 0. The learner's nbgrader_config.py calls
`install`. Validate in JupyterLab needs nothing: it lists what each failed check says.
"""

import sys

from nbformat import NotebookNode
from nbgrader.apps import validateapp  # type: ignore[import-untyped]
from nbgrader.validator import Validator  # type: ignore[import-untyped]

__all__ = ["install"]


class CountingValidator(Validator):  # type: ignore[misc]
    """nbgrader's validator, which remembers how many cells failed."""

    failed = 0

    def _get_failed_cells(self, nb: NotebookNode) -> list[NotebookNode]:
        found: list[NotebookNode] = super()._get_failed_cells(nb)
        type(self).failed += len(found)
        return found


def install() -> None:
    """Let `nbgrader validate` in this process exit with 1 if cells failed."""
    validate = validateapp.ValidateApp.start

    def start(app: validateapp.ValidateApp) -> None:
        validate(app)
        if CountingValidator.failed:
            sys.exit(1)

    validateapp.Validator = CountingValidator
    validateapp.ValidateApp.start = start
