"""Parametrized tests that use some inputs by default, and all in long tests."""

from collections.abc import Iterable
from typing import Any

import pytest


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
