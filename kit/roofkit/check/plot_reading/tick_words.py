"""Parsing of tick labels: the scale of their numbers, prefixes, and units."""

import math
import re
from typing import Any

import numpy as np

from .axis_words import vertical
from .number_words import PREFIXES
from .plain_text import plain_text
from .scripts import romanized

_NUMBER = re.compile(
    r"([+-]?\d[\d,._' ]*(?:e[+-]?\d{1,3})?)? ?(?:[×x·*] ?)?(?:(\d{1,2})\^([+-]?\d{1,3}))?(.*)",
    re.IGNORECASE,
)


def shown_scale(axis: dict[str, Any]) -> tuple[float, float, bool]:
    """Return the factor from data to ticks, the prefix, and whether there is a unit.

    The factor is 1 if the ticks disagree, because then their texts aren't plain numbers.
    """
    corner, *_ = _quantity(axis.get("offset", "")) or (1.0,)
    powers, prefix, has_unit = [], 1.0, False
    for place, text in axis.get("ticks", [])[:50]:
        if (quantity := _quantity(text)) is None:
            continue
        value, of_tick, unit = quantity
        with np.errstate(all="ignore"):
            shown = float(np.float64(value) * corner / place)
        if 0 < shown < math.inf:
            powers.append(math.log10(shown))
            prefix, has_unit = max(prefix, of_tick), has_unit or unit
    if not powers:
        return 1.0, 1.0, False
    power = round(float(np.median(powers)))
    # Tick texts may be rounded: 0.1 for 0.125.
    agreed = all(abs(one - power) < 0.15 for one in powers)
    return (10.0**power if agreed else 1.0), prefix, has_unit


def _quantity(text: object) -> tuple[float, float, bool] | None:
    """Parse 2×10^14, 100 T or 100 TFLOP/s: value, prefix, and whether it has a unit."""
    parts = _NUMBER.fullmatch(plain_text(text))
    if parts is None or not (parts[1] or parts[2]):
        return None
    value = _number(parts[1].strip()) if parts[1] else 1.0
    if parts[2]:
        value *= _power(float(parts[2]), int(parts[3]))
    if not math.isfinite(value):
        return None
    rest = parts[4].strip()
    factor, problem = vertical(rest)
    if rest and problem:
        prefix = romanized(rest).lower()
        if prefix not in PREFIXES:
            return None
        factor = PREFIXES[prefix]
    return value * factor, factor, bool(rest) and not problem


def _number(text: str) -> float:
    """Parse a number with any thousands separators; nan for other texts."""
    text = re.sub(r"[ _']", "", text)
    if re.fullmatch(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", text):
        text = text.replace(",", "")
    elif re.fullmatch(
        r"[+-]?\d{1,3}(?:\.\d{3}){2,}(?:,\d*)?", text
    ):  # two groups are needed, since a single 1.000 means 1
        text = text.replace(".", "")
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def _power(base: float, exponent: int) -> float:
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf
