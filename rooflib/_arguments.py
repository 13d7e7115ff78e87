"""What may be passed in: sizes and names, checked once, with errors meant for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Size: TypeAlias = "ArrayLike"
"""What a caller may pass where a number is taken: a number, a sequence or an array."""

Number: TypeAlias = "float | NDArray[np.float64]"
"""What comes back: a plain number for plain numbers in, an array of float64 for arrays in."""

LARGEST = 1e100
"""The largest size: the product of three such sizes is still a float."""


def positive(name: str, value: Size) -> Number:
    """Return `value` as a number or float64 array, all of it above zero and at most 1e100.

    A whole number stays a Python int and a Fraction a Fraction, so that counts made from them
    are exact; arrays become float64, which counts exactly up to 2**53 and never wraps around.
    """
    return _checked(name, value, False, LARGEST)


def non_negative(name: str, value: Size, largest: float = LARGEST) -> Number:
    """As `positive`, but zero is allowed, and `largest` is the largest."""
    return _checked(name, value, True, largest)


def positives(**values: Size) -> list[Number]:
    """Check each as `positive` does, and that the shapes of all broadcast."""
    numbers = {name: positive(name, value) for name, value in values.items()}
    check_shapes(numbers)
    return list(numbers.values())


def check_shapes(numbers: Mapping[str, Number]) -> None:
    """Raise an error that names each array and its shape if the shapes don't broadcast."""
    shapes = {name: np.shape(value) for name, value in numbers.items()}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items() if shape)
        raise ValueError(f"shapes must broadcast against each other; got {given}") from None


def whole(name: str, value: Size) -> Number:
    """As `positive`, and every entry is a whole number."""
    checked = positive(name, value)
    rounded = np.floor(checked) if isinstance(checked, np.ndarray) else math.floor(checked)
    if np.any(rounded != checked):
        raise ValueError(f"{name} must be a whole number above zero; got {_short(value)}")
    return rounded


def wholes(**values: Size) -> list[Number]:
    """Check each as `whole` does, and that the shapes of all broadcast."""
    numbers = {name: whole(name, value) for name, value in values.items()}
    check_shapes(numbers)
    return list(numbers.values())


def one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`."""
    choices = list(allowed)
    if isinstance(value, str) and value in choices:
        return value
    known, hint = ", ".join(choices), near(value, choices)
    raise ValueError(f"{name} must be one of {known}; got {_short(value)}{hint}")


def near(value: object, choices: Iterable[str]) -> str:
    """The end of an error, "; did you mean 'int8'?", if `value` is nearly one of `choices`."""
    import difflib  # Only errors need it, and `import rooflib` is kept light.

    lower = {choice.lower(): choice for choice in choices}
    wanted = value.lower() if isinstance(value, str) else ""
    found = difflib.get_close_matches(wanted, lower, n=1)
    return f"; did you mean {lower[found[0]]!r}?" if found else ""


def divide(numerator: Number, denominator: Number) -> Number:
    """Divide; zero over anything is zero, and anything else over zero is infinite.

    An operation that moves no bytes has an infinite intensity. One that computes nothing has an
    intensity of zero and attains zero FLOP/s, even if it moves nothing and takes no time.
    """
    if isinstance(numerator, np.ndarray) or isinstance(denominator, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.asarray(np.divide(numerator, denominator))
        if np.isnan(quotient.sum()):  # Only 0 ÷ 0 is: neither of the two is ever infinite.
            quotient[np.isnan(quotient)] = 0
        return quotient
    return numerator / denominator if denominator else math.inf if numerator else 0.0


def larger(a: Number, b: Number) -> Number:
    """The larger of two numbers, or of each pair of entries."""
    arrays = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.maximum(a, b) if arrays else max(a, b)


def _checked(name: str, value: Any, zero_allowed: bool, largest: float) -> Number:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, (bool, str, bytes)) or value is None:
        raise TypeError(f"{name} must be a number or an array of numbers; got {_short(value)}")
    if isinstance(value, Real):
        number: Any = value  # A Fraction passes through as it is, and stays exact.
        # Compared, never converted: 10**400 is no float. No comparison with a nan is true.
        if not ((number > 0 or (zero_allowed and number == 0)) and number <= largest):
            raise ValueError(f"{name} must be {_range(zero_allowed, value)}; got {_short(value)}")
        return number  # type: ignore[no-any-return]
    return _checked_array(name, value, zero_allowed, largest)


def _checked_array(
    name: str, value: Any, zero_allowed: bool, largest: float
) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TypeError(f"{name} must be a number or an array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or an array of numbers; got {_short(value)}")
    result = np.asarray(array, np.float64)
    if result.size == 0:
        return result
    # Two reductions find every bad entry: a nan makes the minimum a nan, and no
    # comparison with a nan is true.
    low, high = result.min(), result.max()
    if not ((low > 0 or (zero_allowed and low == 0)) and high <= largest):
        good = ((result > 0) | (zero_allowed & (result == 0))) & (result <= largest)
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        at, bad = ", ".join(map(str, where)), result[where]
        raise ValueError(f"{name} must be {_range(zero_allowed, bad)}; {name}[{at}] is {bad}")
    return result


def _range(zero_allowed: bool, bad: Any) -> str:
    if LARGEST < bad < math.inf:
        return f"at most {LARGEST:.0e}"
    return "zero or above, and finite" if zero_allowed else "above zero and finite"


def _short(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits.
        return f"a {type(value).__name__} too long to write"
    return shown if len(shown) <= 60 else shown[:57] + "..."
