"""Slips that change nothing which is asked for, each with a reason.

An entry of tests/exercises/equivalent_slips.toml names parts by their exercise and key, and changes
by a pattern as of file names. No entry is needed for a rounding that finds nothing to round, for
arguments that are treated alike, for one of two equal quantities of a spelled-out function, and for
a change that stays well within the tolerance, also at the ends of the ranges.
"""

import functools
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase

from repository import ROOT
from solutions import part_of

from . import EXACT, Slip, deviation, everything

TABLE = ROOT / "tests/exercises/equivalent_slips.toml"
WELL_WITHIN = 0.6  # of the tolerance


@dataclass(frozen=True)
class Equivalents:
    """An entry of the table: the slips of some parts whose change is like one of the patterns."""

    parts: tuple[str, ...]
    changes: tuple[str, ...]
    reason: str

    def __contains__(self, slip: Slip) -> bool:
        return f"{slip.exercise}/{slip.part}" in self.parts and any(
            fnmatchcase(slip.change, _literal(pattern)) for pattern in self.changes
        )


@functools.cache
def table() -> tuple[Equivalents, ...]:
    """Return the entries of the table."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8")).get("equivalent", [])
    return tuple(
        Equivalents(tuple(entry["parts"]), tuple(entry["changes"]), entry["reason"])
        for entry in entries
    )


def explained(slip: Slip) -> bool:
    """Return whether a slip that the check calls right changes nothing that is asked for."""
    off = deviation(slip, everything(slip.exercise, slip.part))
    if off <= EXACT and (slip.rounding or slip.reordering):
        return True
    tolerance = part_of(slip.exercise, slip.part).tolerance
    if off == 0 and slip.causes is not None:
        return True  # of two named quantities with one value, or of one that is 1
    if 0 < off <= WELL_WITHIN * tolerance:
        return True
    return off <= tolerance and any(slip in entry for entry in table())


def _literal(pattern: str) -> str:
    """Return the pattern with brackets that stand for themselves."""
    return pattern.replace("[", "[[]")
