"""Bounds: how long an operation takes at each roof, and which roof binds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from rooflib import _arguments as check
from rooflib._arguments import Number, ReadOnlyDict, Size, divide, larger, same_fields, smaller
from rooflib.catalog import as_chip
from rooflib.dtypes import Type
from rooflib.hardware import Chip, Link
from rooflib.operations import ANY_LINK, Operation
from rooflib.table import Table, from_rows
from rooflib.units import breakable, span

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPUTE, VECTOR, EXPONENTIALS = "compute", "vector", "exponentials"
HBM, LAUNCH = "HBM", "launch"


@dataclass(frozen=True, repr=False, eq=False)
class Bounds:
    """The time of an operation on a chip, at each roof and overall; made by `bound`.

    Objects with equal values are equal, arrays included.

    Attributes
    ----------
    times
        Seconds at each roof: "compute", "HBM", each link by name and, if they apply, "vector",
        "exponentials" and "launch".
    flops
        FLOPs of one chip, without those at the roof "vector".
    held, capacity
        Bytes that must be in HBM at the same time, and the capacity of the HBM.
    """

    times: Mapping[str, Number]
    flops: Number
    held: Number
    capacity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", ReadOnlyDict(self.times))

    __eq__ = same_fields

    @cached_property
    def lower(self) -> Number:
        """Seconds if all roofs overlap perfectly: the longest of the times."""
        return reduce(larger, self.times.values())

    @cached_property
    def upper(self) -> Number:
        """Seconds if nothing overlaps: the sum; at most k times `lower` for k roofs."""
        return sum(self.times.values())

    @cached_property
    def binding(self) -> str | NDArray[np.str_]:
        """Name of the slowest roof; ties go to the first in `times`."""
        names = np.array(list(self.times))
        stack = np.stack(np.broadcast_arrays(*self.times.values()))
        chosen = names[np.argmax(stack, axis=0)]
        return str(chosen) if stack.ndim == 1 else chosen

    @cached_property
    def fraction_of_peak(self) -> Number:
        """Share of the lower bound in which the compute units are busy."""
        return divide(self.times[COMPUTE], self.lower)

    @cached_property
    def idle(self) -> Number:
        """Share of the lower bound in which the compute units are idle."""
        return 1 - self.fraction_of_peak

    @cached_property
    def attainable(self) -> Number:
        """FLOP/s that one chip reaches at the lower bound."""
        return divide(self.flops, self.lower)

    @cached_property
    def fits(self) -> bool | NDArray[np.bool_]:
        """Whether the bytes that must be in HBM at the same time fit into it."""
        return self.held <= self.capacity

    @property
    def table(self) -> Table:
        """Table of the times, the binding roof and the bounds; arrays show their range."""
        rows = {roof: span(time, "s") for roof, time in self.times.items()}
        rows |= {
            "binding": self._binding,
            "lower bound": span(self.lower, "s"),
            "upper bound": span(self.upper, "s"),
            "attained": span(self.attainable, "FLOP/s"),
            "share of peak": span(self.fraction_of_peak, "%"),
            "HBM needed": f"{span(self.held, 'B')} of {span(self.capacity, 'B')}{self._misfit}",
        }
        return from_rows(("bounds", ""), rows.items())

    def __repr__(self) -> str:
        times = f"lower {span(self.lower, 's')}, upper {span(self.upper, 's')}"
        share = f"{span(self.fraction_of_peak, '%')} of peak"
        return breakable(f"<Bounds: {self._binding} binds, {times}, {share}{self._misfit}>")

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()

    @property
    def _misfit(self) -> str:
        """Words that the operation, or some of several, doesn't fit into HBM; or ""."""
        fits = np.atleast_1d(self.fits)
        return "" if fits.all() else ", some do not fit" if fits.any() else ", does not fit"

    @property
    def _binding(self) -> str:
        return " or ".join(name for name in self.times if name in np.atleast_1d(self.binding))


def bound(
    op: Operation,
    chip: str | Chip,
    link: str | Link | None = None,
    unit: str = "matrix",
    launch: Size = 0.0,
) -> Bounds:
    """Time `op` against every roof of `chip`.

    >>> from rooflib import matmul
    >>> bound(matmul(64, 4096, 16384), "TPU v5e")
    <Bounds: HBM binds, lower 167 µs, upper 211 µs, 26% of peak>

    T_math = FLOPs ÷ peak FLOP/s, T_HBM = bytes ÷ HBM bandwidth, T_link = bytes sent ÷ link
    bandwidth to the group + hops · latency, T_vector = vector FLOPs ÷ peak of the vector units,
    T_exponentials = exponentials ÷ rate of the special-function units. The last is left out if the
    chip's rate is unknown. Kernels that compute some exponentials on the vector units, with a
    polynomial, can be faster than the last.
    Source: Williams, Waterman & Patterson, CACM 52(4), 2009, extended to links as in How To Scale
    Your Model; latency: Hockney, Parallel Computing 20(3), 1994.

    Raises a ValueError if the chip or link is unknown, the chip has no peak for the data type, or a
    link is needed.

    Parameters
    ----------
    chip
        A `Chip`, or the name of one in the catalog.
    link
        The link that carries the bytes sent by `op`: a `Link`, or the name of one of the chip's
        links. Required only if `op` doesn't name its link; takes no time if `op` sends nothing.
    unit
        "matrix" or "vector": the units whose peak is the ceiling. With "vector", they also perform
        the vector FLOPs of `op`, and the times add up.
    launch
        Seconds to launch `op`. At best the launch overlaps with earlier work on the chip, so it is
        a roof like the others.
    """
    check.instance("op", op, Operation, "an Operation, as returned by `matmul`")
    chip = as_chip(chip)
    times: dict[str, Number] = {COMPUTE: op.flops / chip.peak(op.compute, unit)}
    if np.any(op.vector):
        beside = op.vector / _vector_peak(op, chip)
        shared = unit == "vector"
        times[COMPUTE if shared else VECTOR] = times[COMPUTE] + beside if shared else beside
    if chip.exponentials is not None and np.any(op.exponentials):
        times[EXPONENTIALS] = op.exponentials / chip.exponentials
    times[HBM] = op.bytes / chip.bandwidth
    names = dict.fromkeys([*op.sent, *op.hops])
    if link is not None and not names:
        times[chip.link(link).name] = 0
    for name in names:
        if name == ANY_LINK and link is None:
            reason = "this operation sends bytes to other chips"
            known = ", ".join(known.name for known in chip.links) or "none"
            raise ValueError(f"link must be given, because {reason}; {chip.name} has: {known}")
        over = chip.link(link if link and name == ANY_LINK else name)
        # Sum the times of a link: one entry may name it, another may use it as `ANY_LINK`.
        sent = op.sent.get(name, 0) - (op.spared.get(name, 0) if over.reduces else 0)
        flow = sent / over.to_group(op.chips) + op.hops.get(name, 0) * over.latency
        times[over.name] = times.get(over.name, 0) + flow
    start = check.kept("launch", launch)
    if np.any(start):
        times[LAUNCH] = start
    return Bounds(times=times, flops=op.flops, held=op.held, capacity=chip.capacity)


def breakdown(op: Operation, chip: str | Chip, link: str | Link | None = None) -> Table:
    """Return a table of the parts of a step: counts, and time at each roof.

    >>> from rooflib.catalog import model
    >>> breakdown(model("Llama 3 8B").decode(B=1, S=8192), "H100 SXM").rows[-1][:2]
    ('step', '19.3\xa0GFLOP')

    The parts are the kinds of operations of a step of a `Model`. Counts and times of the parts add
    up to those of the step, the last row. "share" is the part's longest time, as a share of the sum
    of all parts' longest times: that of a step whose parts run one after another.

    Parameters and errors are those of `bound`.
    """
    parts = op.parts or (op,)
    steps = [*parts, op]
    bounds = [bound(each, chip, link) for each in steps]
    longest = [each.lower for each in bounds[:-1]]
    longest.append(sum(longest))
    columns = {"operation": [*(part.name for part in parts), "step"]}
    columns["FLOPs"] = [span(each.flops, "FLOP") for each in steps]
    for count in ("loaded", "written", "held"):
        columns[count] = [span(getattr(each, count), "B") for each in steps]
    columns["sent"] = [span(sum(each.sent.values()), "B") for each in steps]
    columns["FLOP/B"] = [span(each.intensity) for each in steps]
    for roof in bounds[-1].times:
        columns[roof] = [span(each.times.get(roof, 0), "s") for each in bounds]
    columns["binding"] = [each._binding for each in bounds]
    columns["share"] = [span(divide(each, longest[-1]), "%") for each in longest]
    return Table(columns)


def _vector_peak(op: Operation, chip: Chip) -> float:
    kind, known = op.vector_compute.name, ", ".join(chip.vector) or "none"
    if kind not in chip.vector:
        wanted = f"a peak of its vector units in {kind} for this operation; it has: {known}"
        hint = "attention(..., softmax=False) leaves out the FLOPs of the softmax"
        raise ValueError(f"{chip.name} must have {wanted}. {hint}")
    return chip.vector[kind]


def attainable(
    intensity: Size, chip: str | Chip, compute: Type = "bf16", unit: str = "matrix"
) -> Number:
    """Return the roof in FLOP/s at an arithmetic intensity in FLOP/byte.

    min(peak, intensity · HBM bandwidth); infinite intensity (no bytes moved) gives the peak.
    Source: Williams, Waterman & Patterson, CACM 52(4), 2009.

    `chip` and `unit` are those of `bound`. An unknown chip, a missing peak, and a negative or nan
    intensity raise a ValueError.
    """
    chip = as_chip(chip)
    slope = check.non_negative("intensity", intensity, largest=np.inf) * chip.bandwidth
    return smaller(slope, chip.peak(compute, unit))
