"""Validation of arguments: sizes, names and flags, with readable errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Size: TypeAlias = "ArrayLike"
"""Accepted wherever a number is expected: a number, a sequence or an array."""

Number: TypeAlias = "float | Any"
"""Returned values: a plain number for plain numbers, a float64 array for arrays.

To a type checker a result is a float, and an array is accepted as well: which of the two a call
returns depends on every size, so exact types would need each signature three times.
"""

MAX_SIZE = 1e30
"""Maximum size: a product of ten such sizes still fits into a float."""

MAX_QUANTITY = 1e100
"""Maximum count of FLOPs or bytes, and maximum rate, that may be passed in."""


class ReadOnlyDict(dict[str, Any]):
    """A read-only dictionary that, unlike a mapping proxy, can be pickled."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is read-only; dataclasses.replace makes a changed copy")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyDict, (dict(self),)


def positive(name: str, value: Size, largest: float = MAX_QUANTITY) -> Number:
    """Check that `value` is above zero and at most `largest`, and return it.

    Python ints and Fractions keep their type, so that counts stay exact. Arrays become float64,
    which is exact up to 2**53 and never wraps around. A float64 array is not copied: see `kept`.
    """
    return _checked(name, value, False, largest)


def non_negative(name: str, value: Size, largest: float = MAX_QUANTITY) -> Number:
    """Check `value` as `positive` does, but allow zero."""
    return _checked(name, value, True, largest)


def kept(name: str, value: Size) -> Number:
    """Check `value` as `non_negative` does, and return it; arrays are copied.

    A result that stores the array would otherwise change if the caller changed it.
    """
    checked = non_negative(name, value)
    return checked.copy() if isinstance(checked, np.ndarray) else checked


def positives(**values: Size) -> list[Number]:
    """Return the sizes if they are above zero, at most 1e30, and broadcast."""
    return broadcastable({name: positive(name, value, MAX_SIZE) for name, value in values.items()})


def broadcastable(numbers: Mapping[str, Number]) -> list[Number]:
    """Return the numbers; raise a ValueError if their shapes don't broadcast.

    The error names the numbers and their shapes.
    """
    shapes = {name: np.shape(value) for name, value in numbers.items()}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items() if shape)
        raise ValueError(f"shapes must broadcast against each other; got {given}") from None
    return list(numbers.values())


def whole(name: str, value: Size) -> Number:
    """Check that a size is a positive whole number of at most 1e30, and return it."""
    checked = positive(name, value, MAX_SIZE)
    rounded = np.trunc(checked) if isinstance(checked, np.ndarray) else int(checked)
    if np.any(rounded != checked):
        raise ValueError(f"{name} must be a whole number above zero; got {short(value)}")
    return rounded


def wholes(**values: Size) -> list[Number]:
    """Return the sizes if they are positive whole numbers and broadcast."""
    return broadcastable({name: whole(name, value) for name, value in values.items()})


def scalar(name: str, value: object) -> float:
    """Return `value` if it is a single number, not an array."""
    number = _without_numpy(value)
    if isinstance(number, Real) and not isinstance(number, bool):
        return number  # type: ignore[return-value]  # A Fraction stays exact.
    raise TypeError(f"{name} must be one number; got {short(value)}")


def rate(name: str, value: object) -> float:
    """Return `value` if it is a single number above zero."""
    return positive(name, scalar(name, value))


def rates(name: str, values: object, what: str) -> dict[Any, float]:
    """Return a copy of a mapping if each value is a single number above zero."""
    given = instance(name, values, Mapping, f"a mapping from {what}")
    return {key: rate(f"{name}[{key!r}]", value) for key, value in given.items()}


def flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False, as a bool."""
    return bool(instance(name, value, (bool, np.bool_), "True or False"))


def instance(
    name: str, value: object, kind: Any, what: str, error: type[Exception] = TypeError
) -> Any:
    """Return `value` if it is an instance of `kind`; otherwise raise `error`.

    In the message, `what` describes `kind`.
    """
    if isinstance(value, kind):
        return value
    raise error(f"{name} must be {what}; got {short(value)}")


def same_fields(one: Any, other: Any) -> bool:
    """Return whether two dataclasses have the same type and values, arrays included."""
    return type(one) is type(other) and _values(one) == _values(other)


def _values(of: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, in a form that `==` compares."""
    return {each.name: _comparable(getattr(of, each.name)) for each in fields(of)}


def _comparable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _comparable(each) for key, each in value.items()}
    return (value.shape, value.tolist()) if isinstance(value, np.ndarray) else value


def one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`; else raise and suggest the closest."""
    choices = list(allowed)
    if isinstance(value, str) and value in choices:
        return value
    known, hint = ", ".join(choices), suggestion(value, choices)
    raise ValueError(f"{name} must be one of {known}; got {short(value)}{hint}")


def suggestion(value: object, choices: Iterable[str]) -> str:
    """Return "; did you mean 'int8'?" if `value` resembles a choice, else ""."""
    import difflib  # imported here to keep `import rooflib` light

    if not isinstance(value, str):
        return ""
    lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(value.lower(), lower)
    return f"; did you mean {lower[found[0]]!r}?" if found else ""


def divide(numerator: Number, denominator: Number) -> Number:
    """Divide, with 0 ÷ anything = 0 and anything else ÷ 0 = infinity.

    An operation that moves no bytes has infinite intensity. An operation without FLOPs has
    intensity zero and attains zero FLOP/s, even if it moves nothing and takes no time.
    """
    if _any_array((numerator, denominator)):
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.asarray(np.divide(numerator, denominator))
        # Only 0 ÷ 0 gives a nan, since neither operand is ever infinite.
        quotient[np.isnan(quotient)] = 0
        return quotient
    if denominator:
        return numerator / denominator
    return math.inf if numerator else 0.0


def larger(a: Number, b: Number) -> Number:
    """Return the larger of two numbers, elementwise for arrays."""
    pair = (a, b)
    return np.maximum(*pair) if _any_array(pair) else max(pair)


def smaller(a: Number, b: Number) -> Number:
    """Return the smaller of two numbers, elementwise for arrays."""
    pair = (a, b)
    return np.minimum(*pair) if _any_array(pair) else min(pair)


def _any_array(numbers: Iterable[Number]) -> bool:
    return any(isinstance(each, np.ndarray) for each in numbers)


def _without_numpy(value: Any) -> Any:
    """Return a numpy scalar as the Python number that it holds; leave anything else."""
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if single else value


def _checked(name: str, value: Any, zero_allowed: bool, largest: float) -> Number:
    value = _without_numpy(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        number: Any = value  # a Fraction stays exact
        low = high = number
    else:
        number = _array(name, value)
        if not number.size:
            return number
        # Two reductions find every bad entry: a nan makes the minimum a nan.
        low, high = number.min(), number.max()
    # Compare without converting: 10**400 does not fit into a float. Comparisons with a nan are
    # false.
    if (low > 0 or (zero_allowed and low == 0)) and high <= largest:
        return number
    got = f"got {short(value)}"
    if isinstance(number, np.ndarray):
        good = ((number > 0) | (zero_allowed & (number == 0))) & (number <= largest)
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        number = number[where]
        got = f"{name}[{', '.join(map(str, where))}] is {number}"
    if largest < number < math.inf:
        raise ValueError(f"{name} must be at most {largest:.0e}; {got}")
    least = "zero or above, and" if zero_allowed else "above zero and"
    raise ValueError(f"{name} must be {least} finite; {got}")


def _array(name: str, value: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TypeError(f"{name} must be a number or an array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or an array of numbers; got {short(value)}")
    return np.asarray(array, np.float64)


def short(value: object) -> str:
    """Return the repr of `value`, cut to 60 characters."""
    try:
        shown = repr(value)
    except ValueError:  # Python refuses to format ints of more than 4,300 digits.
        return f"a {type(value).__name__} too long to write"
    return shown if len(shown) <= 60 else shown[:57] + "..."
