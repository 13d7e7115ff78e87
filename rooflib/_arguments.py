"""What may be passed in: sizes and names, checked once, with errors meant for people."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Size: TypeAlias = "ArrayLike"
"""What a caller may pass where a number is taken: a number, a sequence or an array."""

Number: TypeAlias = "float | NDArray[np.float64]"
"""What comes back: a plain number for plain numbers in, an array of float64 for arrays in."""


def positive(name: str, value: Size) -> Number:
    """Return `value` as a number or float64 array, all of it above zero and finite.

    A whole number stays a Python int, so that counts made from it are exact however large;
    arrays become float64, which counts exactly up to 2**53 and never wraps around.
    """
    return _checked(name, value, zero_allowed=False)


def non_negative(name: str, value: Size) -> Number:
    """As `positive`, but zero is allowed."""
    return _checked(name, value, zero_allowed=True)


def whole(name: str, value: Size) -> Number:
    """As `positive`, and every entry is a whole number."""
    checked = positive(name, value)
    rounded = np.floor(checked) if isinstance(checked, np.ndarray) else math.floor(checked)
    if np.any(rounded != checked):
        raise ValueError(f"{name} must be a whole number above zero; got {_short(value)}")
    return rounded


def one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`."""
    choices = list(allowed)
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"{name} must be one of {', '.join(choices)}; got {_short(value)}")


def divide(numerator: Number, denominator: Number) -> Number:
    """Divide; anything over zero is infinite, as for an operation that moves no bytes."""
    if isinstance(numerator, np.ndarray) or isinstance(denominator, np.ndarray):
        with np.errstate(divide="ignore"):
            return np.divide(numerator, denominator)
    return numerator / denominator if denominator else math.inf


def _checked(name: str, value: Any, *, zero_allowed: bool) -> Number:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, (bool, str, bytes)) or value is None:
        raise TypeError(f"{name} must be a number or an array of numbers; got {_short(value)}")
    if isinstance(value, Real):
        number: Any = value  # A Fraction passes through as it is, and stays exact.
        if not (math.isfinite(number) and (number > 0 or (zero_allowed and number == 0))):
            raise ValueError(f"{name} must be {_range(zero_allowed)}; got {_short(value)}")
        return number  # type: ignore[no-any-return]
    return _checked_array(name, value, zero_allowed=zero_allowed)


def _checked_array(name: str, value: Any, *, zero_allowed: bool) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TypeError(f"{name} must be a number or an array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or an array of numbers; got {_short(value)}")
    result = array.astype(np.float64, copy=False)
    if result.size == 0:
        return result
    # Two reductions find every bad entry: a nan makes the minimum a nan, and no
    # comparison with a nan is true.
    low, high = result.min(), result.max()
    if not ((low > 0 or (zero_allowed and low == 0)) and high < np.inf):
        bad = ~(np.isfinite(result) & ((result > 0) | (zero_allowed & (result == 0))))
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        at = ", ".join(map(str, where))
        raise ValueError(f"{name} must be {_range(zero_allowed)}; {name}[{at}] is {result[where]}")
    return result


def _range(zero_allowed: bool) -> str:
    return "zero or above, and finite" if zero_allowed else "above zero and finite"


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
