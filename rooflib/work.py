"""Work: what a chip has to do, as amounts by resource; and the time that it takes.

A chip is a set of rates, work is a set of amounts, and a time is an amount over a rate. The longest
time is the roof. Work adds up and repeats, so a layer, a step and a model are sums:

    >>> from rooflib import matmul
    >>> heads = matmul(16, 4096, 6144).named("projections")
    >>> mlp = 3 * matmul(16, 4096, 14336)
    >>> step = 32 * (heads + mlp.named("MLP"))
    >>> t = step.on("H100 SXM")
    >>> step, f"{t.roof}, at least {t.lower}"
    (<Work projections + MLP: 206 GFLOP in bf16, 13 GB, 15.9 FLOP/byte>, 'HBM, at least 3.87\xa0ms')

Resources are the names of a chip's rates: a data type ("bf16") for FLOPs of the matrix units,
"vector fp32" for those of the vector units, "exponentials", "HBM" for bytes loaded and written, and
"launch"; a link's name, or "link" for the one that `on` is told, for bytes sent one way. Links
are also keys of `hops`: that is how `Work` tells them from data types.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from rooflib.catalog import as_chip
from rooflib.checks import MAX_AMOUNT, Number, ReadOnlyDict, Size, broadcastable, larger, size
from rooflib.dtypes import Type, dtype
from rooflib.hardware import VECTOR, Chip, Link, unit_of
from rooflib.quantities import breakable, quantity, shown
from rooflib.table import Table, from_rows

LINK = "link"
"""The key of `Work.amounts` and `Work.hops` for a link that is chosen in `Work.on`."""

COMPUTE, VECTOR_UNITS, EXPONENTIALS = "compute", "vector", "exponentials"
HBM, LAUNCH = "HBM", "launch"
OPTIONAL = (EXPONENTIALS, LAUNCH)
"""Resources that cost no time on a chip whose rate is unknown."""


@dataclass(frozen=True, repr=False)
class Work:
    """What one chip has to do. `+` adds work, `*` repeats it, `on` gives its times on a chip.

    Attributes
    ----------
    name
        A label; "" for a sum that wasn't `named`.
    amounts
        Amounts by resource, as the module says: FLOPs, exponentials, bytes, launches.
    written
        How many of the HBM bytes are written; the others are loaded.
    held
        Bytes in HBM at the same time; those that are loaded and written if left out.
    hops
        Messages one after another, by link; each adds the link's latency.
    spared
        How many of the bytes sent a link spares whose switch adds, by link.
    chips
        How many chips share the work, and send to each other.
    parts
        What this was added up from. Parts of the same name are one.
    """

    name: str
    amounts: Mapping[str, Number] = field(default_factory=dict)
    written: Number = 0
    held: Number = None
    hops: Mapping[str, Number] = field(default_factory=dict)
    spared: Mapping[str, Number] = field(default_factory=dict)
    chips: Number = 1
    parts: tuple[Work, ...] = ()

    __array_ufunc__ = None  # so that an array times work is work, not an array

    def __post_init__(self) -> None:
        object.__setattr__(self, "amounts", ReadOnlyDict(self.amounts))
        object.__setattr__(self, "hops", ReadOnlyDict(self.hops))
        object.__setattr__(self, "spared", ReadOnlyDict(self.spared))
        held = self.amounts.get(HBM, 0) if self.held is None else self.held
        object.__setattr__(self, "held", quantity(held, "B"))
        object.__setattr__(self, "written", quantity(self.written, "B"))

    def on(self, chip: str | Chip, link: str | Link | None = None) -> Times:
        """Return the time that each resource of a chip is busy.

        Amount ÷ rate; for a link bytes sent ÷ bandwidth to the group + hops · latency. Times of
        different data types on the same units add up. A chip without a rate of exponentials or
        launches takes no time for them.
        Source: Williams, Waterman & Patterson, CACM 52(4), 2009, extended to links as in How To
        Scale Your Model; latency: Hockney, Parallel Computing 20(3), 1994.

        `chip` is a `Chip` or the name of one in the catalog. `link` carries what the work sends
        over no link in particular: a `Link`, or the name of one of the chip's. Raises a ValueError
        if the chip has no such rate, or if a link is needed.
        """
        chip = as_chip(chip)
        times: dict[str, Number] = {COMPUTE: 0}
        for name, amount in self.amounts.items():
            if name in self.hops or (name in OPTIONAL and name not in chip.rates):
                continue
            roof = name if name in (*OPTIONAL, HBM) else COMPUTE
            roof = VECTOR_UNITS if name.startswith(VECTOR) else roof
            if roof == VECTOR_UNITS and name not in chip.rates and not np.any(amount):
                continue
            _add(times, roof, amount / float(chip[name]))
        times.setdefault(HBM, 0)
        if VECTOR_UNITS in times and not self._types(False):
            del times[COMPUTE]
        if link is not None and not self.hops:
            times[chip.link(link).name] = 0
        for name, hops in self.hops.items():
            if name == LINK and link is None:
                reason = "this work sends bytes to other chips"
                known = ", ".join(known.name for known in chip.links) or "none"
                raise ValueError(f"link must be given, because {reason}; {chip.name} has: {known}")
            over = chip.link(link if link is not None and name == LINK else name)
            spared = self.spared.get(name, 0) if over.reduces else 0
            sending = (self.amounts.get(name, 0) - spared) / over.to_group(self.chips)
            _add(times, over.name, sending + hops * float(over.latency))
        order = (COMPUTE, VECTOR_UNITS, EXPONENTIALS, HBM)
        first = {name: times.pop(name) for name in order if name in times}
        return Times(self, chip, first | times, link)

    def named(self, name: str) -> Work:
        """Return the same work with a name: as a part of a sum, it is then one row of a table."""
        return replace(self, name=name)

    @property
    def flops(self) -> Number:
        """FLOPs on the matrix units; of work that has none there, those on the vector units."""
        kinds = self._types(False) or self._types(True)
        return quantity(_total(self.amounts[kind] for kind in kinds), self._unit)

    @property
    def bytes(self) -> Number:
        """Bytes moved between HBM and the chip: loaded and written."""
        return quantity(self.amounts.get(HBM, 0), "B")

    @property
    def loaded(self) -> Number:
        """Bytes loaded from HBM."""
        return quantity(self.amounts.get(HBM, 0) - self.written, "B")

    @property
    def sent(self) -> Number:
        """Bytes sent to other chips, one way."""
        return quantity(_total(self.amounts.get(link, 0) for link in self.hops), "B")

    @property
    def intensity(self) -> Number:
        """Arithmetic intensity in FLOP/byte: infinite without bytes, zero without FLOPs."""
        return quantity(_ratio(self.flops, self.bytes), "FLOP/byte")

    @property
    def compute(self) -> str:
        """The data types of the arithmetic: "bf16", "fp8 and bf16", "vector fp32"."""
        return " and ".join(self._types(False) or self._types(True))

    @property
    def _unit(self) -> str:
        """The unit of `flops`: "OP" if all are of integers."""
        kinds = {unit_of(kind) for kind in self._types(False) or self._types(True)}
        return "OP" if kinds == {"OP/s"} else "FLOP"

    def _types(self, vector: bool) -> list[str]:
        others = (HBM, *OPTIONAL, *self.hops)
        names = [name for name in self.amounts if name not in others]
        return [name for name in names if name.startswith(VECTOR) == vector]

    def __add__(self, other: Work) -> Work:
        if not isinstance(other, Work):
            return self if _is_zero(other) else NotImplemented  # for `sum`, which starts at 0
        rows: dict[str, Work] = {}
        for part in (*self._rows, *other._rows):
            if part.name in rows:
                part = replace(rows[part.name]._with(part, 1), name=part.name)
            rows[part.name] = part
        return replace(self._with(other, 1), parts=tuple(rows.values()))

    __radd__ = __add__

    def __mul__(self, count: Size) -> Work:
        if isinstance(count, Work):
            return NotImplemented
        count = size("a repeated work's count", count, zero=True)
        parts = tuple(part * count for part in self.parts)
        return replace(Work("")._with(self, count), name=self.name, parts=parts)

    __rmul__ = __mul__

    @property
    def _rows(self) -> tuple[Work, ...]:
        return self.parts if self.parts and not self.name else (self,)

    def _with(self, other: Work, count: Number) -> Work:
        """Return this and `count` times the other, without a name."""

        def summed(mine: Mapping[str, Number], more: Mapping[str, Number]) -> dict[str, Number]:
            both = {**mine, **more}
            return {key: mine.get(key, 0) + count * more.get(key, 0) for key in both}

        written, held = self.written + count * other.written, self.held + count * other.held
        amounts, hops = summed(self.amounts, other.amounts), summed(self.hops, other.hops)
        spared, chips = summed(self.spared, other.spared), larger(self.chips, other.chips)
        return Work("", amounts, written, held, hops, spared, chips)

    @property
    def _label(self) -> str:
        return self.name or " + ".join(part.name for part in self.parts) or "work"

    def __repr__(self) -> str:
        parts = [f"{shown(self.flops, self._unit)} in {self.compute}"] if self.compute else []
        parts += [f"{size} {what}" for what, size in self._others]
        parts.append(shown(self.bytes, "B"))
        parts += [f"{shown(self.amounts.get(k, 0), 'B')} over {k}" for k in self.hops]
        return breakable(
            f"<Work {self._label}: {', '.join([*parts, shown(self.intensity, 'FLOP/byte')])}>"
        )

    @property
    def _others(self) -> list[tuple[str, str]]:
        """What the vector and the special-function units do beside the matrix units."""
        kinds = self._types(True) if self._types(False) else []
        found = [
            ("on vector units", f"{shown(self.amounts[kind], 'FLOP')} in {kind[len(VECTOR) :]}")
            for kind in kinds
            if np.any(self.amounts[kind])
        ]
        if np.any(self.amounts.get(EXPONENTIALS, 0)):
            found.append(("of exponentials", shown(self.amounts[EXPONENTIALS], "OP")))
        return found

    @property
    def table(self) -> Table:
        """Table of the counts of one chip; arrays show their range."""
        rows = {"FLOPs": shown(self.flops, self._unit), "computed in": self.compute}
        rows |= {label.removeprefix("of "): size for label, size in self._others}
        rows |= {"loaded": shown(self.loaded, "B"), "written": shown(self.written, "B")}
        rows |= {f"sent over {k}": shown(self.amounts.get(k, 0), "B") for k in self.hops}
        rows["intensity"] = shown(self.intensity, "FLOP/byte")
        return from_rows((self._label, ""), rows.items())

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


@dataclass(frozen=True, repr=False)
class Times:
    """How long work keeps each resource of a chip busy, and how long it takes.

    Attributes
    ----------
    work, chip
        What was done, and where.
    times
        Seconds by roof: "compute" (matrix units) or "vector", "HBM", each link by name and, if
        they apply, "exponentials" and "launch".
    link
        The link that `Work.on` was told.
    """

    work: Work
    chip: Chip
    times: Mapping[str, Number]
    link: str | Link | None = None

    def __post_init__(self) -> None:
        times = {roof: quantity(time, "s") for roof, time in self.times.items()}
        object.__setattr__(self, "times", ReadOnlyDict(times))

    @property
    def lower(self) -> Number:
        """Seconds if all resources work at the same time: the longest of the times."""
        return reduce(larger, self.times.values())

    @property
    def upper(self) -> Number:
        """Seconds if one works after another: the sum; at most k times `lower` for k roofs."""
        return quantity(_total(self.times.values()), "s")

    @property
    def roof(self) -> Any:
        """Name of the slowest resource; ties go to the first. An array for arrays."""
        names = np.array(list(self.times))
        stack = np.stack(np.broadcast_arrays(*self.times.values()))
        chosen = names[np.argmax(stack, axis=0)]
        return str(chosen) if stack.ndim == 1 else chosen

    @property
    def share_of_peak(self) -> Number:
        """Share of the lower bound in which the units that compute are busy."""
        busy = self.times.get(COMPUTE, self.times.get(VECTOR_UNITS))
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
        """Table of the times, the roof and the bounds; arrays show their range."""
        rows = {roof: shown(time, "s") for roof, time in self.times.items()}
        rows |= {
            "roof": self._roofs,
            "lower bound": shown(self.lower, "s"),
            "upper bound": shown(self.upper, "s"),
            "attained": shown(self.attained, "FLOP/s"),
            "share of peak": shown(self.share_of_peak, "%"),
            "HBM needed": f"{shown(self.work.held, 'B')} of {self.chip.memory}{self._misfit}",
        }
        return from_rows(("bounds", ""), rows.items())

    @property
    def parts(self) -> Table:
        """Table of the parts of a sum: amounts, and the time at each roof.

        Amounts and times of the parts add up to those of the whole, the last row. "share" is the
        part's longest time, as a share of the sum of all parts' longest times.
        """
        works = self.work.parts or (self.work,)
        each = [*(part.on(self.chip, self.link) for part in works), self]
        longest = [times.lower for times in each[:-1]]
        longest.append(sum(longest))
        columns: dict[str, list[str]] = {"operation": [*(part._label for part in works), "step"]}
        columns["FLOPs"] = [shown(times.work.flops, "FLOP") for times in each]
        for name in ("loaded", "written", "held", "sent"):
            columns[name] = [shown(getattr(times.work, name), "B") for times in each]
        columns["FLOP/byte"] = [shown(times.work.intensity, "") for times in each]
        for roof in self.times:
            columns[roof] = [shown(times.times.get(roof, 0), "s") for times in each]
        columns["roof"] = [times._roofs for times in each]
        columns["share"] = [shown(_ratio(time, longest[-1]), "%") for time in longest]
        return Table(columns)

    @property
    def _roofs(self) -> str:
        return " or ".join(name for name in self.times if name in np.atleast_1d(self.roof))

    @property
    def _misfit(self) -> str:
        fits = np.atleast_1d(self.fits)
        if fits.all():
            return ""
        return ", does not fit" if not fits.any() else ", does not always fit"

    def __repr__(self) -> str:
        times = f"lower {shown(self.lower, 's')}, upper {shown(self.upper, 's')}"
        share = f"{shown(self.share_of_peak, '%')} of peak"
        return breakable(f"<Times: {self._roofs} is the roof, {times}, {share}{self._misfit}>")

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


def work(
    name: str = "work",
    flops: Size = 0,
    type: Type = "bf16",
    *,
    loaded: Size = 0,
    written: Size = 0,
    held: Size | None = None,
    sent: Size | Mapping[str, Size] = 0,
    hops: Size | Mapping[str, Size] = 0,
    vector: Size = 0,
    vector_type: Type = "fp32",
    exponentials: Size = 0,
    launch: Size = 1,
) -> Work:
    """Make work from its amounts, each zero or above: numbers, or arrays that broadcast.

    >>> work(flops=1e9, type="fp32", loaded=4e9).intensity
    0.25 FLOP/byte

    Arguments are those of `Work`; `loaded` and `written` are bytes of HBM. `type` is the data type
    of `flops`, "vector fp32" if the vector units do them; `vector` counts FLOPs of the vector units
    beside `flops`. `sent` and `hops` are numbers, for the link that `Work.on` is told, or mappings
    from a link's name to a number.
    """
    given = {"flops": flops, "loaded": loaded, "written": written, "vector": vector}
    given |= {"exponentials": exponentials, "launch": launch}
    given |= {} if held is None else {"held": held}
    counts = {key: _amount(key, value) for key, value in given.items()}
    ways, waits = _by_link("sent", sent), _by_link("hops", hops)
    broadcastable(counts | {f"sent[{k!r}]": n for k, n in ways.items()} | waits)
    waits = {link: waits.get(link, 0) for link in {**ways, **waits}}
    amounts = {type_name(type): counts["flops"], HBM: counts["loaded"] + counts["written"]}
    if np.any(vector):
        amounts[VECTOR + dtype(vector_type, "vector_type").name] = counts["vector"]
    if np.any(exponentials):
        amounts[EXPONENTIALS] = counts["exponentials"]
    amounts |= {LAUNCH: counts["launch"], **ways}
    return Work(name, amounts, counts["written"], counts.get("held"), waits)


def type_name(type: Type, argument: str = "type") -> str:
    """Return the resource of FLOPs in a data type: its name, "vector " before it is kept."""
    if isinstance(type, str) and type.startswith(VECTOR):
        return VECTOR + dtype(type.removeprefix(VECTOR), argument).name
    return dtype(type, argument).name


def _amount(name: str, value: Any) -> Number:
    number = size(name, value, zero=True, largest=MAX_AMOUNT)
    # A copy: work would otherwise change if the caller changed the array.
    return number.copy() if number is value and isinstance(value, np.ndarray) else number


def _by_link(name: str, given: Any) -> dict[str, Number]:
    if isinstance(given, Mapping):
        return {link: _amount(f"{name}[{link!r}]", value) for link, value in given.items()}
    number = _amount(name, given)
    return {LINK: number} if np.any(number) else {}


def _add(times: dict[str, Number], roof: str, seconds: Number) -> None:
    times[roof] = times[roof] + seconds if np.any(times.get(roof, 0)) else seconds


def _total(numbers: Iterable[Number]) -> Number:
    """Return the sum, without the copy of an array that a start from 0 would make."""
    return reduce(operator.add, [*numbers] or [0])


def _is_zero(value: Any) -> bool:
    return isinstance(value, int) and value == 0


def _ratio(above: Number, below: Number) -> Number:
    """Divide, with 0 ÷ anything = 0 and anything else ÷ 0 = infinity."""
    if not isinstance(above, np.ndarray) and not isinstance(below, np.ndarray):
        return float(above) / below if below else float("inf") if above else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(above, below)
    if not np.min(below):
        # Only 0 ÷ 0 gives a nan, since neither is ever infinite.
        quotient = np.where(np.isnan(quotient), 0, quotient)
    return quotient
