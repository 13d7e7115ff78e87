"""Figures: a measured value with its interval, computed from samples."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rooflib.checks import one_of
from rooflib.quantities import text
from rooflib.work import Work

UNITS = ("FLOP/s", "B/s", "s")
OPERATIONS = (
    "attention",
    "dot",
    "elementwise",
    "matmul",
    "matmul_per_example",
    "operation",
    "rms_norm",
)
MIN_SAMPLES = 3
"""A figure has at least this many samples."""
SETTLED_TOLERANCE = 0.05
"""A figure has settled if its third-best sample is within this share of its best."""


@dataclass(frozen=True)
class Sample:
    """One timing: `repeats` passes in `seconds`.

    `own` is the share of its threads' time that they spent on a core. A stored run may say why a
    sample was `disturbed`; such a sample does not count.
    """

    seconds: float
    repeats: int
    own: float
    disturbed: str = ""


@dataclass(frozen=True, repr=False)
class Figure:
    """A measured quantity with all of its samples.

    Attributes
    ----------
    key, what
        Its name in tables ("peak fp32"), and a description of what ran.
    unit
        "FLOP/s" or "B/s" (higher is better), or "s" (lower is better).
    amount
        FLOPs, bytes or calls in one pass.
    threads
        Threads that shared the work.
    footprint
        Bytes accessed before any byte is accessed again: what fits into a cache stays there.
    operation, sizes
        For an operation: the rooflib function that counts it, and its arguments.
    roof
        For an operation: the key of the figure whose bandwidth bounds it.
    """

    key: str
    what: str
    unit: str
    amount: float
    threads: int
    samples: tuple[Sample, ...] = ()
    footprint: float = 0.0
    operation: str = ""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    roof: str = ""

    def __post_init__(self) -> None:
        one_of(f"unit of {self.key!r}", self.unit, UNITS)
        if self.operation:
            one_of(f"operation of {self.key!r}", self.operation, OPERATIONS)

    @property
    def _counting(self) -> list[Sample]:
        return [each for each in self.samples if not each.disturbed]

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The value of each sample in `unit`, best first."""
        seconds = sorted(each.seconds / each.repeats for each in self._counting)
        if self.unit == "s":
            return tuple(each / self.amount for each in seconds)
        return tuple(self.amount / each for each in seconds)

    @property
    def best(self) -> float:
        """The best sample: what the machine can do; used for roofs."""
        return self.values[0]

    @property
    def median(self) -> float:
        """The median of the samples."""
        return statistics.median(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """The smallest and the largest sample."""
        return min(self.values), max(self.values)

    @property
    def spread(self) -> float:
        """Width of the interval, as a share of the median."""
        low, high = self.interval
        return (high - low) / self.median

    @property
    def settled(self) -> bool:
        """Whether the third-best sample is within 5% of the best."""
        if len(self.values) < MIN_SAMPLES:
            return False
        low, high = sorted((self.best, self.values[MIN_SAMPLES - 1]))
        return high <= (1 + SETTLED_TOLERANCE) * low

    @property
    def share(self) -> float:
        """Median share of time that the workload's threads were running on a core."""
        return statistics.median(each.own for each in self._counting)

    @property
    def counted(self) -> Work:
        """The operation as counted by rooflib; a ValueError for a figure that is a roof."""
        import rooflib as rl

        if not self.operation:
            raise ValueError(f"{self.key!r} is a roof, not an operation")
        sizes = dict(self.sizes)
        # In files, "operation" stands for its counts, and "matmul_per_example" for one row each.
        if self.operation == "operation":
            bytes, type = sizes.pop("bytes", 0), sizes.pop("compute", "bf16")
            return rl.work(self.key, loaded=bytes, type=type, **sizes)
        if self.operation == "matmul_per_example":
            rows = sizes.pop("B")
            each: Work = rl.matmul(1, **sizes)
            counted: Work = each * rows
            return counted
        made: Work = getattr(rl, self.operation)(**sizes)
        return made

    def __repr__(self) -> str:
        ends = " to ".join(text(end, self.unit) for end in self.interval)
        shown = f"<Figure {self.key}: {text(self.best, self.unit)} at best, {ends}>"
        return shown.replace("\N{NO-BREAK SPACE}", " ")
