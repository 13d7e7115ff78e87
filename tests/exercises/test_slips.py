"""Slips (mutants of the reference solutions): same verdict in every class, no false feedback.

The short run takes one slip in thirty of each part, and the long one all of them.
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
FEW = 60
FIGURES = {FEW: 400, 1: 40}  # one slip in so many of a figure, which takes a second

lengths = pytest.mark.parametrize(
    "every", [FEW, pytest.param(1, marks=pytest.mark.long)], ids=["few", "all"]
)
each_exercise = pytest.mark.parametrize("name", NAMES)


@cache
def chosen(name: str, every: int) -> tuple[Slip, ...]:
    """Return a fixed sample: one in `every` slips of an exercise, and fewer of figures."""
    return tuple(
        slip
        for slip in slips(name)
        if zlib.crc32(str(slip).encode()) % (FIGURES[every] if is_figure(slip) else every) == 0
    )


def is_figure(slip: Slip) -> bool:
    return part_of(slip.exercise, slip.part).kind == "figure"


@each_exercise
@lengths
def test_the_learners_check_finds_every_slip_that_matters(name: str, every: int) -> None:
    """A slip in an earlier part's function may change nothing in this part.

    But then it is right in every class: the verdict never depends on the class, and an answer that
    the check calls right gets its points.
    """
    unexplained, by_luck = [], []
    for slip in chosen(name, every):
        if not own_check(slip).passed:
            continue  # grading asks the same cases, so it gives no points either
        if slip.own and not explained(slip):
            unexplained.append(str(slip))
        classes = 1 if is_figure(slip) else CLASSES
        if (passed := len(classes_passed(slip, classes))) < classes:
            by_luck.append(f"{slip}: right in {passed} of {classes} classes")
    assert not unexplained
    assert not by_luck


@each_exercise
@lengths
def test_feedback_on_slips_contains_nothing_false(name: str, every: int) -> None:
    false = []
    for slip in chosen(name, every):
        verdict = own_check(slip)
        if not verdict.passed and (what := falsehood(slip, verdict)):
            false.append(f"{slip}: {what}")
    assert not false


@pytest.mark.long
def test_each_entry_of_the_equivalents_table_is_needed() -> None:
    passing = [
        slip for name in NAMES for slip in slips(name) if slip.own and own_check(slip).passed
    ]
    for entry in table():
        assert entry.reason.endswith(".")
        assert any(slip in entry for slip in passing), entry


def test_every_part_has_at_least_ten_distinct_slips() -> None:
    for name in NAMES:
        for part in exercises.load(name).parts:
            own = [slip for slip in slips(name) if slip.part == part.key and slip.own]
            assert len(own) >= 10, part.key
            assert len({slip.change for slip in own}) == len(own)


@each_exercise
def test_spelled_out_functions_are_right(name: str) -> None:
    for part in exercises.load(name).parts:
        for slip in unchanged(name, part):
            assert own_check(slip).passed, slip.function
            assert classes_passed(slip) == list(range(CLASSES)), slip.function
