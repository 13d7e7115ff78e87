"""Quantities: numbers that print their own unit.

A `Quantity` is a float. Products, quotients and sums of quantities are quantities if the unit of
the result is a simple one; anything else gives a plain float. Only printing uses the unit: `text`
writes one number, `shown` also the range of an array, whose unit it is told.

    >>> size, rate = Quantity(137e6, "B"), Quantity(3.35e12, "B/s")
    >>> size / rate, f"{size / rate:2}", size / rate / 2e-6
    (40.9 µs, '41\xa0µs', 20.4 s)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rooflib.checks import Number, one_of

# Powers of ten of prefixes, smallest first: those of what is counted, and those of times.
_OF_COUNTS = {prefix: 3 * i for i, prefix in enumerate(["", *"kMGTPEZY"])}
_PREFIXES = dict.fromkeys(("FLOP/s", "OP/s", "B/s", "B", "FLOP", "OP"), _OF_COUNTS)
_PREFIXES["s"] = {"p": -12, "n": -9, "µ": -6, "m": -3, "": 0}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPEC = re.compile(r"(\d*)([n%e]?)")


def _keeping_unit(compute: Callable[[float, Any], Any], power: int) -> Any:
    """Return an operator of two quantities: of a product (1), a quotient (-1) or a sum (0).

    It gives a quantity if the unit of the result is a simple one, and else a float.
    """

    def operator(self: Quantity, other: Any) -> Any:
        result = compute(self, other)
        if result is NotImplemented:
            return result
        unit = _unit(self.unit, other.unit, power) if isinstance(other, Quantity) else self.unit
        return result if unit is None else Quantity(result, unit)

    return operator


class Quantity(float):
    """A number with a unit: "s", "B", "FLOP", "B/s", "FLOP/s", "FLOP/byte", "%", "" or another.

    In a format string, digits are the significant digits (3 if left out; of a share 2), `n` leaves
    out the unit, `e` writes a power of ten and `%` a percentage: `f"{t.lower:4}"`,
    `f"{chip.ridge():n}"`, `f"{layer.flops:e}"`, `f"{a / b:%}"`. Every other format is that of a
    float, and `,` that of a whole number.

    >>> Quantity(1.0111e-3, "s"), Quantity(0.999, "%"), Quantity(8755.6)
    (1.01 ms, 99.9%, 8,756)
    """

    unit: str

    def __new__(cls, value: Any, unit: str = "") -> Quantity:
        self = super().__new__(cls, value)
        self.unit = unit
        return self

    def __format__(self, spec: str) -> str:
        known = _SPEC.fullmatch(spec)
        if not known:
            whole = spec == "," and self.is_integer()
            return format(int(self) if whole else float(self), spec)
        digits, how = known.groups()
        unit = {"n": "", "%": "%"}.get(how, self.unit)
        return text(float(self), unit, int(digits or 0), power=how == "e")

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return breakable(format(self))

    __mul__ = __rmul__ = _keeping_unit(float.__mul__, 1)
    __truediv__ = _keeping_unit(float.__truediv__, -1)
    __add__ = __radd__ = _keeping_unit(float.__add__, 0)
    __sub__ = _keeping_unit(float.__sub__, 0)
    __rsub__ = _keeping_unit(float.__rsub__, 0)

    def __floor__(self) -> Any:
        """Return the whole number below, or infinity: a threshold may be that after an edit."""
        return math.floor(float(self)) if math.isfinite(self) else float(self)

    def __ceil__(self) -> Any:
        """Return the whole number above, or infinity."""
        return math.ceil(float(self)) if math.isfinite(self) else float(self)


def quantity(value: Number, unit: str = "") -> Number:
    """Return a single number with its unit; an array is returned unchanged."""
    return value if isinstance(value, np.ndarray) else Quantity(value, unit)


@cache
def _unit(one: str, other: str, power: int) -> str | None:
    """Return the unit of the result, if it is a simple one."""
    if power == 0:
        return one if one == other else None
    powers: Counter[str] = Counter()
    for unit, sign in ((one, 1), (other, power)):
        above, _, below = unit.replace("byte", "B").replace("%", "").partition("/")
        powers[above] += sign
        powers[below] -= sign
    del powers[""]
    over, under = ([u for u in powers if powers[u] == sign] for sign in (1, -1))
    simple = len(under) <= len(over) <= 1 and all(abs(n) <= 1 for n in powers.values())
    return "/".join(over + under).replace("FLOP/B", "FLOP/byte") if simple else None


def to_base(value: float, unit: str) -> float:
    """Convert a figure as printed (3.35 TB/s, 1600 Gbit/s, 95 GiB) to its base unit.

    >>> to_base(95, "GiB"), to_base(2.01, "kB/s")
    (102005473280.0, 2010.0)

    A ValueError lists the known units.
    """
    from fractions import Fraction  # exact: 2.01 * 1e3 would be 2009.9999999999998

    base = unit.lstrip("KkMGTPEi")
    prefix = unit.removesuffix(base).replace("K", "k")
    one_of(f"{unit!r} without a prefix", base, ("FLOP/s", "OP/s", "OP/clock", "B", "B/s", "bit/s"))
    step = 1024 if prefix.endswith("i") else 1000
    bits = 8 if base == "bit/s" else 1
    return float(Fraction(str(value)) * step ** "-kMGTPE".index(prefix[:1] or "-") / bits)


def text(value: float, unit: str = "", digits: int = 0, *, power: bool = False) -> str:
    """Format a number for reading: `text(1.0111e-3, "s")` is "1.01 ms".

    Times, counts and rates get a prefix; other units are printed unchanged, after a no-break space.
    Very large or small numbers, or all with `power`, are written as powers of ten. A share, of unit
    "%", gets more digits if it would round to 100%. `digits` counts significant digits, by default
    3 and of a share 2; digits before the decimal point are always kept.

    >>> text(8755.6), text(240.537), text(float("inf")), text(0.999, "%")
    ('8,756', '241', '∞', '99.9%')
    """
    digits = digits or (2 if unit == "%" else 3)
    if unit == "%":
        share = 100 * value
        while share < 100 <= float(f"{share:.{digits}g}"):
            digits += 1
        return text(share, "", digits) + ("" if math.isnan(share) else "%")
    prefix = raised = ""
    if value == 0 or not math.isfinite(value):
        number = {0: "0", math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    else:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        at, prefixes = int(exponent), _PREFIXES.get(unit, {"": 0})
        smallest = next(iter(prefixes))
        prefix = [smallest, *(each for each in prefixes if prefixes[each] <= at)][-1]
        after, scaled = at - prefixes[prefix], value / 10 ** prefixes[prefix]
        # Up to six leading zeros after the decimal point are easier to read than a power of ten.
        if power or not -6 <= after < (3 if prefix else 15):
            prefix, after, scaled = "", 0, float(mantissa)
            raised = "×10" + str(at).translate(_RAISED)
        number = f"{scaled:,.{max(0, digits - 1 - after)}f}".replace("-", "−")
        if "." in number:
            number = number.rstrip("0").rstrip(".")
    # The no-break space keeps number and unit on one line.
    return f"{number}{raised}\N{NO-BREAK SPACE}{prefix}{unit}" if unit else number + raised


def shown(values: Any, unit: str | None = None) -> str:
    """Format one value, or the smallest and the largest of an array.

    A text stays as it is, a whole number gets commas, any other is a quantity.

    >>> shown(np.array([0.5, 0.25]), "%"), shown(4096), shown("–")
    ('25% to 50%', '4,096', '–')
    """
    if isinstance(values, str):
        return values
    if unit is None and isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return f"{values:,}"
    unit = getattr(values, "unit", "") if unit is None else unit
    ends = sorted({float(np.min(values)), float(np.max(values))}) if np.size(values) else []
    return " to ".join(dict.fromkeys(text(end, unit) for end in ends)) or "no values"


def breakable(words: str) -> str:
    """Replace no-break spaces with plain ones, which terminals can search."""
    return words.replace("\N{NO-BREAK SPACE}", " ")
