"""Tests of slips: same verdict in every class, no false feedback.

Slips are mutants of the reference solutions. These tests take long, since there are tens of
thousands of slips. In every run, test_attempts.py and test_submissions.py ask the same of mistakes
that learners make.
"""

import zlib
from functools import cache

import matplotlib
import pytest
from slips import CLASSES, Slip, classes_passed, own_check, slips, unchanged
from slips.equivalents import explained, table
from slips.truth import falsehood
from solutions import part_of

from grading.release import exercises

matplotlib.use("agg")

NAMES = exercises.names()
FIGURES = 40  # try one in 40 slips in plots: each takes a second

each_exercise = pytest.mark.parametrize("name", NAMES)


@cache
def chosen(name: str) -> tuple[Slip, ...]:
    """Return the slips of an exercise; of those in figures, only a fixed sample."""
    return tuple(
        slip
        for slip in slips(name)
        if not is_figure(slip) or zlib.crc32(str(slip).encode()) % FIGURES == 0
    )


def is_figure(slip: Slip) -> bool:
    return part_of(slip.exercise, slip.part).kind == "figure"


@pytest.mark.long
@each_exercise
def test_the_learners_check_finds_every_slip_that_matters(name: str) -> None:
    """Check that slips that pass the check are equivalent and right in every class.

    Slips in earlier parts' functions need no explanation: they may change nothing in this part.
    """
    unexplained, by_luck = [], []
    for slip in chosen(name):
        if not own_check(slip).passed:
            continue  # it gets no points: grading includes the check's cases
        if slip.own and not explained(slip):
            unexplained.append(str(slip))
        classes = 1 if is_figure(slip) else CLASSES
        if (passed := len(classes_passed(slip, classes))) < classes:
            by_luck.append(f"{slip}: right in {passed} of {classes} classes")
    assert not unexplained
    assert not by_luck


@pytest.mark.long
@each_exercise
def test_feedback_on_slips_contains_nothing_false(name: str) -> None:
    false = []
    for slip in chosen(name):
        verdict = own_check(slip)
        if not verdict.passed and (what := falsehood(slip, verdict)):
            false.append(f"{slip}: {what}")
    assert not false


@pytest.mark.long
def test_each_entry_of_the_table_of_equivalent_slips_is_needed() -> None:
    passing = [
        slip for name in NAMES for slip in slips(name) if slip.own and own_check(slip).passed
    ]
    for entry in table():
        assert entry.reason.endswith(".")
        assert any(slip in entry for slip in passing), entry


@pytest.mark.long
def test_every_part_has_at_least_ten_distinct_slips() -> None:
    for name in NAMES:
        for part in exercises.load(name).parts:
            own = [slip for slip in slips(name) if slip.part == part.key and slip.own]
            assert len(own) >= 10, part.key
            assert len({slip.change for slip in own}) == len(own)


@each_exercise
def test_functions_that_slips_are_made_from_are_right(name: str) -> None:
    for part in exercises.load(name).parts:
        for slip in unchanged(name, part):
            assert own_check(slip).passed, slip.function
            assert classes_passed(slip) == list(range(CLASSES)), slip.function
