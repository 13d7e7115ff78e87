"""Loading of exercises: parts, notebooks and answers of reference solutions.

One exercise is one file, exercises/<name>.py; see `grading.release.exercise_file`.
"""

import functools
import hashlib
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

import roofkit.check
import rooflib
from grading.release import exercise_file
from grading.schema.parts import Case, Exercise, Part
from roofkit.check.answers import Plain, ask

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises"


def names() -> list[str]:
    """Return the exercises in the order of `_toc.yml`; one that it lacks comes last."""
    found = sorted(path.stem for path in FOLDER.glob("*.py"))
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = [page["file"] for part in contents["parts"] for page in part["chapters"]]
    listed = [page.removeprefix("exercises/") for page in pages if page.startswith("exercises/")]
    return sorted(found, key=lambda name: listed.index(name) if name in listed else len(listed))


def load(name: str) -> Exercise:
    """Return an exercise's parts."""
    return _read(name).exercise


def source(name: str) -> NotebookNode:
    """Return the source notebook, with the reference solution.

    Callers must not change it.
    """
    return _read(name).notebook


def write_source(name: str, folder: Path) -> None:
    """Write the source notebook into nbgrader's folder for it, <folder>/<name>/<name>.ipynb."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    nbformat.write(source(name), folder / name / f"{name}.ipynb")


@functools.cache
def _read(name: str) -> exercise_file.Read:
    return exercise_file.read(_file(name))


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
    shared = ("misconceptions.toml", exercise_file.SHARED)
    files = [(path.name, path) for path in (_file(name), *(FOLDER / name for name in shared))]
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


def expected(name: str, part: Part, case: Case) -> Plain:
    """Return the reference solution's answer as plain data."""
    answer = ask(_read(name).names[part.function], case, part.kind)
    if answer.problem:
        raise ValueError(f"{name}, {part.key}: the reference {answer.problem}: {answer.detail}")
    return answer.value


def _file(name: str) -> Path:
    return FOLDER / f"{name}.py"
