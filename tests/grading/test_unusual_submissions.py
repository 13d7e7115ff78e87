"""Tests that unusual submissions get a fair outcome, all in one class of students.

By default the class has all submissions that run no kernel, and an eighth of the others; the long
tests use all of them.
"""

import copy

import nbformat
import pytest
from classroom import Classroom, functions, with_first
from classroom.accidents import FULL
from classroom.unusual_submissions import ANSWERS, FILES, FIRST, NOTEBOOKS, returning

from grading.execution.time_limits import TimeLimits
from grading.parallel import pool

NAME = "int8-matmul"
TABLES = (NOTEBOOKS, FIRST, ANSWERS, FILES)
CASES = {name: fair for table in TABLES for name, (_, fair) in table.items()}
RUN = [*NOTEBOOKS, *FIRST, *ANSWERS, *(name for name, (_, fair) in FILES.items() if fair)]
FOUND = (
    "tagged-to-be-skipped",
    "marks-of-nothing",
    "marks-with-lists",
    "no-outputs",
    "own-json",
)  # regressions: the grader once failed on these
DEFAULT = {*CASES} - {*RUN} | {*RUN[::8], *FOUND}
LIMITS = TimeLimits(cell=5, call=2, cell_wall=20, call_wall=5)


def some(names):
    return [pytest.param(one, marks=[] if one in DEFAULT else pytest.mark.long) for one in names]


@pytest.fixture(scope="module")
def graded(request, release, tmp_path_factory):
    """Grade all submissions in one call; return name → result."""
    tests = [
        item for item in request.session.items if item.path.name == "test_unusual_submissions.py"
    ]
    names = {item.callspec.params["name"] for item in tests if hasattr(item, "callspec")}
    room = Classroom(tmp_path_factory.mktemp("odd"), release)
    right = room.solved(NAME)
    for name in names:
        nb = copy.deepcopy(right)
        if name in NOTEBOOKS:
            write(room, name, NOTEBOOKS[name][0](nb))
        elif name in FIRST:
            write(room, name, with_first(nb, FIRST[name][0]))
        elif name in ANSWERS:
            write(room, name, returning(nb, ANSWERS[name][0], functions(NAME)))
        else:
            FILES[name][0](room.folder_of(name, NAME), NAME, nbformat.writes(right))
    assert room.course.grade(pool.Local(), limits=LIMITS) == len(names)
    return {name: own[NAME] for name, own in room.course.state().items()}


def write(room, student, notebook):
    """Write a notebook without the validation of `nbformat.write`."""
    text = nbformat.v4.nbjson.writes(notebook)
    (room.folder_of(student, NAME) / f"{NAME}.ipynb").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", some(CASES))
def test_every_submission_has_its_fair_outcome(graded, name):
    result = graded[name]
    points = sum(part["points"] for part in result["parts"])
    lost = [part for part in result["parts"] if part["points"] < part["of"]]
    if CASES[name] is None:
        assert (points, bool(result["reason"])) == (0, True), result
    else:
        assert points == CASES[name], result
    assert all(part["sentences"] for part in lost), "lost points without an explanation"
    assert not result["reason"].startswith("the grading itself"), result["reason"]
    assert points <= FULL


def test_case_names_are_unique():
    assert len(CASES) == sum(map(len, TABLES)) > 70
    assert set(FOUND) <= CASES.keys()
