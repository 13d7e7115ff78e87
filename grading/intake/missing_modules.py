"""Modules that a notebook imports and that are not installed where it is graded."""

from nbformat import NotebookNode

from grading.intake.own_code import imported
from grading.sandbox.modules import is_installed

MAX_NAME_CHARACTERS = 100  # of a module in a report


def missing_modules(nb: NotebookNode) -> list[str]:
    """Return the names of these top-level modules, sorted."""
    sources = [cell.source for cell in nb.cells if cell.cell_type == "code"]
    found = frozenset().union(*map(imported, sources))
    return sorted(name[:MAX_NAME_CHARACTERS] for name in found if not is_installed(name))


def sentence(modules: list[str]) -> str:
    """Return the sentence for the learner."""
    *others, last = modules
    if not others:
        return f"{last} is not installed where notebooks are graded."
    return f"{', '.join(others)} and {last} are not installed where notebooks are graded."
