"""Whole numbers of 64 bits in NumPy's arrays, as on a learner's own machine; WebAssembly's have 32.

Without this, a right answer with numbers beyond 2³¹ in an array would be wrong on a page.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy

MAKERS = ("arange", "array", "asarray", "full")
TOTALS = ("cumprod", "cumsum", "prod", "sum")
TYPED = (numpy.ndarray, numpy.generic, numpy.dtype, type, str)


def install() -> None:
    for name in MAKERS:
        setattr(numpy, name, wide(getattr(numpy, name)))
    for name in TOTALS:
        setattr(numpy, name, of_wide(getattr(numpy, name)))
    # Print them without their type, as where they are the usual ones.
    numpy._core.arrayprint._typelessdata.append(numpy.int64)  # type: ignore[attr-defined]


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes arrays, with 64 bits where it is asked for no type."""

    @functools.wraps(function)
    def made(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        is_asked = "dtype" in options or any(isinstance(each, TYPED) for each in args)
        return found if is_asked or found.dtype != numpy.int32 else found.astype(numpy.int64)

    return made


def of_wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of an array that takes a list as one of 64 bits."""

    @functools.wraps(function)
    def made(values: Any, *args: Any, **options: Any) -> Any:
        entries = numpy.asarray(values) if isinstance(values, list | tuple) else values
        return function(entries, *args, **options)

    return made
