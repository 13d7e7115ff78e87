"""Tests of exercise notebooks and pages: format, points, no leaked answers."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from solutions import NAMES, reference

from grading.release import exercises

POINTS = 20  # points of each exercise
SOLUTION = re.compile(r"### BEGIN SOLUTION(.*?)### END SOLUTION", re.DOTALL)
MIN_TELLING = 12  # characters; shorter solution lines reveal nothing
# Answers as printed in the literature, and as computed with the exact formulas.
ANSWERS = (
    r"\b(486|243|244|240|241|120|121|122|136|138|226|232|1\.6[68]|295|298"
    r"|8,?75[56]|26,?26[67]|61,?28[89])\b"
)
each_exercise = pytest.mark.parametrize("name", NAMES)


def marks(cell: NotebookNode) -> dict[str, Any]:
    """Return a cell's nbgrader metadata."""
    return cell.metadata.get("nbgrader", {})


def shown(cell: NotebookNode) -> str:
    """Return a cell's source without the solution, as it is released."""
    return SOLUTION.sub("", cell.source)


def sections(name: str) -> Iterator[tuple[list[NotebookNode], NotebookNode]]:
    """Yield each check cell, preceded by the cells between it and the previous check."""
    between: list[NotebookNode] = []
    for cell in exercises.source(name).cells:
        if exercises.is_check(cell):
            yield between, cell
            between = []
        else:
            between.append(cell)


@each_exercise
def test_notebook_is_valid_and_names_its_kernel(name: str) -> None:
    book = exercises.source(name)
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert book.metadata.kernelspec.name == "python3"


@each_exercise
def test_cell_ids_are_unique_and_cells_have_no_outputs(name: str) -> None:
    cells = exercises.source(name).cells
    assert all(cell.outputs == [] for cell in cells if cell.cell_type == "code")
    assert all(cell.execution_count is None for cell in cells if cell.cell_type == "code")
    grade_ids = [marks(cell)["grade_id"] for cell in cells if marks(cell)]
    for ids in ([cell.id for cell in cells], grade_ids):
        assert max(Counter(ids).values()) == 1


@each_exercise
def test_each_part_has_its_check_in_order(name: str) -> None:
    found = [
        {"source": check.source, **marks(check)}
        for check in exercises.source(name).cells
        if exercises.is_check(check)
    ]
    assert found == [
        {
            "source": f'check("{part.key}", {part.function})',
            "grade_id": part.key,
            "points": part.points,
            "grade": True,
            "solution": False,
            "locked": True,
            "task": False,
            "cell_type": "code",
            "schema_version": 3,
        }
        for part in exercises.load(name).parts
    ]


@each_exercise
def test_each_part_has_a_question_with_its_points(name: str) -> None:
    for number, (part, (between, _)) in enumerate(
        zip(exercises.load(name).parts, sections(name), strict=True), start=1
    ):
        (question,) = [c for c in between if c.source.startswith(f"## Part {number}: ")]
        assert f"({part.points:g} points)" in question.source


@each_exercise
def test_each_part_has_a_documented_function_to_write(name: str) -> None:
    for part, (between, _) in zip(exercises.load(name).parts, sections(name), strict=True):
        (work,) = [cell for cell in between if marks(cell).get("solution")]
        assert marks(work)["grade_id"] == f"{part.key}-solution"
        assert not marks(work)["locked"]
        assert len(SOLUTION.findall(work.source)) == 1
        assert f"def {part.function}(" in shown(work)
        assert '"""' in shown(work)


@each_exercise
def test_points_of_each_exercise_add_up_to_20(name: str) -> None:
    assert sum(marks(cell).get("points", 0) for cell in exercises.source(name).cells) == POINTS


@each_exercise
def test_open_question_comes_last_and_has_no_points(name: str) -> None:
    cells = exercises.source(name).cells
    (at,) = [i for i, cell in enumerate(cells) if "(not graded)" in cell.source]
    assert not any(marks(cell) for cell in cells[at:])
    assert [cell.cell_type for cell in cells[at : at + 2]] == ["markdown", "markdown"]


@each_exercise
def test_page_and_notebook_have_the_same_title_and_quantities(name: str) -> None:
    page = (exercises.FOLDER / name / f"{name}.md").read_text(encoding="utf-8")
    (title,) = re.findall(r"^# (Exercise .*)$", page, re.MULTILINE)
    assert exercises.source(name).cells[0].source.startswith(f"# {title}\n")
    assert title.endswith(f": {exercises.load(name).title}")
    on_page: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\}.*?\n\n(.*?)```", page, re.DOTALL):
        exec(cell, on_page)
    for given in {"peak", "bandwidth", "link", "sizes"} & reference(name).keys():
        assert on_page[given] == reference(name)[given]


@each_exercise
def test_released_text_shows_no_answer(name: str) -> None:
    for cell in exercises.source(name).cells:
        assert not re.search(ANSWERS, shown(cell)), shown(cell)


@each_exercise
def test_released_text_contains_no_solution_line(name: str) -> None:
    cells = exercises.source(name).cells
    blocks = [block for cell in cells for block in SOLUTION.findall(cell.source)]
    lines = {
        line.strip().removeprefix("return ") for block in blocks for line in block.splitlines()
    }
    telling = [line for line in lines if len(line) > MIN_TELLING and not line.startswith("for ")]
    assert telling
    text = "\n".join(map(shown, cells))
    assert [line for line in telling if line in text] == []
