"""Equivalent slips: mutants whose answers are still right, each with a reason.

An entry of tests/exercises/equivalent_slips.toml names parts as exercise/key, and changes by glob
patterns. Four kinds need no entry: roundings of values that are already whole, swaps of symmetric
arguments, swaps of equal quantities in a spelled-out function, and changes that stay well within
the tolerance, even at the ends of the ranges.
"""

import functools
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase

from repository import ROOT
from solutions import part_of

from . import EXACT, Slip, deviation, everything

TABLE = ROOT / "tests/exercises/equivalent_slips.toml"
MAX_DEVIATION = 0.6  # largest error of an equivalent slip, as a share of the tolerance


@dataclass(frozen=True)
class Equivalents:
    """A table entry: slips of these parts whose change matches one of the patterns."""

    parts: tuple[str, ...]
    changes: tuple[str, ...]
    reason: str

    def __contains__(self, slip: Slip) -> bool:
        return f"{slip.exercise}/{slip.part}" in self.parts and any(
            fnmatchcase(slip.change, _literal(pattern)) for pattern in self.changes
        )


@functools.cache
def table() -> tuple[Equivalents, ...]:
    """Return the entries of equivalent_slips.toml."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8")).get("equivalent", [])
    return tuple(
        Equivalents(tuple(entry["parts"]), tuple(entry["changes"]), entry["reason"])
        for entry in entries
    )


def explained(slip: Slip) -> bool:
    """Return whether a slip that passes the check is equivalent for a known reason."""
    off = deviation(slip, everything(slip.exercise, slip.part))
    if off <= EXACT and (slip.rounding or slip.reordering):
        return True
    tolerance = part_of(slip.exercise, slip.part).tolerance
    if off == 0 and slip.causes is not None:
        return True  # two quantities have the same value, or one is 1
    if 0 < off <= MAX_DEVIATION * tolerance:
        return True
    return off <= tolerance and any(slip in entry for entry in table())


def _literal(pattern: str) -> str:
    """Return the glob pattern with its brackets escaped."""
    return pattern.replace("[", "[[]")
