"""Exercises: one file each, exercises/<name>.py, and the notebook that is made of it.

The file is a notebook in the percent format of Jupytext: JupyterLab opens it, and Python runs it.
The title of a cell says where it belongs:

- without a title: a text of the notebook, or a reference solution, whose body learners write;
- `given`: code that the notebook gives;
- `grading`: code that is not in the notebook. If its last expression is a part, the check of that
  part takes its place there;
- `page`: of the exercise's page in the book, which site/ makes;
- `next`: the end of the notebook, below a cell for an answer in words to its last question.
  `moral`, `thoughts`: see `grading.schema.Exercise`.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jupytext
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import roofkit
import rooflib
from grading.files import Unable
from grading.schema import MISTAKES, Case, Exercise, Part
from roofkit.check.answers import Plain, ask
from roofkit.exercise_facts import of_file

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises"
OWN = [
    Path("exercises")
]  # of the course that this process works on: nbgrader's works in its folder
SHARED = "every-notebook.md"  # beside the exercises: how to work, an answer in words, what is next
GIVEN = "given"  # title of a cell, and its grade id
HEADING = re.compile(r"## Part \d+: (?P<title>.+) \((?P<points>[\d.]+) points?\)")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Cell:
    """A cell of an exercise's file."""

    title: str
    source: str
    is_text: bool


@dataclass(frozen=True)
class Read:
    """An exercise's file after its cells have run.

    notebook: with the reference solution. names: what its code defines, without that of grading.
    """

    exercise: Exercise
    notebook: NotebookNode
    names: Mapping[str, Any]


def use(own: Path) -> None:
    """Take a course's own exercises, in this folder, beside those of the repository."""
    OWN[:] = [own]


def file_of(name: str) -> Path:
    """Return the file of an exercise."""
    places = [folder / f"{name}.py" for folder in (*OWN, FOLDER)]
    return next((place for place in places if place.is_file()), places[-1])


def names() -> list[str]:
    """Return the exercises in the order of `_toc.yml`; those that it lacks come last."""
    found = sorted({path.stem for folder in (FOLDER, *OWN) for path in folder.glob("*.py")})
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = [page["file"] for part in contents["parts"] for page in part["chapters"]]
    listed = [page.removeprefix("exercises/") for page in pages if page.startswith("exercises/")]
    return sorted(found, key=lambda name: listed.index(name) if name in listed else len(listed))


def load(name: str) -> Exercise:
    """Return an exercise's parts."""
    return _read(file_of(name)).exercise


def source(name: str) -> NotebookNode:
    """Return the source notebook, with the reference solution.

    Callers must not change it.
    """
    return _read(file_of(name)).notebook


def is_check(cell: NotebookNode) -> bool:
    """Return whether a cell is a check, for which nbgrader records points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


def expected(name: str, part: Part, case: Case) -> Plain:
    """Return the reference solution's answer as plain data."""
    answer = ask(_read(file_of(name)).names[part.function], case, part.kind)
    if answer.problem:
        words = f"the solution's answer is not of kind={part.kind!r}: {answer.problem}"
        raise ValueError(f"{name}, {part.key}: {words}, {answer.detail}")
    return answer.value


# --- the file ------------------------------------------------------------------------------------


@functools.cache
def _read(file: Path) -> Read:
    """Run an exercise's file; raise Unable, with the reason, if it cannot be used."""
    facts = of_file(file)
    found = [
        Cell(one.metadata.get("title", ""), one.source.strip("\n"), one.cell_type == "markdown")
        for one in jupytext.reads(file.read_text(encoding="utf-8"), "py:percent").cells
        if one.cell_type != "raw"  # the facts
    ]
    shown: dict[str, Any] = {"__name__": "reference"}
    try:
        parts = _run(file, found, shown)
    except ValueError as error:
        raise Unable(f"{file}: {error}") from None
    texts = {cell.title: " ".join(cell.source.split()) for cell in found if cell.is_text}
    exercise = Exercise(
        name=file.stem,
        title=facts.title,
        parts=tuple(part for place, part in parts.items() if found[place].title == "grading"),
        moral=texts.get("moral", ""),
        thoughts=texts.get("thoughts", ""),
    )
    made = list(_notebook_cells(found, parts, facts.title))
    metadata = {"exercise": facts.metadata, "kernelspec": KERNEL}
    metadata |= {"language_info": {"name": "python"}}
    return Read(exercise, new_notebook(cells=made, metadata=metadata), shown)


def _run(file: Path, found: list[Cell], shown: dict[str, Any]) -> dict[int, Part]:
    """Run the cells; return the part of each solution and of each check, by the cell's place.

    shown: receives what the notebook's own code defines. Code for grading sees that, too, but not
    the other way round: a solution works with what a learner has.
    """
    hidden: dict[str, Any] = {"__name__": "grading"}
    parts: dict[int, Part] = {}
    question, solution = None, None
    for place, cell in enumerate(found):
        if cell.is_text and not cell.title:
            question = HEADING.match(cell.source) or question
        elif not cell.is_text and cell.title in ("", "given"):
            _run_cell(cell, shown, file)
            hidden |= shown
            solution = solution if cell.title else place
        elif cell.title == "grading":
            value = _run_cell(cell, hidden, file)
            if isinstance(value, Part):
                if question is None or solution is None:
                    raise ValueError(f"{value.key} has no question or no solution")
                points = float(question["points"])
                part = replace(value, title=question["title"], points=points)
                parts |= {solution: part, place: part}
                question, solution = None, None
    return parts


def _run_cell(cell: Cell, names: dict[str, Any], file: Path) -> object:
    """Run a cell; return the value of its last expression, None without one."""
    tree = ast.parse(cell.source, file.name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, file.name, "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), file.name, "exec"), names)
    return eval(compile(ast.Expression(last.value), file.name, "eval"), names)


# --- the notebook --------------------------------------------------------------------------------


def _notebook_cells(
    found: list[Cell], parts: dict[int, Part], title: str
) -> Iterator[NotebookNode]:
    """Yield the cells of the notebook, as nbgrader expects them."""
    shared = (FOLDER / SHARED).read_text(encoding="utf-8").strip()
    how_to_work, own_words, what_next = shared.split("\n\n+++\n\n")
    is_first = True
    for place, cell in enumerate(found):
        name = f"text-{place}"
        if cell.title == "given":
            yield marked(cell.source, GIVEN)
        elif cell.title == "next":
            if any(one.title == "thoughts" for one in found):
                yield new_markdown_cell(own_words, id="own-words")
            yield new_markdown_cell(f"{what_next}\n\n{cell.source}", id=name)
        elif cell.title == "" and cell.is_text and is_first:
            yield new_markdown_cell(f"# {title}\n\n{cell.source}", id=name)
            yield new_markdown_cell(how_to_work, id="how-to-work")
            is_first = False
        elif cell.title == "" and cell.is_text:
            yield new_markdown_cell(cell.source, id=name)
        elif cell.title == "" and (part := parts.get(place)):
            source = _with_marks(cell.source)
            yield marked(source, f"{part.key}-solution", solution=True, locked=False)
        elif part := parts.get(place):
            check = f'check("{part.key}", {part.function})'
            yield marked(check, part.key, grade=True, points=part.points)


def marked(source: str, name: str, **marks: Any) -> NotebookNode:
    """Return a code cell with nbgrader's metadata; by default locked and without points."""
    known = {"cell_type": "code", "grade": False, "grade_id": name, "locked": True}
    known |= {"schema_version": 3, "solution": False, "task": False}
    cell: NotebookNode = new_code_cell(source, id=name, metadata={"nbgrader": known | marks})
    return cell


def _with_marks(solution: str) -> str:
    """Return a solution with the marks between which nbgrader puts its stub.

    They stand around the body of its function, below the docstring.
    """
    (function,) = (node for node in ast.parse(solution).body if isinstance(node, ast.FunctionDef))
    first, lines = function.body[0], solution.splitlines()
    start = first.end_lineno if ast.get_docstring(function) else first.lineno - 1
    end = function.end_lineno
    body = ["    ### BEGIN SOLUTION", *lines[start:end], "    ### END SOLUTION"]
    return "\n".join([*lines[:start], *body, *lines[end:]])


# --- the version ---------------------------------------------------------------------------------


@functools.cache
def version(name: str) -> str:
    """Return a digest of all that decides what an exercise's learners are given, and get for it.

    With another one, all is released and graded again. Comments and layout of code don't count.
    """
    return hashlib.sha256(b"".join(map(_meaning, _deciding(name)))).hexdigest()


def _deciding(name: str) -> Iterator[Path]:
    grading, kit = Path(__file__).parents[1], Path(roofkit.__file__).parent
    yield from (file_of(name), FOLDER / SHARED, MISTAKES)
    yield from (grading / f"{module}.py" for module in ("grade", "inside", "notebook", "schema"))
    yield from (kit / "words.py", kit / "notebook_language.py")
    for folder in (grading / "release", kit / "check", Path(rooflib.__file__).parent):
        found = sorted(folder.rglob("*.*"))
        yield from (file for file in found if file.suffix in (".py", ".toml"))
    for catalog in ("checks", "grading"):
        yield from sorted((ROOT / "locale").glob(f"*/LC_MESSAGES/{catalog}.po"))


@functools.cache
def _meaning(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix == ".py":
        content = ast.dump(ast.parse(content)).encode()
    return hashlib.sha256(content).digest()
