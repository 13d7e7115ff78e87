"""A learner's plot is read as the question asks: right ones pass, others hear what is missing.

The library in tests/support/figures.py has right plots in many styles, and others with the problem
that must be named.
"""

import functools
import re

import matplotlib as mpl
import pytest
from figures import LibraryFigure, library, throughput

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


# The published case, and in the long tests the hidden ones of five courses.
SEEDS = [None, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(5))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("drawn", library, ids=lambda drawn: drawn.name)
def test_right_plots_pass_and_wrong_ones_fail_for_the_expected_reason(
    drawn: LibraryFigure, seed: int | None
) -> None:
    found = verdict(drawn, cases(seed))
    assert found.passed == drawn.is_right, found
    if not drawn.is_right:
        assert found.cause == (drawn.expected or ""), found
        if drawn.expected in PROBLEMS:
            assert PROBLEMS[drawn.expected].removesuffix(".") in found.sentences[0]


# A plot whose label has another unit than its values → by what its numbers are then too large.
SCALED = {"wrong_kilo": 1e-3, "wrong_trillion": 1e-12, "wrong_prefix_too_much": 1e12}


@pytest.mark.parametrize("drawn", [one for one in library if one.name in SCALED])
def test_what_is_quoted_of_a_plot_is_what_it_shows(drawn: LibraryFigure) -> None:
    *_, said = verdict(drawn, cases(None)).sentences
    numbers = re.findall(r"\d[\d,.]*(?:e-?\d+)?", said.replace(", by", " by"))
    size, value, batch = (float(one.replace(",", "")) for one in numbers)
    case = cases(None).inputs[0]
    assert size in case["sizes"]
    (right,) = throughput(size, [batch], case["peak"], case["bandwidth"])
    assert value == pytest.approx(SCALED[drawn.name] * right, rel=1e-3)


def test_curves_whose_names_are_exchanged_are_told_so() -> None:
    (drawn,) = [one for one in library if one.name == "wrong_sorted_legend"]
    *_, said = verdict(drawn, cases(None)).sentences
    assert "of another size" in said
