"""What comes out of samples: a figure with its interval, or none."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rooflib._arguments import one_of
from rooflib.operations import Operation
from rooflib.units import text
from roofmeter.watch import FEWEST, Sample, settled

UNITS = ("FLOP/s", "B/s", "s")
OPERATIONS = {"attention", "dot", "elementwise", "matmul", "matmul_per_example", "rms_norm"}
OPERATIONS |= {"operation"}


@dataclass(frozen=True, repr=False)
class Figure:
    """Something that was measured, with all of its samples.

    Only undisturbed samples count. Fewer than three of them are no figure: `best` and the others
    are then a ValueError, and `refused` says why.

    Attributes
    ----------
    key, what
        Its name in tables ("peak fp32"), and what ran, in words.
    unit
        "FLOP/s" and "B/s", of which more is better, or "s", of which less is.
    amount
        What one pass does: so many FLOPs, bytes, or calls.
    threads
        Threads that shared it.
    footprint
        Bytes that pass before the first of them is needed again; what fits into a cache stays.
    operation, sizes
        For a dot under the roof: the function of rooflib that counts it, and its arguments.
    roof
        For a dot: the key of the figure that is the bandwidth it is held against.
    """

    key: str
    what: str
    unit: str
    amount: float
    threads: int
    samples: tuple[Sample, ...]
    footprint: float = 0.0
    operation: str = ""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    roof: str = ""

    def __post_init__(self) -> None:
        one_of(f"unit of {self.key!r}", self.unit, UNITS)
        if self.operation:
            one_of(f"operation of {self.key!r}", self.operation, sorted(OPERATIONS))

    @cached_property
    def seconds(self) -> tuple[float, ...]:
        """Seconds of a pass, of each undisturbed sample, shortest first."""
        return tuple(sorted(s.each for s in self.samples if not s.disturbed))

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The figure of each undisturbed sample in `unit`, best first."""
        if self.unit == "s":
            return tuple(each / self.amount for each in self.seconds)
        return tuple(self.amount / each for each in self.seconds)

    @property
    def refused(self) -> str:
        """Why there is no figure; empty where there is one."""
        if len(self.seconds) >= FEWEST:
            return ""
        why = next((s.disturbed for s in reversed(self.samples) if s.disturbed), "time was out")
        return f"{len(self.seconds)} of {len(self.samples)} samples undisturbed: {why}"

    @property
    def settled(self) -> bool:
        """Whether its third-best sample is within 5% of the best."""
        return settled(list(self.seconds))

    @property
    def best(self) -> float:
        """The best undisturbed sample: what the machine can do, for a roof."""
        return self._shown[0]

    @property
    def median(self) -> float:
        """The typical sample."""
        return statistics.median(self._shown)

    @property
    def interval(self) -> tuple[float, float]:
        """The smallest and the largest of the undisturbed samples."""
        return min(self._shown), max(self._shown)

    @property
    def spread(self) -> float:
        """Width of the interval, as a share of the median."""
        low, high = self.interval
        return (high - low) / self.median

    @property
    def share(self) -> float:
        """Typical share of the CPU time of its threads that was used: a half is one of two."""
        return statistics.median(s.own for s in self.samples if not s.disturbed)

    @property
    def counted(self) -> Operation:
        """What a dot computes and moves, counted by rooflib; a ValueError for a figure without."""
        import rooflib as rl

        if not self.operation:
            raise ValueError(f"{self.key!r} is a roof, and no operation under one")
        made: Operation = getattr(rl, self.operation)(**self.sizes)
        return made

    def __repr__(self) -> str:
        shown = self.refused or f"{text(self.best, self.unit)} at best, " + " to ".join(
            text(end, self.unit) for end in self.interval
        )
        return f"<Figure {self.key}: {shown}>".replace("\N{NO-BREAK SPACE}", " ")

    @property
    def _shown(self) -> tuple[float, ...]:
        if self.refused:
            raise ValueError(f"{self.key!r} has no figure: {self.refused}")
        return self.values
