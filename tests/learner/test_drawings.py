"""A learner's plot is read as the question asks: right ones pass, others hear what is missing.

The library in tests/support/figures.py has right plots in many styles, and others with the problem
that must be named.
"""

import functools

import matplotlib as mpl
import pytest
from figures import LibraryFigure, library

from grading.release.cases import Cases, hidden, published
from grading.release.exercises import load
from roofkit.check.answers import ask
from roofkit.check.compare import Verdict, judge
from roofkit.check.messages import PROBLEMS

mpl.use("agg")

EXERCISE = "roofline-plot"
(PART,) = [part for part in load(EXERCISE).parts if part.kind == "figure"]


@functools.cache
def cases(seed: int | None) -> Cases:
    """Return the published case, or the hidden cases of the course with this seed."""
    return published(EXERCISE, PART) if seed is None else hidden(EXERCISE, PART, str(seed))


def verdict(drawn: LibraryFigure, known: Cases) -> Verdict:
    answers = [ask(drawn.function, case, "figure") for case in known.inputs]
    return judge(
        answers, known.expected, known.misconceptions, PART.tolerance, known.inputs, private=True
    )


# A plot with each problem runs with the published case, and every twentieth right or wrong one with
# the hidden cases of one course. The long tests try all plots, and each in 20 courses.
EACH = {(drawn.is_right, drawn.expected): drawn for drawn in library}
SOME = [(None, drawn) for drawn in EACH.values()] + [(1, drawn) for drawn in library[::20]]
ALL = [(seed, drawn) for seed in (None, *range(20)) for drawn in library]


@pytest.mark.parametrize(
    ("seed", "drawn"),
    [
        pytest.param(seed, drawn, id=f"{seed}-{drawn.name}", marks=marks)
        for which, marks in ((SOME, ()), (ALL, pytest.mark.long))
        for seed, drawn in which
    ],
)
def test_right_plots_pass_and_wrong_ones_fail_for_the_expected_reason(
    drawn: LibraryFigure, seed: int | None
) -> None:
    found = verdict(drawn, cases(seed))
    assert found.passed == drawn.is_right, found
    if not drawn.is_right:
        assert found.cause == (drawn.expected or ""), found
        if drawn.expected in PROBLEMS:
            assert PROBLEMS[drawn.expected].removesuffix(".") in found.sentences[0]
