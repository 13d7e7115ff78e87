"""Modules that a notebook imports but that the grader does not have installed."""

from nbformat import NotebookNode

from grading.intake.own_code import imported
from grading.sandbox.modules import is_installed
from roofkit.words import _

MAX_NAME_CHARACTERS = 100  # characters of a module's name in a report


def missing_modules(nb: NotebookNode) -> list[str]:
    """Return the missing top-level modules that a notebook imports, sorted."""
    sources = [cell.source for cell in nb.cells if cell.cell_type == "code"]
    found = frozenset().union(*map(imported, sources))
    return sorted(name[:MAX_NAME_CHARACTERS] for name in found if not is_installed(name))


def sentence(modules: list[str]) -> str:
    """Return the sentence that tells the learner about missing modules."""
    *others, last = modules
    if not others:
        return _("{module} is not installed where notebooks are graded.").format(module=last)
    said = _("{modules} and {module} are not installed where notebooks are graded.")
    return said.format(modules=", ".join(others), module=last)
