"""Beside the exercises of this course: one of a class's own, and ordinary nbgrader assignments."""

import copy
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from classroom import NAME, Classroom, cell, code, one_line, said, with_first
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from repository import ROOT

OWN, ESSAY = "loading-time", "essay"
WITHOUT_THE_WIDTH = """\
def loading_time(rows, columns, width, bandwidth):
    return rows * columns / bandwidth
"""
FULL, CODE, TEXT = 8, 3, 5  # points of the ordinary assignment, of its test and of its essay


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Release the exercise that the manual prints, one of ours, and an ordinary assignment."""
    folder = tmp_path_factory.mktemp("own")
    room = Classroom(folder / "course")
    page = (ROOT / "chapters" / "instructors-year.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    file = room.folder / "exercises" / f"{OWN}.py"
    file.parent.mkdir(parents=True)
    file.write_text(printed, encoding="utf-8")
    said(room.here("release", OWN, NAME))
    place = room.folder / "source" / ESSAY / f"{ESSAY}.ipynb"
    place.parent.mkdir()
    place.write_text(nbformat.writes(ordinary()))
    said(room.nbgrader("generate_assignment", ESSAY))
    return room


def ordinary() -> NotebookNode:
    """Return a source notebook as nbgrader's Create Assignment makes it."""
    solution = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    test = "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(5) == 10\n"
    cells = [
        code(solution),
        code(test + "### END HIDDEN TESTS"),
        new_markdown_cell("Why?"),
    ]
    about = {"locked": False, "task": False, "schema_version": 3}
    marks = [
        {"grade_id": "double", "grade": False, "solution": True, "cell_type": "code"},
        {"grade_id": "tests", "grade": True, "solution": False, "points": CODE},
        {"grade_id": "why", "grade": True, "solution": True, "points": TEXT},
    ]
    for one, mark in zip(cells, marks, strict=True):
        one.metadata["nbgrader"] = about | {"cell_type": one.cell_type} | mark
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def answered(room: Classroom, body: str) -> NotebookNode:
    notebook = copy.deepcopy(room.released(ESSAY))
    cell(notebook, "double").source = f"def double(x):\n    {body}"
    cell(notebook, "why").source = "Because."
    return notebook


def test_a_class_has_exercises_of_its_own_and_ordinary_assignments(
    room: Classroom, tmp_path: Path
) -> None:
    right = room.solved(OWN)
    wrong = room.released(OWN)
    cell(wrong, f"{OWN}-solution").source = WITHOUT_THE_WIDTH
    room.hand_in("ada", OWN, right)
    room.hand_in("bob", OWN, wrong)
    reaches = f"import os\nopen({str(tmp_path / 'reached')!r}, 'w').write('x')"
    room.hand_in("ada", ESSAY, answered(room, "return 2 * x"))
    room.hand_in("bob", ESSAY, answered(room, "return 4"))
    room.hand_in("eve", ESSAY, with_first(answered(room, "return 4"), reaches))
    ends = with_first(answered(room, "return 4"), "import os\nos._exit(0)")
    room.hand_in("mal", ESSAY, ends)
    done = room.nbgrader("autograde", ESSAY)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "reached").exists(), "an ordinary notebook runs in the sandbox, too"
    assert said(room.here("grade")).startswith("2 graded")
    rows = [row for row in room.table("grades.csv") if row["assignment"] == ESSAY]
    assert "by hand" in rows[0]["note"], "an essay counts as zero until somebody has read it"
    with room.gradebook() as book:
        essay = book.find_grade("why", ESSAY, ESSAY, "ada")
        essay.manual_score, essay.needs_manual_grade = 4, False  # as the formgrader sets them
        book.db.commit()
    said(room.here("grade"))
    assert room.scores(OWN) == {"ada": 4, "bob": 0, "eve": 0, "mal": 0}
    assert room.scores(ESSAY) == {"ada": CODE + 4, "bob": 0, "eve": 0, "mal": 0}
    assert room.causes(OWN)["bob"] == {OWN: "elements"}
    assert "These are elements and not bytes" in room.page("bob", OWN)
    assert room.not_graded() == {}
    assert not room.remarks("by hand"), "essays have no other points"
    (tmp_path / "theirs.csv").write_text(f"id,{ESSAY},{OWN}\nada,,\nbob,,\n")
    said(room.here("export", tmp_path / "theirs.csv", tmp_path / "x.csv"))
    rows = (tmp_path / "x.csv").read_text().split()
    assert rows == [f"id,{ESSAY},{OWN}", "ada,7,4", "bob,0,0"]
    assert room.nbgrader("generate_feedback", ESSAY).returncode == 0
    assert f"({CODE + 4} of {FULL} points)" in room.page("ada", ESSAY)
    # Bob leaves the class.
    shutil.rmtree(room.folder / "submitted" / "bob")
    assert room.nbgrader("db", "student", "remove", "bob", "--force").returncode == 0
    said(room.here("grade"))
    assert room.nbgrader("export").returncode == 0
    assert room.scores(OWN) == {"ada": 4, "eve": 0, "mal": 0}, "also beside nbgrader's own table"
    # The exercise is taken back.
    shutil.rmtree(room.folder / "release" / OWN)
    assert room.nbgrader("db", "assignment", "remove", OWN, "--force").returncode == 0
    said(room.here("grade"))
    assert {row["assignment"] for row in room.table("grades.csv")} == {NAME, ESSAY}


def test_an_exercise_of_ones_own_that_cannot_be_used_is_named_with_the_reason(
    room: Classroom,
) -> None:
    file = room.folder / "exercises" / "other.py"
    file.write_text((file.with_name(f"{OWN}.py")).read_text().replace("(4 points)", ""))
    line = one_line(room.here("release", "other"))
    file.unlink()
    assert "other.py" in line
    assert "no question" in line
