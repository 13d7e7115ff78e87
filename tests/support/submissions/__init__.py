"""Submissions for the exercises: right in several ways, and wrong in known ones.

Each file beside this one holds the functions that one learner wrote. A file named ``right_*`` must
get full points. One named ``wrong_*`` says in ``EXPECT`` which parts must get none, and the key of
the misconception or of the problem to be named (None: neither is known); all other parts must get
full points.
Functions that a file doesn't define are those of the reference solution.
"""

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Submission:
    """One learner's functions for one exercise."""

    exercise: str
    name: str
    source: str
    expected: Mapping[str, str | None]  # part without points → what is named

    @property
    def functions(self) -> set[str]:
        """Names that the file defines at its top level, functions and others."""
        found = set()
        for node in ast.parse(self.source).body:
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return found


def submissions(exercise: str) -> list[Submission]:
    """The submissions for one exercise, the right ones first."""
    files = sorted((FOLDER / exercise).glob("*.py"))
    return [_read(exercise, path) for path in files]


def _read(exercise: str, path: Path) -> Submission:
    source = path.read_text(encoding="utf-8")
    expected: dict[str, str | None] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EXPECT":
            expected = ast.literal_eval(node.value)
            lines = source.splitlines(keepends=True)
            source = "".join(lines[: node.lineno - 1] + lines[node.end_lineno :])
    if path.name.startswith("right_") == bool(expected):
        raise ValueError(f"{path.name}: EXPECT belongs to the wrong ones, and only to them")
    return Submission(exercise, path.stem, source, expected)


def hand_in(
    submission: Submission,
    released: NotebookNode,
    source: NotebookNode,
    functions: Mapping[str, str],
) -> NotebookNode:
    """The released notebook with the submission's functions written into its solution cells.

    `functions` maps each part's key to the name of its function. What the submission doesn't
    define is taken from `source`, the notebook with the reference solution.
    """
    notebook = copy.deepcopy(released)
    reference = {_grade_id(cell): cell.source for cell in source.cells}
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
