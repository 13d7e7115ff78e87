"""What a reader takes from a figure: a library of figures, right and wrong, and single words."""

import functools

import matplotlib
import pytest
from figures import LibraryFigure, figures

from grading.release.cases import Cases, hidden, published
from grading.release.exercises import load
from roofkit.check.answers import ask
from roofkit.check.compare import Verdict, judge
from roofkit.check.messages import PROBLEMS

matplotlib.use("agg")

EXERCISE = "roofline-plot"
(PART,) = [part for part in load(EXERCISE).parts if part.kind == "figure"]
LIBRARY = figures()
each = pytest.mark.parametrize("drawn", [pytest.param(f, id=f.name) for f in LIBRARY])


@functools.cache
def cases(seed: int | None) -> Cases:
    """The published case, or a course's hidden ones."""
    return published(EXERCISE, PART) if seed is None else hidden(EXERCISE, PART, str(seed))


def verdict(drawn: LibraryFigure, known: Cases) -> Verdict:
    answers = [ask(drawn.function, case, "figure") for case in known.inputs]
    return judge(
        answers, known.expected, known.misconceptions, PART.tolerance, known.inputs, private=True
    )


def test_the_library_is_large() -> None:
    assert sum(figure.is_right for figure in LIBRARY) >= 25
    assert sum(not figure.is_right for figure in LIBRARY) >= 25


@each
@pytest.mark.parametrize("seed", [None, 1])
def test_a_figure_counts_if_a_reader_can_read_it(drawn: LibraryFigure, seed: int | None) -> None:
    found = verdict(drawn, cases(seed))
    assert found.passed == drawn.is_right, found
    if not drawn.is_right:
        assert found.cause == (drawn.expected or ""), found
        if drawn.expected in PROBLEMS:
            assert found.sentences[0] == PROBLEMS[drawn.expected]
