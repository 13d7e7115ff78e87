"""Quantities: numbers that print their own unit.

A `Quantity` is a float. Products, quotients and sums of quantities are quantities if the unit of
the result is a simple one; anything else gives a plain float. Only printing uses the unit:

    >>> size, rate = Quantity(137e6, "B"), Quantity(3.35e12, "B/s")
    >>> size / rate, f"{size / rate:2}", size / rate / 2e-6
    (40.9 µs, '41\xa0µs', 20.4 s)
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import numpy as np

from rooflib.checks import Number, one_of

_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# Prefixes that `text` chooses from, smallest first.
_OF_COUNTS = {"": 1.0} | _PREFIXES | {"Z": 1e21, "Y": 1e24}
_OF_TIMES = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0}
_PREFIXED = ("FLOP/s", "OP/s", "B/s", "B", "FLOP", "OP")
_SPEC = re.compile(r"(\d*)([n%e]?)")


class Quantity(float):
    """A number with a unit: "s", "B", "FLOP", "B/s", "FLOP/s", "FLOP/byte", "%", "" or another.

    In a format string, digits are the significant digits (3 if left out; of a share 2), `n` leaves
    out the unit, `e` writes a power of ten and `%` a percentage: `f"{t.lower:4}"`,
    `f"{chip.ridge():n}"`, `f"{layer.flops:e}"`, `f"{a / b:%}"`. Every other format is that of a
    float, and `,` that of a whole number.

    >>> Quantity(1.0111e-3, "s"), Quantity(0.999, "%"), Quantity(8755.6)
    (1.01 ms, 99.9%, 8,756)
    """

    __slots__ = ("unit",)
    unit: str

    def __new__(cls, value: Any, unit: str = "") -> Quantity:
        self = super().__new__(cls, value)
        self.unit = unit
        return self

    def __format__(self, spec: str) -> str:
        known = _SPEC.fullmatch(spec)
        if not known:
            whole = spec == "," and self.is_integer()
            return int(self).__format__(spec) if whole else super().__format__(spec)
        digits, how = known.groups()
        if how == "%" or (self.unit == "%" and not how):
            return percent(float(self), int(digits or 2))
        unit = "" if how == "n" else self.unit
        show = scientific if how == "e" else text
        return show(float(self), unit, int(digits or 3))

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return breakable(format(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Quantity, (float(self), self.unit)

    def __mul__(self, other: Any) -> Any:
        return _combined(self, other, float.__mul__, 1)

    def __truediv__(self, other: Any) -> Any:
        return _combined(self, other, float.__truediv__, -1)

    def __rtruediv__(self, other: Any) -> Any:
        return float.__rtruediv__(self, other)

    def __add__(self, other: Any) -> Any:
        return _combined(self, other, float.__add__, 0)

    def __sub__(self, other: Any) -> Any:
        return _combined(self, other, float.__sub__, 0)

    def __rsub__(self, other: Any) -> Any:
        return _combined(self, other, float.__rsub__, 0)

    def __floor__(self) -> Any:
        """Return the whole number below, or infinity: a threshold may be that after an edit."""
        return math.floor(float(self)) if math.isfinite(self) else float(self)

    def __ceil__(self) -> Any:
        """Return the whole number above, or infinity."""
        return math.ceil(float(self)) if math.isfinite(self) else float(self)

    __rmul__ = __mul__
    __radd__ = __add__


def quantity(value: Number, unit: str = "") -> Number:
    """Return a single number with its unit; an array is returned unchanged."""
    return value if isinstance(value, np.ndarray) else Quantity(value, unit)


def _combined(one: Quantity, other: Any, compute: Any, power: int) -> Any:
    """Compute, with the unit of the sum (power 0), product (1) or quotient (-1) if it is known."""
    result = compute(one, other)
    if result is NotImplemented:
        return result
    unit = one.unit
    if isinstance(other, Quantity):
        found = _unit(unit, other.unit, power)
        return result if found is None else Quantity(result, found)
    return Quantity(result, unit)


@cache
def _unit(one: str, other: str, power: int) -> str | None:
    """Return the unit of a sum (power 0), product or quotient; None if it isn't a simple one."""
    if power == 0:
        return one if one == other else None
    above, below = _parts(one)
    more, less = _parts(other)[::power]
    above, below = above + more, below + less
    for each in list(above):
        if each in below:
            above.remove(each)
            below.remove(each)
    if len(above) > 1 or len(below) > len(above):
        return None
    return "FLOP/byte" if (above, below) == (["FLOP"], ["B"]) else "/".join(above + below)


def _parts(unit: str) -> tuple[list[str], list[str]]:
    above, _, below = unit.replace("byte", "B").replace("%", "").partition("/")
    return [above] if above else [], [below] if below else []


FACTORS = {
    f"{p}{u}": f for u in ("FLOP/s", "OP/s", "B", "B/s") for p, f in [("", 1.0), *_PREFIXES.items()]
}
FACTORS |= {f"{p}{u}": float(f) for u in ("B", "B/s") for p, f in _BINARY.items()}
FACTORS |= {f"{p}bit/s": f / 8 for p, f in _PREFIXES.items()} | {"OP/clock": 1.0}
"""Factors from units of data sheets to FLOP/s, operations/s or per clock, bytes or bytes/s."""


def to_base(value: float, unit: str) -> float:
    """Convert a figure as printed (3.35 TB/s, 1600 Gbit/s, 95 GiB) to its base unit.

    >>> to_base(95, "GiB"), to_base(2.01, "kB/s")
    (102005473280.0, 2010.0)

    An unknown unit raises a ValueError that lists the known ones.
    """
    factor = FACTORS[one_of("unit", unit, FACTORS)]
    # In whole numbers: 2.01 * 1e3 would be 2009.9999999999998. Factors are multiples of 1/8.
    decimals = len(f"{value:.12f}".rstrip("0").partition(".")[2])
    return float(round(value * 10**decimals) * int(factor * 8) / (8 * 10**decimals))


def text(value: float, unit: str = "", digits: int = 3) -> str:
    """Format a number for reading: `text(1.0111e-3, "s")` is "1.01 ms".

    Number and unit are joined by a no-break space. Infinity is "∞", a nan is "not a number", and
    very large or small numbers are written as powers of ten. Times, counts and rates get a prefix;
    other units are printed unchanged. `digits` counts significant digits; digits before the decimal
    point are always kept.

    >>> text(8755.6), text(240.537), text(float("inf"))
    ('8,756', '241', '∞')
    """
    prefixes, end = {"": 1.0}, 1e15
    if unit in _PREFIXED:
        prefixes, end = _OF_COUNTS, 1e27
    elif unit == "s":
        prefixes = _OF_TIMES
    magnitude = abs(float(f"{value:.{digits - 1}e}"))
    # Up to six leading zeros after the decimal point are easier to read than a power of ten.
    # `scientific` also formats zero, infinity and nan.
    if not min(prefixes.values()) * 1e-6 <= magnitude < end:
        return scientific(value, unit, digits)
    fitting = [prefix for prefix, factor in prefixes.items() if factor <= magnitude]
    prefix = fitting[-1] if fitting else next(iter(prefixes))
    return _join(_plain(value / prefixes[prefix], digits), prefix + unit)


def scientific(value: float, unit: str = "", digits: int = 3) -> str:
    """Format a number as a power of ten; zero, infinity and nan as in `text`.

    >>> scientific(1.97e14)
    '1.97×10¹⁴'
    """
    if value == 0 or not math.isfinite(value):
        return _join(_plain(value, digits), unit)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return _join(f"{_plain(float(mantissa), digits)}×10{raised}", unit)


def percent(fraction: float, digits: int = 2) -> str:
    """Format a fraction as a percentage, with more digits if it would round to 100%.

    >>> percent(0.0021), percent(0.999), percent(1)
    ('0.21%', '99.9%', '100%')
    """
    share = 100 * fraction
    while share < 100 <= float(f"{share:.{digits}g}"):
        digits += 1
    return text(share, "", digits) + ("" if math.isnan(share) else "%")


def shown(values: Any, unit: str | None = None, digits: int = 3) -> str:
    """Format one value, or the smallest and the largest of an array.

    A text stays as it is, a whole number gets commas, any other is a quantity.

    >>> shown(np.array([0.5, 0.25]), "%"), shown(4096), shown("–")
    ('25% to 50%', '4,096', '–')
    """
    if isinstance(values, str):
        return values
    if unit is None and isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return f"{values:,}"
    if isinstance(values, Quantity) and unit is None:
        unit = values.unit
    ends = (np.min(values), np.max(values)) if np.size(values) else ()
    texts = [f"{Quantity(end, unit or '')}" for end in ends]
    return " to ".join(dict.fromkeys(texts)) or "no values"


def breakable(words: str) -> str:
    """Replace no-break spaces with plain ones, which terminals can search."""
    return words.replace("\N{NO-BREAK SPACE}", " ")


def _plain(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    magnitude = int(f"{value:.{digits - 1}e}".split("e")[1])
    decimals = max(0, digits - 1 - magnitude)
    number = f"{value:,.{decimals}f}"
    if decimals:
        number = number.rstrip("0").rstrip(".")
    return number.replace("-", "−")


def _join(number: str, unit: str) -> str:
    # The no-break space keeps number and unit on one line.
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else number
