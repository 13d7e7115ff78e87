"""Figures: a measured value with its interval, computed from samples."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import rooflib as rl
from rooflib.quantities import breakable, text
from rooflib.work import Work

MIN_SAMPLES = 3
"""So many samples must agree."""
SETTLED_TOLERANCE = 0.05
"""A figure has settled if its third-best sample is within this share of its best."""
COUNTED: Mapping[str, Callable[..., Work]] = {
    "attention": rl.attention,
    "dot": rl.dot,
    "elementwise": rl.elementwise,
    "matmul": rl.matmul,
    "matmul_per_example": lambda B, **sizes: B * rl.matmul(1, **sizes),
    "operation": lambda flops, bytes, compute: rl.work("matmuls", flops, compute, loaded=bytes),
    "rms_norm": rl.rms_norm,
}
"""What counts an operation, by its name in files."""


class Sample(NamedTuple):
    """One timing: `repeats` passes in `seconds`.

    A run of an earlier version may say what `disturbed` a sample; such a sample does not count.
    """

    seconds: float
    repeats: int
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
    operation, sizes
        For an operation: what counts it, and with which arguments.
    roof
        For an operation: the key of the figure whose bandwidth bounds it.
    """

    key: str
    what: str
    unit: str
    amount: float
    operation: str = ""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    roof: str = ""
    samples: tuple[Sample, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """The value of each sample in `unit`, best first."""
        passes = sorted(s.seconds / s.repeats for s in self.samples if not s.disturbed)
        if self.unit == "s":
            return tuple(seconds / self.amount for seconds in passes)
        return tuple(self.amount / seconds for seconds in passes)

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
    def counted(self) -> Work:
        """The operation as counted by rooflib."""
        return COUNTED[self.operation](**self.sizes)

    def __repr__(self) -> str:
        ends = " to ".join(text(end, self.unit) for end in self.interval)
        return breakable(f"<Figure {self.key}: {text(self.best, self.unit)} at best, {ends}>")
