"""Work: what a chip has to do, as amounts by resource; and the time that it takes.

Work adds up and repeats, so a layer, a step and a model are sums:

    >>> from rooflib import matmul
    >>> heads = matmul(16, 4096, 6144).named("projections")
    >>> mlp = 3 * matmul(16, 4096, 14336)
    >>> step = 32 * (heads + mlp.named("MLP"))
    >>> t = step.on("H100 SXM")
    >>> step, f"{t.roof}, at least {t.lower}"
    (<Work projections + MLP: 206 GFLOP in bf16, 13 GB, 15.9 FLOP/byte>, 'HBM, at least 3.87\xa0ms')

Resources are the names of a chip's rates: a data type ("bf16") for FLOPs of the matrix units,
"vector fp32" for those of the vector units, "exponentials", "HBM" for bytes loaded and written, and
"launch". What is sent to other chips has no resource yet: `on` is told the link. Roofs are the
resources that work one after another: all types of the matrix units are one, "compute".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from rooflib import catalog
from rooflib.checks import Number, Size, larger, size, sizes
from rooflib.dtypes import Type, dtype
from rooflib.hardware import HBM, ROOFS, Chip, Link, read_only, roof_of, unit_of
from rooflib.quantities import breakable, quantity, shown
from rooflib.table import Table, from_rows, markdown

SUMS = ("written", "held", "sent", "hops", "spared")
"""What adds up beside the amounts of `Work`."""


@dataclass(frozen=True, repr=False)
class Work:
    """What one chip has to do. `+` adds work, `*` repeats it, `on` gives its times on a chip.

    Attributes
    ----------
    amounts
        Amounts by resource, as the module says: FLOPs, exponentials, bytes, launches.
    written, held
        How many of the HBM bytes are written, and how many are there at the same time; by default
        all that are loaded and written. They add up, so a sum holds all that its parts do.
    sent, hops, spared
        Bytes sent to other chips, one way, if each all-reduce goes around a ring; how many messages
        follow one another, each of which adds the link's latency; and how many of these bytes are
        not sent over a link whose switch adds up.
    chips
        How many chips share the work, and send to each other.
    parts
        What this was added up from. Parts of the same name are one.
    """

    name: str = ""
    amounts: Mapping[str, Number] = field(default_factory=dict)
    written: Number = 0
    held: Number = None
    sent: Number = 0
    hops: Number = 0
    spared: Number = 0
    chips: Number = 1
    parts: tuple[Work, ...] = ()

    __array_ufunc__ = None  # so that an array times work is work, not an array

    def __post_init__(self) -> None:
        held = self.amounts.get(HBM, 0) if self.held is None else self.held
        for name, bytes in (("held", held), ("written", self.written), ("sent", self.sent)):
            object.__setattr__(self, name, quantity(bytes, "B"))
        object.__setattr__(self, "amounts", read_only(self.amounts))

    def on(self, chip: str | Chip, link: str | Link | None = None) -> Times:
        """Return the time that each resource of a chip is busy.

        Amount ÷ rate; for a link bytes sent ÷ bandwidth to the group + hops · latency. Times of
        different data types on the same units add up. Without a rate of exponentials or launches,
        these take no time.
        Source: Williams, Waterman & Patterson, CACM 52(4), 2009, extended to links as in How To
        Scale Your Model; latency: Hockney, Parallel Computing 20(3), 1994.

        `chip` is a `Chip` or the name of one in the catalog. `link` carries what the work sends: a
        `Link`, or the name of one of the chip's. Raises a ValueError if the chip has no such rate,
        or if a link is needed.
        """
        chip = catalog.chip(chip)
        busy: dict[str, Number] = {}
        for resource, amount in self.amounts.items():
            optional = resource in ("exponentials", "launch")
            if resource not in chip and (optional or not np.any(amount)):
                continue
            roof, time = roof_of(resource), amount / float(chip[resource])
            busy[roof] = busy[roof] + time if roof in busy else time
        # HBM and the units that compute always have a time: by default the matrix units.
        busy = {HBM: 0, roof_of(self.types[0]) if self.types else "compute": 0} | busy
        times = {roof: busy[roof] for roof in ROOFS if roof in busy}
        if link is not None:
            over = chip.link(link)
            sent = self.sent - self.spared if over.reduces else self.sent
            times[over.name] = sent / over.to_group(self.chips) + self.hops * float(over.latency)
        elif np.any(self.sent) or np.any(self.hops):
            known = ", ".join(each.name for each in chip.links) or "none"
            raise ValueError(f"link must be given for what is sent; {chip.name} has: {known}")
        seconds = {roof: quantity(time, "s") for roof, time in times.items()}
        return Times(self, chip, read_only(seconds), link)

    def named(self, name: str) -> Work:
        """Return the same work with a name: as a part of a sum, it is then one row of a table."""
        return replace(self, name=name)

    @property
    def flops(self) -> Number:
        """FLOPs on the matrix units; of work that has none there, those on the vector units."""
        counted = [self.amounts[kind] for kind in self.types]
        # Not `sum`: it adds to 0, which copies an array.
        return quantity(reduce(add, counted) if counted else 0, self._unit)

    @property
    def bytes(self) -> Number:
        """Bytes moved between HBM and the chip: loaded and written."""
        return quantity(self.amounts.get(HBM, 0), "B")

    @property
    def loaded(self) -> Number:
        """Bytes loaded from HBM."""
        return quantity(self.amounts.get(HBM, 0) - self.written, "B")

    @property
    def intensity(self) -> Number:
        """Arithmetic intensity in FLOP/byte: infinite without bytes, zero without FLOPs."""
        return quantity(_ratio(self.flops, self.bytes), "FLOP/byte")

    @property
    def types(self) -> tuple[str, ...]:
        """The data types of what `flops` counts: ("bf16",), ("fp8", "bf16"), ("vector fp32",)."""
        on_matrix = tuple(kind for kind in self.amounts if roof_of(kind) == "compute")
        return on_matrix or tuple(kind for kind in self.amounts if roof_of(kind) == "vector")

    @property
    def compute(self) -> str:
        """These types in words: "bf16", "fp8 and bf16", "vector fp32"."""
        return " and ".join(self.types)

    @property
    def _unit(self) -> str:
        """The unit of `flops`: "OP" if all are of integers."""
        return "OP" if {unit_of(kind) for kind in self.types} == {"OP"} else "FLOP"

    def __add__(self, other: Work) -> Work:
        if not isinstance(other, Work):  # `sum` starts at 0
            return self if isinstance(other, int) and other == 0 else NotImplemented
        return added((self, other))

    __radd__ = __add__

    def __mul__(self, count: Size) -> Work:
        count = size("a repeated work's count", count, zero=True)
        amounts = {resource: count * amount for resource, amount in self.amounts.items()}
        sums = {name: count * getattr(self, name) for name in SUMS}
        return replace(self, amounts=amounts, parts=tuple(p * count for p in self.parts), **sums)

    __rmul__ = __mul__

    def _plus(self, other: Work) -> Work:
        """Return the sum under this work's name, without its parts."""
        amounts = {**self.amounts}
        for resource, amount in other.amounts.items():
            amounts[resource] = amounts.get(resource, 0) + amount
        sums: Any = {name: getattr(self, name) + getattr(other, name) for name in SUMS}
        return Work(self.name, amounts, **sums, chips=larger(self.chips, other.chips))

    @property
    def _label(self) -> str:
        return self.name or " + ".join(part.name for part in self.parts) or "work"

    def __repr__(self) -> str:
        parts = [f"{shown(self.flops, self._unit)} in {self.compute}"] if self.compute else []
        parts.append(shown(self.bytes, "B"))
        parts += [f"{shown(self.sent, 'B')} sent"] if np.any(self.sent) else []
        parts.append(shown(self.intensity, "FLOP/byte"))
        return breakable(f"<Work {self._label}: {', '.join(parts)}>")


@dataclass(frozen=True, repr=False)
class Times:
    """How long `work` keeps each resource of `chip` busy, and how long it takes.

    `times` are seconds by roof: "compute" (matrix units) or "vector", "HBM", each link by name and,
    if they apply, "exponentials" and "launch". `link` is the one that `Work.on` was told.
    """

    work: Work
    chip: Chip
    times: Mapping[str, Number]
    link: str | Link | None = None

    @property
    def lower(self) -> Number:
        """Seconds if all resources work at the same time: the longest of the times."""
        return reduce(larger, self.times.values())

    @property
    def upper(self) -> Number:
        """Seconds if one works after another: the sum; at most k times `lower` for k roofs."""
        return quantity(sum(self.times.values()), "s")

    @property
    def roof(self) -> Any:
        """Name of the slowest resource; ties go to the first. An array for arrays."""
        stack = np.stack(np.broadcast_arrays(*self.times.values()))
        chosen = np.array(list(self.times))[np.argmax(stack, axis=0)]
        return str(chosen) if stack.ndim == 1 else chosen

    @property
    def share_of_peak(self) -> Number:
        """Share of the lower bound in which the units that compute are busy."""
        busy = self.times.get("compute", self.times.get("vector"))
        return quantity(_ratio(busy, self.lower), "%")

    @property
    def idle(self) -> Number:
        """Share of the lower bound in which the units that compute are idle."""
        return quantity(1 - self.share_of_peak, "%")

    @property
    def attained(self) -> Number:
        """FLOP/s that one chip reaches at the lower bound."""
        return quantity(_ratio(self.work.flops, self.lower), f"{self.work._unit}/s")

    @property
    def fits(self) -> Any:
        """Whether the bytes that must be in memory at the same time fit into it."""
        return self.work.held <= self.chip.memory

    @property
    def table(self) -> Table:
        """Table of the amounts, the times and the bounds; arrays show their range."""
        work, unit = self.work, self.work._unit
        rows = {"FLOPs": shown(work.flops, unit), "computed in": work.compute or "–"}
        for name in ("loaded", "written", *(["sent"] if np.any(work.sent) else [])):
            rows[name] = shown(getattr(work, name), "B")
        rows["intensity"] = shown(work.intensity, "FLOP/byte")
        rows |= {roof: shown(time, "s") for roof, time in self.times.items()}
        rows |= {
            "roof": self._roofs,
            "lower bound": shown(self.lower, "s"),
            "upper bound": shown(self.upper, "s"),
            "attained": shown(self.attained, f"{unit}/s"),
            "share of peak": shown(self.share_of_peak, "%"),
            "HBM needed": f"{shown(work.held, 'B')} of {self.chip.memory}{self._misfit}",
        }
        return from_rows((work._label, f"on {self.chip.name}"), rows.items())

    @property
    def parts(self) -> Table:
        """Table of the parts of a sum: amounts, and the time at each roof.

        Amounts and times of the parts add up to those of the whole, the last row. "share" is the
        part's longest time, as a share of the sum of all parts' longest times.
        """
        parts = [part.on(self.chip, self.link) for part in self.work.parts or (self.work,)]
        longest = [times.lower for times in parts]
        rows = [*parts, self]
        works = [times.work for times in rows]
        bytes = ("loaded", "written", "held", "sent")
        columns = {
            "operation": [*(times.work._label for times in parts), "step"],
            "FLOPs": ([work.flops for work in works], self.work._unit),
            **{name: ([getattr(work, name) for work in works], "B") for name in bytes},
            "FLOP/byte": ([work.intensity for work in works], ""),
            **{roof: ([times.times.get(roof, 0) for times in rows], "s") for roof in self.times},
            "roof": [times._roofs for times in rows],
            "share": ([_ratio(each, sum(longest)) for each in (*longest, sum(longest))], "%"),
        }
        return Table(columns)

    @property
    def _roofs(self) -> str:
        return " or ".join(name for name in self.times if name in np.atleast_1d(self.roof))

    @property
    def _misfit(self) -> str:
        if np.all(self.fits):
            return ""
        return ", does not always fit" if np.any(self.fits) else ", does not fit"

    def __repr__(self) -> str:
        times = f"lower {shown(self.lower, 's')}, upper {shown(self.upper, 's')}"
        share = f"{shown(self.share_of_peak, '%')} of peak"
        return breakable(f"<Times: {self._roofs} is the roof, {times}, {share}{self._misfit}>")

    _repr_markdown_ = markdown


def added(works: Iterable[Work], name: str = "") -> Work:
    """Return the sum of works, whose parts are these, or what one without a name is a sum of.

    Those of the same name make one part.
    """
    rows: dict[str, Work] = {}
    for work in works:
        for part in work.parts if work.parts and not work.name else (work,):
            rows[part.name] = rows[part.name]._plus(part) if part.name in rows else part
    parts = tuple(rows.values())
    return replace(reduce(Work._plus, parts, Work(name)), parts=parts)


def work(
    name: str = "work",
    flops: Size = 0,
    type: Type = "bf16",
    *,
    loaded: Size = 0,
    written: Size = 0,
    held: Size | None = None,
    sent: Size = 0,
    hops: Size = 0,
) -> Work:
    """Make work with one launch from its amounts: numbers or arrays, each zero or above.

    >>> work(flops=1e9, type="fp32", loaded=4e9).intensity
    0.25 FLOP/byte

    `type` is the data type of `flops`, "vector fp32" if the vector units do them.
    """
    held = None if held is None else size("held", held, zero=True)
    given = sizes(zero=True, flops=flops, loaded=loaded, written=written, sent=sent, hops=hops)
    # Copies: work would otherwise change if the caller changed an array.
    flops, loaded, written, sent, hops = map(copy, given)
    amounts, kind = {HBM: loaded + written, "launch": 1}, resource_of(type)
    if np.any(flops):  # else the type would say where there are none
        amounts = {kind: flops, **amounts}
    return Work(name, amounts, written, copy(held), sent, hops)


def resource_of(type: Type, argument: str = "type") -> str:
    """Return the resource of FLOPs in a data type: its name, "vector " before it is kept."""
    if isinstance(type, str) and type.startswith("vector "):
        return f"vector {dtype(type.removeprefix('vector '), argument).name}"
    return dtype(type, argument).name


def _ratio(above: Number, below: Number) -> Number:
    """Divide, with 0 ÷ anything = 0 and anything else ÷ 0 = infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(np.asarray(above, float), np.asarray(below, float))
    # Only 0 ÷ 0 gives a nan, since neither is ever infinite.
    return (quotient if np.min(below, initial=1) else np.where(np.isnan(quotient), 0, quotient))[()]
