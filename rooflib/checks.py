"""Checks of arguments: one for sizes, one for names; numpy reports the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Size: TypeAlias = "ArrayLike"
"""Accepted wherever a number is expected: a number, a sequence or an array."""

Number: TypeAlias = "float | Any"
"""What is returned: a plain number for plain numbers, a float64 array for arrays."""

MAX_SIZE = 1e30
"""Largest size: a product of ten such sizes still fits into a float."""

MAX_AMOUNT = 1e100
"""Largest count of FLOPs or bytes, and largest rate."""


class ReadOnlyDict(dict[str, Any]):
    """A read-only dictionary that, unlike a mapping proxy, can be pickled."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is read-only; dataclasses.replace makes a changed copy")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyDict, (dict(self),)


def size(
    name: str,
    value: Any,
    *,
    zero: bool = False,
    whole: bool = False,
    single: bool = False,
    largest: float = MAX_SIZE,
) -> Number:
    """Return `value` if it is a number above zero, or an array of them; else raise.

    Python ints and Fractions keep their type, so that counts stay exact. Arrays become float64,
    exact up to 2**53. `zero` allows zero, `whole` only whole numbers, `single` no arrays.
    """
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        value = value.item()
    number, array = value, not isinstance(value, Real) or isinstance(value, bool)
    if array:
        wanted = "one number" if single else "a number or an array of numbers"
        with suppress(ValueError):  # rows of different lengths
            number = np.asarray(value)
        if single or not isinstance(number, np.ndarray) or number.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be {wanted}; got {short(value)}")
        number = number.astype(np.float64, copy=False)
        if not number.size:
            return number
    # Two reductions find every bad entry of an array: a nan makes the minimum a nan.
    low, high = (number.min(), number.max()) if array else (number, number)
    # Compared without converting: 10**400 does not fit into a float.
    if not ((low > 0 or (zero and low == 0)) and high <= largest):
        least = "zero or above, and" if zero else "above zero and"
        wanted = f"at most {largest:.0e}" if largest < high < math.inf else f"{least} finite"
        got = f"got {short(value)}"
        if array:
            good = ((number > 0) | (zero & (number == 0))) & (number <= largest)
            where = tuple(int(i) for i in np.argwhere(~good)[0])
            got = f"{name}[{', '.join(map(str, where))}] is {number[where]}"
        raise ValueError(f"{name} must be {wanted}; {got}")
    if whole:
        rounded = np.trunc(number) if array else int(number)
        if np.any(rounded != number):
            raise ValueError(f"{name} must be a whole number above zero; got {short(value)}")
        return rounded
    return number


def sizes(
    *, zero: bool = False, whole: bool = False, largest: float = MAX_SIZE, **values: Any
) -> list[Number]:
    """Return the numbers if each is as `size` wants it and they broadcast; else raise."""
    numbers = {
        name: size(name, value, zero=zero, whole=whole, largest=largest)
        for name, value in values.items()
    }
    try:
        np.broadcast_shapes(*map(np.shape, numbers.values()))
    except ValueError:
        shapes = {name: np.shape(value) for name, value in numbers.items()}
        given = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items() if shape)
        raise ValueError(f"shapes must broadcast against each other; got {given}") from None
    return list(numbers.values())


def one_of(name: str, value: Any, allowed: Iterable[str], wanted: str = "one of") -> str:
    """Return `value` if it is one of `allowed`; else raise and suggest the closest."""
    choices = list(allowed)
    if isinstance(value, str) and value in choices:
        return value
    known, hint = ", ".join(choices) or "none", suggestion(value, choices)
    raise ValueError(f"{name} must be {wanted} {known}; got {short(value)}{hint}")


def instance(
    name: str, value: Any, kind: Any, what: str, error: type[Exception] = TypeError
) -> Any:
    """Return `value` if it is an instance of `kind`, which the message calls `what`."""
    if isinstance(value, kind):
        return value
    raise error(f"{name} must be {what}; got {short(value)}")


def larger(one: Number, other: Number) -> Number:
    """Return the larger of two numbers, elementwise for arrays."""
    either = isinstance(one, np.ndarray) or isinstance(other, np.ndarray)
    return np.maximum(one, other) if either else max(one, other)


def suggestion(value: object, choices: Iterable[str]) -> str:
    """Return "; did you mean 'int8'?" if `value` resembles a choice, else ""."""
    import difflib  # imported here to keep `import rooflib` light

    if not isinstance(value, str):
        return ""
    lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(value.lower(), lower)
    return f"; did you mean {lower[found[0]]!r}?" if found else ""


def short(value: object) -> str:
    """Return the repr of `value`, cut to 60 characters."""
    try:
        shown = repr(value)
    except ValueError:  # Python refuses to format ints of more than 4,300 digits.
        return f"a {type(value).__name__} too long to write"
    return shown if len(shown) <= 60 else shown[:57] + "..."
