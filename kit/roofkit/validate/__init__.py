"""What `nbgrader validate` and the Validate button say of a notebook with roofkit's checks.

nbgrader lists the cells that failed, or says "Success!", which is more than the checks know, and
has no option for either. Here both say how many parts are right, and then each part once, with the
words in messages.json: nbgrader_config.py brings them to the command, the extension of JupyterLab
in labextensions/ to the button.
"""

import json
from importlib.resources import files
from textwrap import fill

from nbformat import NotebookNode
from nbgrader.apps import validateapp  # type: ignore[import-untyped]
from nbgrader.utils import is_grade  # type: ignore[import-untyped]
from nbgrader.validator import Validator  # type: ignore[import-untyped]

__all__ = ["MESSAGES", "install"]

EXTENSION = files(__name__).joinpath("labextensions", "roofkit-validate")
MESSAGES: dict[str, str] = json.loads(
    EXTENSION.joinpath("messages.json").read_text(encoding="utf-8")
)


def summary(right: int, parts: int) -> str:
    """How many parts are right, and if all are, what that means."""
    return MESSAGES["all" if right == parts else "some"].format(right=right, parts=parts)


class HonestValidator(Validator):  # type: ignore[misc]
    """nbgrader's validator, with words of its own for notebooks with roofkit's checks."""

    def _get_failed_cells(self, nb: NotebookNode) -> list[NotebookNode]:
        failed: list[NotebookNode] = super()._get_failed_cells(nb)
        parts = [cell for cell in nb.cells if cell.cell_type == "code" and is_grade(cell)]
        # Notebooks of other courses keep nbgrader's words.
        self.ours = any(cell.source.startswith("check(") for cell in parts)
        self.parts, self.failed = parts, failed
        return failed

    def _print_num_failed(self, num_failed: int) -> None:
        if not self.ours:
            super()._print_num_failed(num_failed)
            return
        right = sum(cell not in self.failed for cell in self.parts)
        self.stream.write(fill(summary(right, len(self.parts)), self.width) + "\n")
        for cell in self.parts:
            self.stream.write("\n" + self._indent(self._said(cell).rstrip()) + "\n")

    def _print_error(self, source: str, error: str) -> None:
        # What a part's check said stands in its place among the parts already.
        if not self.ours:
            super()._print_error(source, error)

    def _said(self, cell: NotebookNode) -> str:
        """What the check of a part printed, or the error that it ended with."""
        if cell in self.failed:
            return f"{self._extract_error(cell)}"
        return "".join(output.text for output in cell.outputs if "text" in output)


def install() -> None:
    """Let the command `nbgrader validate` use HonestValidator in this process."""
    validateapp.Validator = HonestValidator
