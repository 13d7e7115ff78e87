"""Parametrized tests that use some inputs by default, and all in long tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def series(short: int, full: int) -> pytest.MarkDecorator:
    """Run a test with `count` inputs: few by default, all in the long tests.

    Both series should be drawn from the same seed, so that the short one is the beginning of the
    full one.
    """
    return pytest.mark.parametrize(
        "count",
        [pytest.param(short, id="some"), pytest.param(full, id="all", marks=pytest.mark.long)],
    )


def in_part(values: Iterable[Any], every: int = 3) -> list[Any]:
    """Return parameters for a test: every n-th value by default.

    Long tests use all. Values that are marked as long stay long.
    """
    parameters = []
    for number, value in enumerate(values):
        one = value if isinstance(value, type(pytest.param())) else pytest.param(value)
        marks = [*one.marks, pytest.mark.long] if number % every else one.marks
        parameters.append(pytest.param(*one.values, id=one.id, marks=marks))
    return parameters
