"""Answers of learners: right ones in many styles, and wrong ones with known mistakes.

tests/learner/answers has a table for each exercise, with an entry for each learner:

about: what the learner did, in one sentence, if the name doesn't say it.
code: the functions that the learner wrote. All others are those of the reference solution.
expect: maps each part that must get no points to what the learner must be told: the key of a
    misconception or of a problem, "hint: " and one of HINTS, or "not known" if nothing fits.
open: whether parts that the code does not write may be wrong, because they call one that it does.
    If not, all other parts must get full points.

Code that calls the table's `helpers` comes after them.

Answers of one function that returns one expression are rows: below [rows.PART.FUNCTION], the name,
and what the learner must be told ("" if it is right) with the expression. Of FUNCTION, the
arguments are those of the reference solution or of `helpers`. Rows are open, but for those that
have a table as above in place of what is told.
"""

import ast
import copy
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from grading.release import exercises

FOLDER = Path(__file__).parents[1] / "learner" / "answers"
UNNAMED = ("hint: ", "not known")  # verdicts that name neither mistake nor problem


@dataclass(frozen=True)
class Submission:
    """One learner's functions for one exercise."""

    exercise: str
    name: str
    source: str
    expected: Mapping[str, str | None]  # part that gets no points → key of the cause, if named
    told: Mapping[str, str] = field(default_factory=dict)  # the same, as in the table
    open: bool = False

    @property
    def functions(self) -> set[str]:
        """Return the names that the source defines at its top level."""
        found = set()
        for node in ast.parse(self.source).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return found


@cache
def submissions(exercise: str) -> tuple[Submission, ...]:
    """Return the answers to one exercise, the right ones first; none if it has no table yet."""
    file = FOLDER / f"{exercise}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    helpers, rows = table.pop("helpers", ""), table.pop("rows", {})
    found = [_submission(exercise, name, helpers, **entry) for name, entry in table.items()]
    known = [cell.source for cell in exercises.source(exercise).cells if cell.cell_type == "code"]
    for part, functions in rows.items():
        for function, answers in functions.items():
            heads = re.findall(rf"^def {function}\(.*\):$", "\n".join([helpers, *known]), re.M)
            for name, (told, returned) in answers.items():
                code = f"{heads[0]}\n    return {returned}\n"
                expect = {part: told} if told and isinstance(told, str) else told or None
                entry = {"expect": expect, "open": expect is not told}
                found.append(_submission(exercise, name, helpers, code=code, **entry))
    if len({one.name for one in found}) < len(found):
        raise ValueError(f"{exercise}: two answers have the same name")
    return tuple(found)


def _submission(
    exercise: str,
    name: str,
    helpers: str,
    *,
    code: str,
    about: str = "",
    expect: Mapping[str, str] | None = None,
    open: bool = False,
) -> Submission:
    if about and not about.endswith("."):
        raise ValueError(f"{exercise}, {name}: about must be a sentence, got {about!r}")
    if not name.startswith("wrong_" if expect else "right_"):
        raise ValueError(f"{exercise}, {name}: wrong_ names need expect, and right_ names none")
    told = dict(expect or {})
    causes = {part: None if said.startswith(UNNAMED) else said for part, said in told.items()}
    calls = any(f"{one}(" in code for one in re.findall(r"^def (\w+)", helpers, re.M))
    source = helpers + "\n\n" + code if calls else code
    return Submission(exercise, name, source, causes, told, open)


def hand_in(submission: Submission, released: NotebookNode) -> NotebookNode:
    """Return the released notebook with the submission's code in its first solution cell.

    What the submission doesn't define is taken from the reference solution.
    """
    notebook = copy.deepcopy(released)
    source = exercises.source(submission.exercise)
    reference = {_grade_id(cell): cell.source for cell in source.cells}
    functions = {part.key: part.function for part in exercises.load(submission.exercise).parts}
    written = False
    for cell in notebook.cells:
        key = _grade_id(cell).removesuffix("-solution")
        if not _grade_id(cell).endswith("-solution"):
            continue
        if functions[key] not in submission.functions:
            cell.source = reference[f"{key}-solution"]
        elif written:
            cell.source = "# Written further up."
        else:
            cell.source, written = submission.source, True
    return notebook


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
