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
from roofmeter.load_monitor import MIN_SAMPLES, Sample, settled

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


@dataclass(frozen=True, repr=False)
class Figure:
    """A measured quantity with all of its samples.

    Only undisturbed samples count. With fewer than three of them the figure is rejected: `best`,
    `median` and the others then raise a ValueError, and `rejection` gives the reason.

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
    samples: tuple[Sample, ...]
    footprint: float = 0.0
    operation: str = ""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    roof: str = ""

    def __post_init__(self) -> None:
        one_of(f"unit of {self.key!r}", self.unit, UNITS)
        if self.operation:
            one_of(f"operation of {self.key!r}", self.operation, OPERATIONS)

    @cached_property
    def seconds(self) -> tuple[float, ...]:
        """Seconds per pass of each undisturbed sample, shortest first."""
        return tuple(sorted(s.per_pass for s in self.samples if not s.disturbed))

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The value of each undisturbed sample in `unit`, best first."""
        if self.unit == "s":
            return tuple(each / self.amount for each in self.seconds)
        return tuple(self.amount / each for each in self.seconds)

    @property
    def rejection(self) -> str:
        """The reason why there is no figure; empty if there is one."""
        if len(self.seconds) >= MIN_SAMPLES:
            return ""
        why = next((s.disturbed for s in reversed(self.samples) if s.disturbed), "out of time")
        return f"{len(self.seconds)} of {len(self.samples)} samples undisturbed: {why}"

    @property
    def settled(self) -> bool:
        """Whether the third-best sample is within 5% of the best."""
        return settled(list(self.seconds))

    @property
    def best(self) -> float:
        """The best undisturbed sample: what the machine can do; used for roofs."""
        return self._shown[0]

    @property
    def median(self) -> float:
        """The median of the undisturbed samples."""
        return statistics.median(self._shown)

    @property
    def interval(self) -> tuple[float, float]:
        """The smallest and the largest undisturbed sample."""
        return min(self._shown), max(self._shown)

    @property
    def spread(self) -> float:
        """Width of the interval, as a share of the median."""
        low, high = self.interval
        return (high - low) / self.median

    @property
    def share(self) -> float:
        """Median share of time that the workload's threads were running on a core."""
        return statistics.median(s.own for s in self.samples if not s.disturbed)

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
        shown = self.rejection or f"{text(self.best, self.unit)} at best, " + " to ".join(
            text(end, self.unit) for end in self.interval
        )
        return f"<Figure {self.key}: {shown}>".replace("\N{NO-BREAK SPACE}", " ")

    @property
    def _shown(self) -> tuple[float, ...]:
        if self.rejection:
            raise ValueError(f"{self.key!r} has no figure: {self.rejection}")
        return self.values
