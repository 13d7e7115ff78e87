"""Tests of an exercise's moral and thoughts: shown only if all parts are right."""

import re
from typing import Any

import nbformat
import pytest
from repository import ROOT

import roofkit.check
from grading.release import exercises
from grading.release.embedding import EmbedCases
from roofkit.check import CheckFailed, cases, check
from roofkit.check.packing import literal, pack, unpack

CLOSING = {"moral": "The sides are multiplied.", "thoughts": "Either side may be the longer one."}
PART = {
    "kind": "number",
    "tolerance": 1e-5,
    "cases": literal(({"B": 2}, {"B": 7})),
    "misconceptions": [],
    "ranges": {},
}
TWICE = PART | CLOSING | {"function": "twice", "expected": [4, 14]}
THRICE = PART | CLOSING | {"function": "thrice", "expected": [6, 21]}
RIGHT = {"twice": lambda B: 2 * B, "thrice": lambda B: 3 * B}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_published", "_failed", "_right", "_wrong", "_passed"):
        monkeypatch.setattr(roofkit.check, name, type(getattr(roofkit.check, name))())
    cases(pack({"twice": TWICE, "thrice": THRICE}))


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_the_moral_is_printed_when_all_parts_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    check("thrice", RIGHT["thrice"])
    assert CLOSING["moral"] not in said(capsys)
    check("twice", RIGHT["twice"])
    assert CLOSING["moral"] in said(capsys)


def test_a_part_that_passes_and_later_fails_withholds_the_moral(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check("twice", RIGHT["twice"])
    with pytest.raises(CheckFailed):
        check("twice", lambda B: B)
    check("thrice", RIGHT["thrice"])
    assert CLOSING["moral"] not in said(capsys)


def test_closing_thoughts_are_shown_only_after_all_parts_are_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check("twice", RIGHT["twice"])
    with pytest.raises(CheckFailed, match="Left: thrice"):
        check.thoughts()
    check("thrice", RIGHT["thrice"])
    assert CLOSING["thoughts"] not in said(capsys)
    check.thoughts()
    assert CLOSING["thoughts"] in said(capsys)


def test_passed_parts_survive_a_restart(capsys: pytest.CaptureFixture[str]) -> None:
    check("twice", RIGHT["twice"])
    kept = roofkit.check.tries()
    roofkit.check._passed.clear()
    roofkit.check.take_tries(kept)
    check("thrice", RIGHT["thrice"])
    assert CLOSING["moral"] in said(capsys)


def test_thoughts_are_offered_only_if_there_are_any(capsys: pytest.CaptureFixture[str]) -> None:
    cases(pack({"twice": TWICE | {"thoughts": ""}, "thrice": THRICE | {"thoughts": ""}}))
    for part, function in RIGHT.items():
        check(part, function)
    told = said(capsys)
    assert CLOSING["moral"] in told
    assert "check.thoughts()" not in told
    check.thoughts()
    assert said(capsys) == "This exercise has nothing to compare with."


@pytest.mark.parametrize("name", exercises.names())
def test_moral_and_thoughts_are_released_but_not_as_plain_text(name: str) -> None:
    exercise = exercises.load(name)
    for words in (exercise.moral, exercise.thoughts):
        assert len(words.split()) > 10
        assert all(words in part.values() for part in released_data(name).values())
        assert words[:40] not in "\n".join(cell.source for cell in made(name).cells)


def made(name: str) -> nbformat.NotebookNode:
    notebook = nbformat.read(ROOT / f"exercises/{name}/{name}.ipynb", as_version=4)
    changed, _ = EmbedCases().preprocess(notebook, {"nbgrader": {"assignment": name}})
    return changed


def released_data(name: str) -> dict[str, Any]:
    """Return the data packed into a released notebook, by part."""
    (cell,) = (cell for cell in made(name).cells if cell.get("id") == "cases")
    packed = re.search(r'"""\n(.*)\n"""', cell.source, re.DOTALL)
    assert packed
    return unpack(packed[1])


def test_solutions_are_shown_only_if_released_and_all_parts_are_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = "def twice(B):\n    return B + B"
    check("twice", RIGHT["twice"])
    check("thrice", RIGHT["thrice"])
    assert "check.solution()" not in said(capsys)
    check.solution()
    assert said(capsys) == "This copy of the course holds no solutions."
    cases(pack({"twice": TWICE | {"solution": code}, "thrice": THRICE}))
    check("twice", RIGHT["twice"])
    assert "run: check.solution()" in said(capsys)
    check.solution()
    assert capsys.readouterr().out == code + "\n"
    with pytest.raises(CheckFailed):
        check("thrice", lambda B: B)
    with pytest.raises(CheckFailed, match="Left: thrice"):
        check.solution()


@pytest.mark.parametrize("allowed", ["", "1"])
def test_solutions_are_released_only_if_the_solutions_variable_is_set(
    monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    monkeypatch.setenv("SOLUTIONS", allowed)
    for name in exercises.names():
        code = [cell.source for cell in exercises.source(name).cells if cell.cell_type == "code"]
        for key, part in released_data(name).items():
            assert ("solution" in part) is bool(allowed)
            if allowed:
                assert "SOLUTION" not in part["solution"]
                lines = part["solution"].splitlines()
                assert any(all(line in cell for line in lines) for cell in code), key
