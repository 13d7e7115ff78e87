"""Loading of exercises: parts, notebooks and answers of reference solutions.

One exercise is one folder, exercises/<name>/, with three files of that name: the notebook with the
reference solution (.ipynb), the page of the book (.md), and the parts (.py).
"""

import functools
import hashlib
import runpy
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

import roofkit.check
import rooflib
from grading.schema.parts import Case, Exercise, Part
from roofkit.check.answers import Plain, ask

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises"


def names() -> list[str]:
    """Return the exercises in the order of `_toc.yml`; one that it lacks comes last."""
    found = sorted(
        folder.name for folder in FOLDER.iterdir() if _file(folder.name, ".ipynb").exists()
    )
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = [page["file"] for part in contents["parts"] for page in part["chapters"]]
    listed = [page.split("/")[1] for page in pages if page.startswith("exercises/")]
    return sorted(found, key=lambda name: listed.index(name) if name in listed else len(listed))


@functools.cache
def load(name: str) -> Exercise:
    """Load `EXERCISE` from exercises/<name>/<name>.py."""
    exercise: Exercise = runpy.run_path(str(_file(name, ".py")))["EXERCISE"]
    return exercise


@functools.cache
def source(name: str) -> NotebookNode:
    """Return the source notebook, with the reference solution.

    Callers must not change it.
    """
    notebook: NotebookNode = nbformat.read(_file(name, ".ipynb"), as_version=4)
    return notebook


def digest(name: str) -> str:
    """Return a digest of everything that affects grades or feedback pages."""
    total = hashlib.sha256()
    for label, path in decisive(name):
        content = path.read_bytes()
        total.update(f"{label}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def decisive(name: str) -> list[tuple[str, Path]]:
    """Return (label, path) of all files that affect grades or feedback pages.

    Labels don't depend on the repository's location. The files are the exercise, the grader, its
    checks, and `rooflib`, whose catalog provides the hardware figures of published cases.
    """
    files = [(f"{name}{suffix}", _file(name, suffix)) for suffix in (".ipynb", ".py")]
    packages = {
        "grading": Path(__file__).parents[1],
        "check": Path(roofkit.check.__file__).parent,
        "rooflib": Path(rooflib.__file__).parent,
    }
    # These files, and the catalogs, translate the feedback into a notebook's language.
    kit = Path(roofkit.check.__file__).parents[1]
    files += [(name, kit / name) for name in ("words.py", "notebook_language.py")]
    catalogs = [
        path
        for path in sorted((ROOT / "locale").glob("*/LC_MESSAGES/*.po"))
        if path.stem in ("checks", "grading")
    ]
    files += [(path.relative_to(ROOT).as_posix(), path) for path in catalogs]
    for label, folder in packages.items():
        files += [
            (f"{label}/{path.relative_to(folder).as_posix()}", path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        ]
    return files


def is_check(cell: NotebookNode) -> bool:
    """Return whether a cell is a check, for which nbgrader records points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


@functools.cache
def _solutions(name: str) -> dict[str, Any]:
    """Run the trusted source notebook without its checks; return the namespace."""
    namespace: dict[str, Any] = {"__name__": "reference"}
    for cell in source(name).cells:
        if cell.cell_type == "code" and not is_check(cell):
            exec(compile(cell.source, f"{name}.ipynb", "exec"), namespace)
    return namespace


def expected(name: str, part: Part, case: Case) -> Plain:
    """Return the reference solution's answer as plain data."""
    answer = ask(_solutions(name)[part.function], case, part.kind)
    if answer.problem:
        raise ValueError(f"{name}, {part.key}: the reference {answer.problem}: {answer.detail}")
    return answer.value


def _file(name: str, suffix: str) -> Path:
    return FOLDER / name / f"{name}{suffix}"
