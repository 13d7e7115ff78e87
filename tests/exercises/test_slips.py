"""Every single slip of the reference solutions: no verdict is luck, and no sentence is false.

The short run takes a tenth of the slips of each part, and the long one all of them.
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
TENTH = 10
FIGURES = 40  # one of so many is drawn: a figure takes a second

lengths = pytest.mark.parametrize(
    "every", [TENTH, pytest.param(1, marks=pytest.mark.long)], ids=["a tenth", "all"]
)
each_exercise = pytest.mark.parametrize("name", NAMES)


@cache
def chosen(name: str, every: int) -> tuple[Slip, ...]:
    """One of so many of the slips of each part, the same ones in each run."""
    return tuple(
        slip
        for slip in slips(name)
        if zlib.crc32(str(slip).encode()) % (every * (FIGURES if is_figure(slip) else 1)) == 0
    )


def is_figure(slip: Slip) -> bool:
    return part_of(slip.exercise, slip.part).kind == "figure"


@each_exercise
@lengths
def test_a_slip_is_found_by_the_own_check_or_changes_nothing(name: str, every: int) -> None:
    """If the changed function is an earlier part's, it may change nothing in this one.

    But no class decides, and nobody who is told "right" gets no points.
    """
    unexplained, by_luck = [], []
    for slip in chosen(name, every):
        if not own_check(slip).passed:
            continue  # and then grading, which asks the same cases too, gives no points
        if slip.own and not explained(slip):
            unexplained.append(str(slip))
        classes = 1 if is_figure(slip) else CLASSES
        if (passed := len(classes_passed(slip, classes))) < classes:
            by_luck.append(f"{slip}: right in {passed} of {classes} classes")
    assert not unexplained
    assert not by_luck


@each_exercise
@lengths
def test_a_slip_is_told_nothing_false(name: str, every: int) -> None:
    false = []
    for slip in chosen(name, every):
        verdict = own_check(slip)
        if not verdict.passed and (what := falsehood(slip, verdict)):
            false.append(f"{slip}: {what}")
    assert not false


@pytest.mark.long
def test_each_entry_of_the_table_is_needed() -> None:
    passing = [
        slip for name in NAMES for slip in slips(name) if slip.own and own_check(slip).passed
    ]
    for entry in table():
        assert entry.reason.endswith(".")
        assert any(slip in entry for slip in passing), entry


def test_the_slips_are_many_and_of_every_part() -> None:
    for name in NAMES:
        for part in exercises.load(name).parts:
            own = [slip for slip in slips(name) if slip.part == part.key and slip.own]
            assert len(own) >= 10, part.key
            assert len({slip.change for slip in own}) == len(own)


@each_exercise
def test_a_spelled_out_function_computes_what_is_asked(name: str) -> None:
    for part in exercises.load(name).parts:
        for slip in unchanged(name, part):
            assert own_check(slip).passed, slip.function
            assert classes_passed(slip) == list(range(CLASSES)), slip.function
