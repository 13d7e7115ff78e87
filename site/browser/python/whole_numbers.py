"""Whole numbers of 64 bits in NumPy's arrays, as on a learner's own machine; WebAssembly's have 32.

Without this, a right answer with numbers beyond 2³¹ in an array would be wrong on a page.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy

MAKERS = ("arange", "array", "asarray", "full", "ones", "zeros")
TOTALS = ("cumprod", "cumsum", "max", "min", "prod", "sum")
PRODUCTS = ("dot", "inner", "matmul", "outer", "vdot")
TYPED = (numpy.ndarray, numpy.generic, numpy.dtype, type, str)


def install() -> None:
    for name in MAKERS:
        setattr(numpy, name, wide(getattr(numpy, name)))
    for name in TOTALS:
        setattr(numpy, name, of_wide(getattr(numpy, name), 1))
    for name in PRODUCTS:
        setattr(numpy, name, of_wide(getattr(numpy, name), 2))
    # Print them without their type, as where they are the usual ones.
    numpy._core.arrayprint._typelessdata.append(numpy.int64)  # type: ignore[attr-defined]


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes arrays, with 64 bits where no type is asked for, or int."""

    @functools.wraps(function)
    def made(*args: Any, **options: Any) -> Any:
        args = tuple(numpy.int64 if one is int else one for one in args)
        options = {name: numpy.int64 if one is int else one for name, one in options.items()}
        found = function(*args, **options)
        is_asked = "dtype" in options or any(isinstance(each, TYPED) for each in args)
        return found if is_asked or found.dtype != numpy.int32 else found.astype(numpy.int64)

    return made


def of_wide(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a function of so many arrays that takes a list as one of 64 bits."""

    @functools.wraps(function)
    def made(*args: Any, **options: Any) -> Any:
        entries = [
            numpy.asarray(one) if isinstance(one, list | tuple) else one for one in args[:count]
        ]
        return function(*entries, *args[count:], **options)

    return made
