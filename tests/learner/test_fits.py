"""Nobody gets points for a fit to the published answers."""

import inspect
import itertools
from collections.abc import Sequence

import fits
import pytest
from learner import parts, results
from submissions import Submission

from grading.release import exercises
from grading.release.cases import published

each_exercise = pytest.mark.parametrize("name", exercises.names())


ALL = tuple(itertools.zip_longest(fits.NUMERIC, fits.NAMES, fillvalue=fits.no_names))
SIMPLEST = ((fits.any_that_fits, fits.beyond_a_product),)


def fitted(name: str, numeric: fits.Fit, names: fits.Learn) -> Submission:
    """Return a notebook whose functions are fits: of one kind for numbers, of one for names.

    Dictionaries and figures are left out: nothing tells a fit their keys, or how to draw.
    """
    code = f"from math import inf\n\n{inspect.getsource(fits)}"
    for part in parts(name).values():
        cases = published(name, part)
        known = f"{[dict(case) for case in cases.inputs]!r}, {list(cases.expected)!r}"
        code += f"\n{part.function} = "
        if part.kind == "names":
            code += f"{names.__name__}({known})"
        elif isinstance(cases.expected[0], int | float | list):
            code += f"learned({numeric.__name__}, {known})"
        else:
            code += "None"
    return Submission(name, f"{numeric.__name__}, {names.__name__}", code, {})


def earned(name: str, kinds: Sequence[tuple[fits.Fit, fits.Learn]], classes: int) -> list[str]:
    books = [fitted(name, *kind) for kind in kinds]
    return [
        f"{book.name}: {key} in {sum(given)} classes"
        for book, (_said, judged) in zip(books, results(name, books, classes), strict=True)
        for key, given in judged.items()
        if any(given)
    ]


@each_exercise
def test_a_fit_to_the_published_answers_earns_nothing(name: str) -> None:
    assert earned(name, SIMPLEST, 1) == []


@pytest.mark.long
@each_exercise
def test_no_kind_of_fit_to_the_published_answers_earns_in_any_class(name: str) -> None:
    assert earned(name, ALL, 20) == []
