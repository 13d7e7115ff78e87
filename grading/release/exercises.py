"""Exercises: one file each, exercises/<name>.py, and the notebook that is made of it.

The file is a notebook in the percent format of Jupytext: JupyterLab opens it, and Python runs it.
The title of a cell says where it belongs:

- without a title: a text of the notebook, or a reference solution, whose body learners write;
- `given`: code that the notebook gives;
- `grading`: code that is not in the notebook. If its last expression is a part, the check of that
  part takes its place there;
- `page`: of the exercise's page in the book, which site/ makes;
- `next`: the end of the notebook, below a cell for an answer in words to its last question.
  `moral`, `thoughts`: see `Exercise`.
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

import grading
import roofkit
import rooflib
from grading.files import Unable
from grading.notebook import syntax_tree
from grading.schema import MISTAKES, Case, Part
from roofkit.check.answers import Plain, ask
from roofkit.exercise_facts import of_file

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises"
OWN = [
    Path("exercises")
]  # of the course that this process works on: nbgrader's works in its folder
SHARED = "every-notebook.md"  # beside the exercises: how to work, an answer in words, what is next
GIVEN = "given"  # title of a cell, and its grade id
QUESTION = re.compile(r"## (?P<heading>Part \d+: (?P<title>.+) \((?P<points>[\d.]+) points?\))")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Exercise:
    """An exercise's file after its cells have run.

    name: "int8-matmul", of the file, the notebook and nbgrader's assignment. moral: what the
    exercise shows; printed once all parts are right, if there is one. thoughts: with which learners
    then compare their answer to its last question, "" if nothing is asked. notebook: with the
    reference solution. names: what its code defines, without that of grading.
    """

    name: str
    title: str  # "Exercise 1: int8 matmul"
    parts: tuple[Part, ...]
    moral: str
    thoughts: str
    notebook: NotebookNode
    names: Mapping[str, Any]

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)


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
    return _read(file_of(name))


def source(name: str) -> NotebookNode:
    """Return the source notebook, with the reference solution.

    Callers must not change it.
    """
    return load(name).notebook


def is_check(cell: NotebookNode) -> bool:
    """Return whether a cell is a check, for which nbgrader records points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


def expected(name: str, part: Part, case: Case) -> Plain:
    """Return the reference solution's answer as plain data."""
    answer = ask(load(name).names[part.function], case, part.kind)
    if answer.problem:
        words = f"the solution's answer is not of kind={part.kind!r}: {answer.problem}"
        raise ValueError(f"{name}, {part.key}: {words}, {answer.detail}")
    return answer.value


# --- the file ------------------------------------------------------------------------------------


@functools.cache
def _read(file: Path) -> Exercise:
    """Read and run an exercise's file; raise Unable, with the reason, if it cannot be used."""
    try:
        return _made(file)
    except ValueError as error:
        raise Unable(f"{file}: {error}") from None


def _made(file: Path) -> Exercise:
    """Make the parts of an exercise's file, and the notebook's cells as nbgrader expects them.

    Code for grading sees what the notebook's own code defines, but not the other way round: a
    solution works with what a learner has.
    """
    facts = of_file(file)
    if not (ROOT / "chapters" / f"{facts.read_first}.md").is_file():
        raise ValueError(f"read_first is {facts.read_first!r}, and there is no such chapter")
    shared = (FOLDER / SHARED).read_text(encoding="utf-8").strip()
    how_to_work, own_words, what_next = shared.split("\n\n+++\n\n")
    found = jupytext.reads(file.read_text(encoding="utf-8"), "py:percent").cells
    found = [cell for cell in found if cell.cell_type != "raw"]  # which has the facts
    parts, made = list[Part](), list[NotebookNode]()
    shown: dict[str, Any] = {"__name__": "reference"}
    hidden: dict[str, Any] = {"__name__": "grading"}
    texts: dict[str, str] = {}
    has_thoughts = any(cell.metadata.get("title") == "thoughts" for cell in found)
    question, solution = None, None
    for place, cell in enumerate(found):
        title, source = cell.metadata.get("title", ""), cell.source.strip("\n")
        if cell.cell_type == "markdown":
            if title == "":
                question = QUESTION.match(source) or question
                made.append(new_markdown_cell(source, id=f"text-{place}"))
            elif title == "next":
                if has_thoughts:
                    made.append(new_markdown_cell(own_words, id="own-words"))
                made.append(new_markdown_cell(f"{what_next}\n\n{source}", id=f"text-{place}"))
            texts[title] = " ".join(source.split())
        elif title in ("", GIVEN):
            _run(source, shown, file)
            hidden |= shown
            if title == GIVEN:
                made.append(marked(source, GIVEN))
            else:  # its part, which follows, has its name; without one, learners don't get it
                solution = len(made), source
        elif title == "grading" and isinstance(part := _run(source, hidden, file), Part):
            if question is None or solution is None:
                raise ValueError(f"{part.key} has no question or no solution")
            heading, title, points = question.group("heading", "title", "points")
            at, code = solution
            part = replace(part, heading=heading, title=title, points=float(points), solution=code)
            parts.append(part)
            own = marked(_with_marks(code), f"{part.key}-solution", solution=True, locked=False)
            made.insert(at, own)
            check = f'check("{part.key}", {part.function})'
            made.append(marked(check, part.key, grade=True, points=part.points))
            question, solution = None, None
    if not parts:
        raise ValueError("there is no part in it")
    first = next(place for place, cell in enumerate(made) if cell.cell_type == "markdown")
    made[first].source = f"# {facts.title}\n\n{made[first].source}"
    made.insert(first + 1, new_markdown_cell(how_to_work, id="how-to-work"))
    moral, thoughts = texts.get("moral", ""), texts.get("thoughts", "")
    metadata = {"exercise": facts.metadata, "kernelspec": KERNEL}
    metadata |= {"language_info": {"name": "python"}}
    notebook = new_notebook(cells=made, metadata=metadata)
    return Exercise(file.stem, facts.title, tuple(parts), moral, thoughts, notebook, shown)


def _run(source: str, names: dict[str, Any], file: Path) -> object:
    """Run code; return the value of its last expression, None without one."""
    place = f"a cell of {file.name}"
    try:
        tree = syntax_tree(source, place)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, place, "exec"), names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), place, "eval"), names)
    except ValueError:  # which says what to do
        raise
    except Exception as error:
        begins, what = source.partition("\n")[0], f"{type(error).__name__}: {error}"
        raise ValueError(f"the cell that begins with “{begins}” raised {what}") from error


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
    (function,) = (node for node in syntax_tree(solution).body if isinstance(node, ast.FunctionDef))
    first, lines = function.body[0], solution.splitlines()
    start = first.end_lineno if ast.get_docstring(function) else first.lineno - 1
    end = function.end_lineno
    body = ["    ### BEGIN SOLUTION", *lines[start:end], "    ### END SOLUTION"]
    return "\n".join([*lines[:start], *body, *lines[end:]])


# --- the version ---------------------------------------------------------------------------------


def version(name: str) -> str:
    """Return a digest of all that decides what an exercise's learners are given, and get for it.

    With another one, all is released and graded again. Comments and layout of code don't count.
    """
    return _version(file_of(name))


@functools.cache
def _version(file: Path) -> str:
    points = repr([part.points for part in _read(file).parts]).encode()  # headings are comments
    return hashlib.sha256(points + b"".join(map(_meaning, _deciding(file)))).hexdigest()


def _deciding(file: Path) -> Iterator[Path]:
    yield from (file, FOLDER / SHARED, MISTAKES)
    packages = (Path(str(one.__file__)).parent for one in (rooflib, roofkit, grading))
    for path in sorted(path for folder in packages for path in folder.rglob("*.*")):
        if path.suffix in (".py", ".toml", ".j2"):
            yield path
    for catalog in ("checks", "grading"):
        yield from sorted((ROOT / "locale").glob(f"*/LC_MESSAGES/{catalog}.po"))


@functools.cache
def _meaning(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix == ".py":
        content = ast.dump(syntax_tree(content)).encode()
    return hashlib.sha256(content).digest()
