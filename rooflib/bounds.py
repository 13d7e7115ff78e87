"""Bounds: how long an operation takes at each roof, and which roof binds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from rooflib._arguments import Number, Size, divide, non_negative
from rooflib.hardware import Chip, Link
from rooflib.operations import ANY_LINK, Operation

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPUTE, HBM = "compute", "HBM"


@dataclass(frozen=True)
class Bounds:
    """The time of one operation on one chip, at each roof and overall.

    Attributes
    ----------
    times
        Seconds at each roof: "compute", "HBM", and each link by name.
    flops
        FLOPs that one chip performs.
    held, capacity
        Bytes that the operation needs at once, and bytes of HBM that there are.
    """

    times: Mapping[str, Number]
    flops: Number
    held: Number
    capacity: float

    @cached_property
    def lower(self) -> Number:
        """Seconds if all roofs overlap perfectly: the longest of the times."""
        return reduce(_larger, self.times.values())

    @cached_property
    def upper(self) -> Number:
        """Seconds if nothing overlaps: the sum; at most k times `lower` for k roofs."""
        return sum(self.times.values())

    @cached_property
    def binding(self) -> str | NDArray[np.str_]:
        """Name of the roof that takes longest. In a tie the first of compute, HBM, link."""
        names = np.array(list(self.times))
        stack = np.stack(np.broadcast_arrays(*self.times.values()))
        chosen = names[np.argmax(stack, axis=0)]
        return str(chosen) if stack.ndim == 1 else chosen

    @cached_property
    def fraction_of_peak(self) -> Number:
        """Share of the lower bound in which the compute units work: 1 when compute-bound."""
        return divide(self.times[COMPUTE], self.lower)

    @cached_property
    def idle(self) -> Number:
        """Share of the lower bound in which the compute units wait for bytes."""
        return 1 - self.fraction_of_peak

    @cached_property
    def attainable(self) -> Number:
        """FLOP/s that one chip reaches at the lower bound."""
        return divide(self.flops, self.lower)

    @cached_property
    def fits(self) -> bool | NDArray[np.bool_]:
        """Whether the chip's HBM holds what the operation needs at once."""
        return self.held <= self.capacity


def bound(
    op: Operation, chip: Chip, link: str | Link | None = None, unit: str = "matrix"
) -> Bounds:
    """Time `op` against every roof of `chip`.

    T_compute = FLOPs ÷ peak FLOP/s, T_HBM = bytes ÷ HBM bandwidth, T_link = bytes sent ÷ link
    bandwidth to one peer. Source: Williams, Waterman & Patterson, CACM 52(4), 2009, extended to
    links as in How To Scale Your Model.

    Parameters
    ----------
    link
        The link that carries what `op` sends: a name that `chip` has, or a `Link`. Needed only
        where `op` sends something and does not say over which link.
    unit
        "matrix" or "vector": whose peak is the ceiling.

    Raises
    ------
    ValueError
        If the chip has no peak for the type of the arithmetic, or lacks the link, or `op` sends
        bytes and no link is named.
    """
    times: dict[str, Number] = {
        COMPUTE: op.flops / chip.peak(op.compute, unit),
        HBM: op.bytes / chip.bandwidth,
    }
    if link is not None and not op.sent:
        over = chip.link(link) if isinstance(link, str) else link
        times[over.name] = 0
    for name, size in op.sent.items():
        if name == ANY_LINK and link is None:
            known = ", ".join(known.name for known in chip.links) or "none"
            raise ValueError(
                f"link must be given, because this operation sends bytes to other chips; "
                f"{chip.name} has: {known}"
            )
        chosen = link if name == ANY_LINK else name
        over = chosen if isinstance(chosen, Link) else chip.link(str(chosen))
        times[over.name] = size / over.to_one_peer
    return Bounds(times=times, flops=op.flops, held=op.held, capacity=chip.capacity)


def attainable(intensity: Size, chip: Chip, compute: str = "bf16", unit: str = "matrix") -> Number:
    """Height of the roof in FLOP/s at an arithmetic intensity in FLOP/byte.

    min(peak, intensity · HBM bandwidth). Source: Williams, Waterman & Patterson, CACM 52(4), 2009.
    """
    slope = non_negative("intensity", intensity) * chip.bandwidth
    return _smaller(slope, chip.peak(compute, unit))


def _larger(a: Number, b: Number) -> Number:
    arrays = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.maximum(a, b) if arrays else max(a, b)


def _smaller(a: Number, b: Number) -> Number:
    arrays = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.minimum(a, b) if arrays else min(a, b)
