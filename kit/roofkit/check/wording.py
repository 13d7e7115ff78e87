"""Numbers, cases and returned values as text for a learner: short, however large they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from .plain_data import Plain

FEW = 3  # entries of a list or a dictionary that are shown
TEXT = 40  # characters of a text


def written(value: object) -> str:
    """A value on a line: 4,096; 1.97e+14; "TB/s"; the first entries of whatever holds many."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**12 else _scientific(value)
    if isinstance(value, float):
        plain = 1e-3 <= abs(value) < 1e12 or value == 0
        return f"{value:,.10g}" if plain else _scientific(value)
    if isinstance(value, str):
        return f'"{value if len(value) <= TEXT else value[: TEXT - 2] + " …"}"'
    if isinstance(value, Mapping):
        if "name" in value:  # a data sheet
            return str(value["name"])
        entries = _few([f"{key}: {written(entry)}" for key, entry in value.items()])
        return "{" + entries[1:-1] + "}"
    if isinstance(value, tuple):
        return "(" + "; ".join(map(written, value)) + ")"
    return _few([written(entry) for entry in value]) if isinstance(value, list) else str(value)


def case_text(case: Mapping[str, Any]) -> str:
    """The arguments of one call: B = 64, D = 4,096."""
    return ", ".join(f"{name} = {written(value)}" for name, value in case.items())


def returned(value: Plain) -> str:
    """What a function returned, in words that can follow "you returned"."""
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
    """Names in a row: A, B and 5 more."""
    shown, rest = list(names[:FEW]), len(names) - FEW
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def percent(share: float) -> str:
    """A share as a percentage with no more digits than it needs."""
    return f"{100 * share:g}%"


def _scientific(value: float) -> str:
    """1.97e14: without the + and the leading zeros that Python writes."""
    number, _, power = f"{value:.6g}".partition("e")
    return f"{number}e{int(power)}" if power else number


def _few(parts: Sequence[str]) -> str:
    rest = len(parts) - FEW
    return "[" + "; ".join(parts[:FEW]) + (f"; … {rest} more]" if rest > 0 else "]")
