"""Messages of `nbgrader validate` and the Validate button for roofkit's checks.

nbgrader lists failed cells or says "Success!", which claims more than the checks can know, and has
no option to change that. With this package, command and button report how many parts are right,
which are still to be written, and the message of each other part's check. The texts are in
messages.json. nbgrader_config.py installs the validator for the command, `server` for the button's
results, and the JupyterLab extension in labextensions/ changes the text of the button's dialog.
"""

import json
import re
from importlib.resources import files

from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbgrader.apps import validateapp  # type: ignore[import-untyped]
from nbgrader.utils import is_grade  # type: ignore[import-untyped]
from nbgrader.validator import Validator  # type: ignore[import-untyped]

from roofkit.check.wording import wrapped
from roofkit.notebook_language import language_of
from roofkit.words import N_, _, spoken

__all__ = ["MESSAGES", "install"]

EXTENSION = files(__name__).joinpath("labextensions", "roofkit-validate")
MESSAGES: dict[str, str] = json.loads(
    EXTENSION.joinpath("messages.json").read_text(encoding="utf-8")
)
# The texts of messages.json again, so that they are extracted for translation.
MARKED = {
    "some": N_("{right} of {parts} parts right."),
    "all": N_(
        "{right} of {parts} parts right, for the published cases. Grading asks the same functions "
        "with these cases and with others that are not shown here. Each check names the cases that "
        "it compared and the ranges that grading draws from."
    ),
    "right": N_("{part}: right for the published cases."),
    "unwritten": N_("Still to be written: {parts}."),
    "unwritten_line": N_("The function is still to be written."),
    "stopped": N_("{part}: no answer to check, since a cell above stopped with an error:"),
}
SYNTAX = ("SyntaxError", "IndentationError", "TabError")


def summary(right: int, parts: int) -> str:
    """Return how many parts are right and, if all are, what that means."""
    return _said("all" if right == parts else "some").format(right=right, parts=parts)


def messages(code: str) -> dict[str, str]:
    """Return all messages in a language."""
    with spoken(code):
        return {key: _said(key) for key in MESSAGES}


def _said(key: str) -> str:
    """Return a message in the language in force."""
    said = MESSAGES[key]
    return _(said)


def is_unwritten(said: str) -> bool:
    """Return whether a check reported that the function is still unwritten."""
    unwritten = MESSAGES["unwritten_line"], _said("unwritten_line")
    return any(line.strip() in unwritten for line in said.splitlines())


class HonestValidator(Validator):  # type: ignore[misc]
    """nbgrader's validator, with other messages for notebooks with roofkit's checks."""

    def _get_failed_cells(self, nb: NotebookNode) -> list[NotebookNode]:
        failed: list[NotebookNode] = super()._get_failed_cells(nb)
        parts = [cell for cell in nb.cells if cell.cell_type == "code" and is_grade(cell)]
        # Notebooks of other courses keep nbgrader's messages.
        self.ours = any(cell.source.startswith("check(") for cell in parts)
        self.parts, self.failed, self.cells = parts, failed, nb.cells
        self.language = language_of(nb)
        return failed

    def _extract_error(self, cell: NotebookNode) -> str:
        """Return a check's error; if it is an undefined name, the error of a cell above."""
        error = str(super()._extract_error(cell))
        missing = re.search(r"NameError: name '(\w+)' is not defined", _plain(error))
        cause = self._cause(cell, missing[1]) if missing and self.ours else ""
        if not cause:
            return error
        with spoken(self.language):
            said = wrapped(_said("stopped").format(part=cell.metadata.nbgrader.grade_id))
        # A NameError of the check itself adds nothing to its cause: leave it out.
        own = any(output.get("ename") == "NameError" for output in cell.outputs)
        return "\n".join([said, cause] if own else [said, cause, error])

    def _cause(self, check: NotebookNode, name: str) -> str:
        """Return the last error of cells above a check that mention this name, or ""."""
        above = self.cells[: self.cells.index(check)]
        for cell in reversed([one for one in above if one.cell_type == "code"]):
            if cell not in self.parts and re.search(rf"\b{name}\b", cell.source):
                errors = (output for output in cell.outputs if output.output_type == "error")
                if error := next(errors, None):
                    return _shown(error)
        return ""

    def _print_num_failed(self, num_failed: int) -> None:
        if not self.ours:
            super()._print_num_failed(num_failed)
            return
        with spoken(self.language):
            self._print_parts()

    def _print_parts(self) -> None:
        right = sum(cell not in self.failed for cell in self.parts)
        self.stream.write(wrapped(summary(right, len(self.parts)), self.width) + "\n")
        said = {cell.metadata.nbgrader.grade_id: self._said(cell) for cell in self.parts}
        if unwritten := [part for part, words in said.items() if is_unwritten(words)]:
            line = _said("unwritten").format(parts=", ".join(unwritten))
            self.stream.write("\n" + wrapped(line, self.width) + "\n")
        for part, words in said.items():
            if part not in unwritten:
                self.stream.write("\n" + self._indent(words.rstrip()) + "\n")

    def _print_error(self, source: str, error: str) -> None:
        # For roofkit's checks, `_print_parts` has already printed the errors.
        if not self.ours:
            super()._print_error(source, error)

    def _said(self, cell: NotebookNode) -> str:
        """Return the output of a part's check, or its error."""
        if cell in self.failed:
            return f"{self._extract_error(cell)}"
        return "".join(output.text for output in cell.outputs if "text" in output)


def _shown(error: NotebookNode) -> str:
    """Return a syntax error with its source line, any other error as its last line."""
    lines = _plain("\n".join(error.traceback)).strip("\n").splitlines()
    return "\n".join(lines if error.ename in SYNTAX else lines[-1:])


def _plain(text: str) -> str:
    """Return the text without ANSI color codes."""
    return str(strip_ansi(text))  # type: ignore[no-untyped-call]


def install() -> None:
    """Make the command `nbgrader validate` use HonestValidator in this process."""
    validateapp.Validator = HonestValidator
