"""Checks of arguments: one for sizes, one for names; numpy reports the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Size: TypeAlias = "ArrayLike"
"""Accepted wherever a number is expected: a number, a sequence or an array."""

Number: TypeAlias = "float | Any"
"""What is returned: a plain number for plain numbers, a float64 array for arrays."""

LARGEST = 1e30
"""Largest size, amount and rate: a product of ten such numbers still fits into a float."""


def size(
    name: str,
    value: Any,
    *,
    zero: bool = False,
    whole: bool = False,
    single: bool = False,
    largest: float = LARGEST,
) -> Number:
    """Return `value` if it is a number above zero, or an array of them; else raise.

    Python ints and Fractions keep their type, so that counts stay exact. Arrays become float64,
    exact up to 2**53. `zero` allows zero, `whole` only whole numbers, `single` no arrays.
    """
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        value = value.item()
    if isinstance(value, Real) and not isinstance(value, bool):
        number: Any = value
        low = high = number
    else:
        wanted = "one number" if single else "a number or an array of numbers"
        array = None if single else np.asarray(value)
        if array is None or array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be {wanted}; got {short(value)}")
        number = array.astype(np.float64, copy=False)
        if not number.size:
            return number
        # Two reductions find every bad entry of an array: a nan makes the minimum a nan.
        low, high = number.min(), number.max()
    least = "zero or above" if zero else "above zero"
    # Compared without converting: 10**400 does not fit into a float.
    if not ((low > 0 or (zero and low == 0)) and high <= largest):
        most = f"at most {largest:g}" if largest < math.inf else "finite"
        raise ValueError(f"{name} must be {least} and {most}; got {short(value)}")
    if whole:
        rounded = np.trunc(number) if isinstance(number, np.ndarray) else int(number)
        if np.any(rounded != number):
            raise ValueError(f"{name} must be a whole number {least}; got {short(value)}")
        return rounded
    return number


def sizes(*, zero: bool = False, whole: bool = False, **values: Any) -> list[Number]:
    """Return the numbers if each is as `size` wants it; else raise."""
    return [size(name, value, zero=zero, whole=whole) for name, value in values.items()]


def one_of(name: str, value: Any, allowed: Iterable[str], wanted: str = "one of") -> str:
    """Return `value` if it is one of `allowed`; else raise, and suggest those that are alike."""
    choices = list(allowed)
    if isinstance(value, str) and value in choices:
        return value
    import difflib  # imported here to keep `import rooflib` light

    said = value.lower() if isinstance(value, str) else ""
    lower = {choice.lower(): choice for choice in choices}
    within = [each for each in lower if said and said in each]
    found = [repr(lower[each]) for each in within or difflib.get_close_matches(said, lower, 1)]
    hint = f"; did you mean {' or '.join(found)}?" if found else ""
    known = ", ".join(choices) or "none"
    raise ValueError(f"{name} must be {wanted} {known}; got {short(value)}{hint}")


def instance(name: str, value: Any, kind: Any, what: str, error: Any = TypeError) -> Any:
    """Return `value` if it is an instance of `kind`, which the message calls `what`."""
    if isinstance(value, kind):
        return value
    raise error(f"{name} must be {what}; got {short(value)}")


def larger(one: Number, other: Number) -> Number:
    """Return the larger of two numbers, elementwise for arrays."""
    either = isinstance(one, np.ndarray) or isinstance(other, np.ndarray)
    return np.maximum(one, other) if either else max(one, other)


def short(value: object) -> str:
    """Return the repr of `value`, cut to 60 characters."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
