"""Short texts for learners about numbers, cases and returned values."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .plain_data import Plain

# Entries shown of a list or dictionary.
MAX_SHOWN = 3
# Characters shown of a string.
MAX_TEXT = 40


def written(value: object) -> str:
    """Return a value on one line: 4,096; 1.97e14; "TB/s"; [1; 2; 3; … 9 more]."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**12 else _scientific(value)
    if isinstance(value, float):
        plain = 1e-3 <= abs(value) < 1e10 or not value or math.isinf(value)
        return f"{value:,.10g}" if plain else _scientific(value)
    if isinstance(value, str):
        return f'"{value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 2] + " …"}"'
    if isinstance(value, Mapping):
        if "name" in value:  # a data sheet
            return str(value["name"])
        entries = _few([f"{key}: {written(entry)}" for key, entry in value.items()])
        return "{" + entries[1:-1] + "}"
    if isinstance(value, tuple):
        return "(" + "; ".join(map(written, value)) + ")"
    return _few([written(entry) for entry in value]) if isinstance(value, list) else str(value)


def case_text(case: Mapping[str, Any]) -> str:
    """Return the arguments of one call: B = 64, D = 4,096."""
    return ", ".join(f"{name} = {written(value)}" for name, value in case.items())


def returned(value: Plain) -> str:
    """Return a value in words that can follow "you returned"."""
    if isinstance(value, dict):
        return written(value) if value else "an empty dictionary"
    if not isinstance(value, list):
        return written(value)
    if all(isinstance(entry, str) for entry in value):
        return listed(value) if value else "no names"
    if len(value) == 2:
        return " and ".join(map(written, value))
    return written(value)


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence: "A and B", "A, B, C and 5 more"."""
    shown, rest = list(names[:MAX_SHOWN]), len(names) - MAX_SHOWN
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def percent(share: float) -> str:
    """Return a share as a percentage with no more digits than it needs."""
    return f"{100 * share:g}%"


def _scientific(value: float) -> str:
    """Format as 1.97e14, without the plus sign and leading zeros of Python's format."""
    number, _, power = f"{value:.6g}".partition("e")
    return f"{number}e{int(power)}" if power else number


def _few(parts: Sequence[str]) -> str:
    rest = len(parts) - MAX_SHOWN
    return "[" + "; ".join(parts[:MAX_SHOWN]) + (f"; … {rest} more]" if rest > 0 else "]")
