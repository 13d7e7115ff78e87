"""Units: printed figures to SI base units on the way in, readable text on the way out."""

from __future__ import annotations

import math
from types import MappingProxyType

from rooflib._arguments import one_of

_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SMALL = {"ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}

FACTORS = MappingProxyType(
    {
        f"{p}{u}": f
        for u in ("FLOP/s", "OP/s", "B", "B/s")
        for p, f in [("", 1.0), *_PREFIXES.items()]
    }
    | {f"{p}{u}": float(f) for u in ("B", "B/s") for p, f in _BINARY.items()}
    | {f"{p}bit/s": f / 8 for p, f in _PREFIXES.items()}
)
"""Factor from each unit that a data sheet prints to FLOP/s, operations/s, bytes or bytes/s."""


def to_base(value: float, unit: str) -> float:
    """Convert a figure as printed (3.35 TB/s, 1600 Gbit/s, 95 GiB) to its base unit.

    Raises
    ------
    ValueError
        If the unit is unknown. The message lists the known ones.
    """
    # Scaling by 1e12 as a float would turn 3.35 into 3349999999999.9995.
    return float(f"{value * FACTORS[one_of('unit', unit, FACTORS)]:.12g}")


def text(value: float, unit: str = "", digits: int = 3) -> str:
    """Write a number for people: `text(1.0111e-3, "s")` is "1.01 ms".

    Parameters
    ----------
    value
        One number in the base unit.
    unit
        "s", "FLOP/s", "OP/s", "B/s", "B", "FLOP" and "OP" get a prefix that suits the size;
        any other unit is printed as it is; "" prints the number alone, with commas.
    digits
        Significant digits. Digits before the decimal point are never dropped.
    """
    value = float(value)
    if not math.isfinite(value):
        return _join("∞" if value > 0 else "−∞" if value < 0 else "not a number", unit)
    if unit in ("FLOP/s", "OP/s", "B/s", "B", "FLOP", "OP"):
        steps = [("", 1.0), *_PREFIXES.items()]
        fitting = [s for s in steps if abs(_significant(value, digits)) >= s[1]]
        prefix, factor = fitting[-1] if fitting else steps[0]
        return _join(_plain(value / factor, digits), prefix + unit)
    if unit == "s":
        shown = _significant(value, digits)
        for name, factor in [("s", 1.0), *_SMALL.items()]:
            if abs(shown) >= factor or name == "ps":
                return _join(_plain(value / factor, digits), name if value else "s")
    return _join(_plain(value, digits), unit)


def scientific(value: float, unit: str = "", digits: int = 3) -> str:
    """Write a number as a power of ten: `scientific(1.97e14, "FLOP/s")` is "1.97×10¹⁴ FLOP/s"."""
    mantissa, exponent = f"{float(value):.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return _join(f"{mantissa}×10{raised}", unit)


def percent(fraction: float, digits: int = 2) -> str:
    """Write a fraction as a percentage: `percent(0.0021)` is "0.21%"."""
    return _plain(100 * float(fraction), digits) + "%"


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _plain(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(_significant(value, digits))))
    decimals = max(0, digits - 1 - magnitude)
    shown = f"{value:,.{decimals}f}"
    if decimals:
        shown = shown.rstrip("0").rstrip(".")
    return shown.replace("-", "−")


def _join(number: str, unit: str) -> str:
    # A no-break space, so that no line ends between a number and its unit.
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else number
