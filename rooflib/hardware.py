"""Chips: `Chip`, a set of rates, and `Link` for its connections to other chips."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from rooflib.checks import Number, Size, one_of, size
from rooflib.quantities import Quantity, breakable, quantity
from rooflib.table import Table, from_rows, markdown

HBM = "HBM"
ROOFS = ("compute", "vector", "exponentials", HBM, "launch")
"""Names of roofs, in the order in which they are shown; links follow, each by its own name."""


def read_only(mapping: Mapping[str, Any]) -> MappingProxyType[str, Any]:
    """Return a copy that nobody can change."""
    return MappingProxyType(dict(mapping))


# Python can't send a read-only mapping to another process, as a sweep over chips does.
copyreg.pickle(MappingProxyType, lambda mapping: (read_only, (dict(mapping),)))


def roof_of(resource: str) -> str:
    """Return the roof of a resource: "compute" for all types that the matrix units multiply."""
    name = resource.partition(" ")[0]  # of "vector fp32"
    return name if name in ROOFS else "compute"


def unit_of(resource: str) -> str:
    """Return the unit of an amount: "B", "OP" for what isn't in floating point, or "FLOP"."""
    integer = resource.startswith("int") or resource in ("exponentials", "launch")
    return "B" if resource == HBM else "OP" if integer else "FLOP"


def positive(name: str, value: Any, unit: str = "") -> Quantity:
    """Return a single number with its unit, if it is above zero; else raise."""
    return Quantity(size(name, value, single=True, largest=math.inf), unit)


@dataclass(frozen=True, repr=False)
class Chip:
    """A chip: a set of rates, all dense and one way.

    `chip["bf16"]` and `chip["NVLink"]` are rates, `chip | {"HBM": 5e12}` is a chip with another
    one. Raises a ValueError if a figure is not above zero, or two links share a name.

    Attributes
    ----------
    rates
        Amounts per second by resource: dense FLOP/s of the matrix units by data type ("bf16"; of
        integers operations/s), and of the vector units ("vector fp32"); "exponentials" of the
        special-function units; one-way bytes/s of "HBM" (or main memory); "launch".
    memory, on_chip
        Bytes of HBM (or main memory), and of each on-chip memory by name ("VMEM", "L2").
    links
        Connections to other chips; each is a rate as well, `to_one_peer`.
    figures, shown
        Of a chip of the catalog: all that was published, and whether the course's tables show it.
    """

    name: str
    rates: Mapping[str, Any] = field(hash=False)  # a mapping has no hash
    memory: float = math.inf
    links: tuple[Link, ...] = ()
    maker: str = ""
    on_chip: Mapping[str, float] = field(default_factory=dict, hash=False)
    figures: tuple[Any, ...] = field(default=(), compare=False, kw_only=True)
    shown: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        # Copies, so that later changes by the caller don't affect the chip.
        rates = {
            name: positive(f"rates[{name!r}]", given, f"{unit_of(name)}/s")
            for name, given in self.rates.items()
        }
        on_chip = {name: positive(name, given, "B") for name, given in self.on_chip.items()}
        object.__setattr__(self, "rates", read_only(rates))
        object.__setattr__(self, "on_chip", read_only(on_chip))
        object.__setattr__(self, "memory", positive("memory", self.memory, "B"))
        object.__setattr__(self, "links", tuple(self.links))
        names = [link.name for link in self.links]
        if twice := sorted({name for name in names if names.count(name) > 1 or name in rates}):
            wanted = f"links of {self.name} must differ in name, also from its rates"
            raise ValueError(
                f"{wanted}; got {', '.join(twice)} twice; a link is changed in `links`"
            )

    def __getitem__(self, resource: str) -> Quantity:
        """Return a rate; that of a link is its bytes/s to one peer."""
        rates: dict[str, Quantity] = {**self.rates}
        if resource not in rates:  # links take time to look up
            rates |= {link.name: link.to_one_peer for link in self.links}
        return rates[one_of("rate", resource, rates, f"one that {self.name} has:")]

    def __contains__(self, resource: str) -> bool:
        return resource in self.rates or any(resource == link.name for link in self.links)

    def __or__(self, rates: Mapping[str, float]) -> Chip:
        """Return a chip with these rates in place of its own or beside them.

        >>> mine = Chip("mine", {"bf16": 2e14, "HBM": 8e11})
        >>> (mine | {"HBM": 2 * mine["HBM"]}).ridge()
        125 FLOP/byte
        """
        return replace(self, rates={**self.rates, **rates})

    def link(self, name: str | Link | None = None) -> Link:
        """Look up a link by name, by default the first, the fastest; return a `Link` unchanged."""
        if isinstance(name, Link):
            return name
        known = {link.name: link for link in self.links}
        first = next(iter(known), None)
        return known[one_of("link", name or first, known, f"one that {self.name} has:")]

    def ridge(self, compute: str = "bf16", over: str | Link = HBM) -> Quantity:
        """Return the rate of `compute` over that of HBM, or of a link: the ridge point."""
        slope = over.to_one_peer if isinstance(over, Link) else self[over]
        # A float, since for integers the unit would be OP/B.
        return Quantity(float(self[compute]) / slope, "FLOP/byte")

    def attainable(self, intensity: Size, compute: str = "bf16") -> Number:
        """Return the roof in FLOP/s at an arithmetic intensity in FLOP/byte.

        min(peak, intensity · HBM bandwidth); infinite intensity (no bytes moved) gives the peak.
        Source: Williams, Waterman & Patterson, CACM 52(4), 2009.
        """
        at, peak = size("intensity", intensity, zero=True, largest=math.inf), self[compute]
        return quantity(np.minimum(peak, at * self[HBM]), peak.unit)

    def __repr__(self) -> str:
        parts = [f"{rate:4} in {kind}" for kind, rate in self.rates.items()][:1]
        parts += [f"{self[HBM]} and {self.memory} of HBM"] if HBM in self.rates else []
        return breakable(f"<Chip {self.name}: {', '.join(parts)}>")

    @property
    def table(self) -> Table:
        """Table of dense peaks with ridge points, memories, and one-way links."""
        rows = []
        for name, rate in self.rates.items():
            computes = HBM in self.rates and roof_of(name) in ("compute", "vector")
            holds = f", {self.memory:4}" if name == HBM else ""
            rows.append((name, f"{rate:4}{holds}", f"{self.ridge(name):n}" if computes else ""))
        rows += [(f"{name} on the chip", f"{held}", "") for name, held in self.on_chip.items()]
        for link in self.links:
            wait = f", {link.latency} a hop" if link.latency else ""
            rows.append((f"{link.name} to one peer", f"{link.to_one_peer:4}{wait}", ""))
        return from_rows((self.name, "dense, one way", "ridge, FLOP/byte"), rows)

    _repr_markdown_ = markdown


@dataclass(frozen=True)
class Link:
    """A connection from a chip to other chips or to its host.

    Raises a ValueError for a bandwidth that is not above zero, a count that is not whole, a
    negative latency, an unknown topology, or the name of a roof.

    Attributes
    ----------
    bandwidth
        Bytes/s of one link, one way.
    links_per_axis, axes
        A chip has `axes * links_per_axis` links; a switched network counts as one axis.
    topology
        "torus": each link connects to one neighbor. "mesh": each link connects to another chip of
        the group, so that every two chips have a link. "switch": all links can carry traffic to
        the same peer. "host": one shared connection through PCIe or the host's network card.
    latency
        Seconds that even the smallest message takes to a neighbor; 0 ignores latency.
    reduces
        Whether the switch adds up what chips send through it.
    """

    name: str
    bandwidth: float
    links_per_axis: int = 1
    axes: int = 1
    topology: str = "torus"
    latency: float = 0.0
    reduces: bool = False

    def __post_init__(self) -> None:
        if self.name in ROOFS:
            wanted = f"must not be the name of a roof: {', '.join(ROOFS)}"
            raise ValueError(f"name of a link {wanted}; got {self.name!r}")
        of = f"of link {self.name!r}"
        object.__setattr__(self, "bandwidth", positive(f"bandwidth {of}", self.bandwidth, "B/s"))
        latency = size(f"latency {of}", self.latency, single=True, zero=True)
        object.__setattr__(self, "latency", Quantity(latency, "s"))
        size(f"links_per_axis {of}", self.links_per_axis, single=True, whole=True)
        size(f"axes {of}", self.axes, single=True, whole=True)
        one_of("topology", self.topology, ("torus", "mesh", "switch", "host"))

    @property
    def total(self) -> Quantity:
        """Bytes/s of all links together, one way."""
        return Quantity(self.bandwidth * self.links_per_axis * self.axes, "B/s")

    @property
    def to_one_peer(self) -> Quantity:
        """Bytes/s to one peer, one way: one link of a torus or a mesh, all links of a switch."""
        return Quantity(self.total if self.topology == "switch" else self.bandwidth, "B/s")

    def to_group(self, chips: Size) -> Number:
        """Return the bytes/s that each of `chips` chips can send to the others, one way.

        In a mesh, a chip has a link to each of the others and uses all of them at once. Otherwise,
        it is the bandwidth to one peer: that of a ring.
        """
        if self.topology != "mesh":
            return self.to_one_peer
        # A chip alone sends nothing, but 0 bytes/s would make its time 0 ÷ 0.
        peers = np.clip(size("chips", chips, whole=True) - 1, 1, self.links_per_axis * self.axes)
        return quantity(float(self.bandwidth) * peers, "B/s")
