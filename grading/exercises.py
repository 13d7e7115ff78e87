"""Where the exercises are, what they ask, and what their reference solutions answer."""

import functools
import hashlib
import importlib
from pathlib import Path

import nbformat

from rooflib.check.values import ask

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "exercises" / "source"
CHECKS = ROOT / "exercises" / "checks"


def names():
    """The exercises in the order of the course: by the number in their title."""
    return sorted(
        (folder.name for folder in SOURCE.iterdir() if (folder / f"{folder.name}.ipynb").exists()),
        key=lambda name: (source(name).cells[0].source.splitlines()[0], name),
    )


@functools.cache
def load(name):
    """What is asked: `EXERCISE` of exercises/checks/<name>.py."""
    return importlib.import_module(f"exercises.checks.{name.replace('-', '_')}").EXERCISE


@functools.cache
def source(name):
    """The source notebook, with the reference solution. Not to be changed."""
    return nbformat.read(SOURCE / name / f"{name}.ipynb", as_version=4)


def digest(name):
    """Changes when anything that decides about grades, or their pages, changes."""
    own = Path(__file__).parent
    files = [SOURCE / name / f"{name}.ipynb", *CHECKS.glob("*.py"), *own.rglob("*.py")]
    files += [*(ROOT / "rooflib" / "check").glob("*.py"), *own.glob("templates/*/*")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


def is_check(cell):
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


@functools.cache
def _solutions(name):
    """What the source notebook defines: it is ours, so it may run here."""
    namespace = {"__name__": "reference"}
    for cell in source(name).cells:
        if cell.cell_type == "code" and not is_check(cell):
            exec(compile(cell.source, f"{name}.ipynb", "exec"), namespace)
    return namespace


def expected(name, part, case):
    """What the reference solution answers, as plain data."""
    answer = ask(_solutions(name)[part.function], case, part.kind)
    if answer.problem:
        raise ValueError(f"{name}, {part.key}: the reference {answer.problem}: {answer.detail}")
    return answer.value
