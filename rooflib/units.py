"""Units: conversion of printed figures to base units, and readable formatting."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np

from rooflib._arguments import Number, one_of, scalar

_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# Prefixes that `text` chooses from, smallest first.
_OF_COUNTS = {"": 1.0} | _PREFIXES | {"Z": 1e21, "Y": 1e24}
_OF_TIMES = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0}

FACTORS = MappingProxyType(
    {
        f"{p}{u}": f
        for u in ("FLOP/s", "OP/s", "B", "B/s")
        for p, f in [("", 1.0), *_PREFIXES.items()]
    }
    | {f"{p}{u}": float(f) for u in ("B", "B/s") for p, f in _BINARY.items()}
    | {f"{p}bit/s": f / 8 for p, f in _PREFIXES.items()}
    | {"OP/clock": 1.0}
)
"""Factors from units of data sheets to FLOP/s, operations/s or per clock, bytes or bytes/s."""


def to_base(value: float, unit: str) -> float:
    """Convert a figure as printed (3.35 TB/s, 1600 Gbit/s, 95 GiB) to its base unit.

    >>> to_base(95, "GiB"), to_base(2.01, "kB/s")
    (102005473280.0, 2010.0)

    An unknown unit raises a ValueError that lists the known ones.
    """
    from decimal import Decimal  # imported here to keep `import rooflib` light

    # Decimal, because floats would turn 2.01 kB/s into 2009.9999999999998 B/s.
    return float(Decimal(str(value)) * Decimal(FACTORS[one_of("unit", unit, FACTORS)]))


def text(value: float, unit: str = "", digits: int = 3) -> str:
    """Format a number for reading: `text(1.0111e-3, "s")` is "1.01 ms".

    Number and unit are joined by a no-break space. Infinity is "∞", a nan is "not a number", and
    very large or small numbers are written as powers of ten.

    >>> text(8755.6), text(240.537), text(float("inf"))
    ('8,756', '241', '∞')

    `value` is one number in the base unit. The units "s", "FLOP/s", "OP/s", "B/s", "B", "FLOP" and
    "OP" get a suitable prefix; others are printed unchanged. `digits` counts significant digits;
    digits before the decimal point are always kept.
    """
    value, prefixes, end = float(scalar("value", value)), {"": 1.0}, 1e15
    if unit in ("FLOP/s", "OP/s", "B/s", "B", "FLOP", "OP"):
        prefixes, end = _OF_COUNTS, 1e27
    elif unit == "s":
        prefixes = _OF_TIMES
    size = abs(_significant(value, digits))
    # Up to six leading zeros after the decimal point are easier to read than a power of ten.
    # `scientific` also formats zero, infinity and nan.
    if not min(prefixes.values()) * 1e-6 <= size < end:
        return scientific(value, unit, digits)
    fitting = [prefix for prefix, factor in prefixes.items() if factor <= size]
    prefix = fitting[-1] if fitting else next(iter(prefixes))
    return _join(_plain(value / prefixes[prefix], digits), prefix + unit)


def scientific(value: float, unit: str = "", digits: int = 3) -> str:
    """Format a number as a power of ten; zero, infinity and nan as in `text`.

    >>> scientific(1.97e14)
    '1.97×10¹⁴'
    """
    value = float(scalar("value", value))
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
    share = 100 * float(scalar("fraction", fraction))
    while share < 100 <= _significant(share, digits):
        digits += 1
    return text(share, "", digits) + ("" if math.isnan(share) else "%")


def span(values: Number, unit: str = "") -> str:
    """Format the smallest and largest of `values`, or one value if they are equal.

    With the unit "%", fractions are formatted as percentages.

    >>> span(np.array([0.5, 0.25]), "%")
    '25% to 50%'
    """
    ends = (np.min(values), np.max(values)) if np.size(values) else ()
    shown = [percent(end) if unit == "%" else text(end, unit) for end in ends]
    return " to ".join(dict.fromkeys(shown)) or "no values"


def breakable(shown: str) -> str:
    """Replace no-break spaces with plain ones, which terminals can search."""
    return shown.replace("\N{NO-BREAK SPACE}", " ")


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _plain(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    magnitude = int(f"{value:.{digits - 1}e}".split("e")[1])
    decimals = max(0, digits - 1 - magnitude)
    shown = f"{value:,.{decimals}f}"
    if decimals:
        shown = shown.rstrip("0").rstrip(".")
    return shown.replace("-", "−")


def _join(number: str, unit: str) -> str:
    # The no-break space keeps number and unit on one line.
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else number
