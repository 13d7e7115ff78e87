"""Tests of attempts at single parts: the check's feedback, and their points."""

from contextlib import nullcontext
from functools import cache, partial
from typing import Any

import pytest
import solutions
from attempts import Attempt, attempts
from series import in_part

import roofkit.check
from grading.release import exercises
from grading.release.embedding import released
from grading.schema.parts import Part
from roofkit.check import CheckFailed, cases, check
from roofkit.check.answers import ask_all
from roofkit.check.call_limit import limited
from roofkit.check.compare import Verdict, judge
from roofkit.check.packing import pack

NAMES = exercises.names()
ALL = [
    pytest.param(one, id=f"{name}/{one.part}/{one.title}")
    for name in NAMES
    for one in attempts(name)
]
SLOW = {"too-late"}  # reach the time limit, so they are graded for one class only


def part_of(attempt: Attempt) -> Part:
    return solutions.part_of(attempt.exercise, attempt.part)


@cache
def released_part(name: str, key: str) -> str:
    """Return the part's published cases, packed as in a released notebook."""
    return pack({key: released(name, solutions.part_of(name, key))})


def function(attempt: Attempt) -> Any:
    """Return the attempt's function, defined beside the reference's other functions."""
    names: dict[str, Any] = {}
    for source in (*solutions.solved(attempt.exercise), attempt.source):
        exec(source, names)
    return names[part_of(attempt).function]


def graded(attempt: Attempt, seed: int, limit: Any = nullcontext) -> Verdict:
    """Grade the attempt with the published cases and those that this seed draws."""
    part, found = part_of(attempt), solutions.asked(attempt.exercise, attempt.part, seed)
    *answers, again = ask_all(function(attempt), found.inputs, part.kind, limit)
    return judge(
        answers, found.expected, found.misconceptions, part.tolerance, found.inputs, again=again
    )


@pytest.fixture(autouse=True)
def _short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roofkit.check, "limited", partial(limited, 1.0, 20.0))
    for kept in ("_failed", "_wrong", "_right", "_passed"):
        monkeypatch.setattr(roofkit.check, kept, type(getattr(roofkit.check, kept))())


@pytest.mark.parametrize("attempt", ALL)
def test_the_check_shows_the_expected_message_for_each_attempt(
    attempt: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    cases(released_part(attempt.exercise, attempt.part))
    if attempt.verdict in ("right", "by heart"):
        check(attempt.part, function(attempt))
        assert f"{attempt.part}: right for " in capsys.readouterr().out
        return
    with pytest.raises(CheckFailed) as first:
        check(attempt.part, function(attempt))
    assert attempt.words
    assert attempt.words in " ".join(str(first.value).split())
    assert "check.hint(" not in str(first.value)
    if attempt.verdict not in SLOW:
        with pytest.raises(CheckFailed) as second:
            check(attempt.part, function(attempt))
        assert f'check.hint("{attempt.part}")' in str(second.value)


@pytest.mark.parametrize("attempt", in_part(ALL))
@pytest.mark.parametrize("classes", [2, pytest.param(60, marks=pytest.mark.long)])
def test_an_attempt_passes_or_fails_alike_in_every_class_of_students(
    attempt: Attempt, classes: int
) -> None:
    slow = attempt.verdict in SLOW
    for seed in range(1 if slow else classes):
        limit = partial(limited, 1.0, 20.0) if slow else nullcontext
        found = graded(attempt, seed, limit)
        assert found.passed == (attempt.verdict == "right"), seed
        if seed == 0 and not found.passed:
            named = "" if attempt.verdict in ("by heart", "not known") else attempt.verdict
            assert found.cause == named


def test_there_are_at_least_15_right_and_40_wrong_attempts() -> None:
    verdicts = [one.verdict for name in NAMES for one in attempts(name)]
    assert len(verdicts) >= 55
    assert verdicts.count("right") >= 15
    assert sum(verdict not in ("right", "by heart") for verdict in verdicts) >= 40
