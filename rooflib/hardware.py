"""Hardware: `Chip`, and `Link` for its connections to other chips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rooflib import _arguments as check
from rooflib._arguments import Number, ReadOnlyDict, Size, larger, short, smaller
from rooflib.dtypes import Type, dtype
from rooflib.table import Table, from_rows
from rooflib.units import breakable, text

TOPOLOGIES = ("torus", "mesh", "switch", "host")
ROOFS = ("compute", "vector", "exponentials", "HBM", "link", "launch")
"""Reserved names in `Bounds.times` and `Operation.sent`; a link can't have one of them."""


@dataclass(frozen=True)
class Link:
    """A connection from a chip to other chips or to its host.

    Raises a ValueError if a figure is not above zero and finite, a count is not whole, or the name
    is reserved for a roof.

    Attributes
    ----------
    name
        "NVLink", "ICI", "PCIe", "DCN" or a name of your own.
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
        check.instance("name of a link", self.name, str, "a string")
        if self.name in ROOFS:
            wanted = f"must not be the name of a roof: {', '.join(ROOFS)}"
            raise ValueError(f"name of a link {wanted}; got {self.name!r}")
        label = f"link {self.name!r}"
        check.rate(f"{label}: bandwidth", self.bandwidth)
        for name in ("links_per_axis", "axes"):
            check.whole(f"{label}: {name}", check.scalar(f"{label}: {name}", getattr(self, name)))
        check.one_of(f"{label}: topology", self.topology, TOPOLOGIES)
        check.non_negative(f"{label}: latency", check.scalar(f"{label}: latency", self.latency))
        check.flag(f"{label}: reduces", self.reduces)

    @property
    def total(self) -> float:
        """Bytes/s of all links together, one way."""
        return self.bandwidth * self.links_per_axis * self.axes

    @property
    def to_one_peer(self) -> float:
        """Bytes/s to one peer, one way: one link of a torus or a mesh, all links of a switch."""
        return self.total if self.topology == "switch" else self.bandwidth

    def to_group(self, chips: Size) -> Number:
        """Return the bytes/s that each of `chips` chips can send to the others, one way.

        In a mesh, a chip has a link to each of the others and uses all of them at once. Otherwise,
        it is the bandwidth to one peer: that of a ring.
        """
        if self.topology != "mesh":
            return self.to_one_peer
        peers = larger(check.whole("chips", chips) - 1, 1)
        return self.bandwidth * smaller(peers, self.links_per_axis * self.axes)

    @property
    def half_bandwidth_size(self) -> float:
        """Message size that reaches half the bandwidth to one peer: latency · bandwidth.

        Such a message spends as much time on latency as on transfer. Source: Hockney, "The
        communication challenge for MPP", Parallel Computing 20(3), 1994, who calls it n½.
        """
        return self.latency * self.to_one_peer


@dataclass(frozen=True, repr=False)
class Chip:
    """A chip: dense peaks, HBM bandwidth and capacity, and links.

    Raises a ValueError if a figure is not above zero and finite, a data type is unknown, or two
    links share a name.

    Attributes
    ----------
    name, maker
        Names of the chip and of its maker, for labels.
    peaks, vector
        Dense FLOP/s (operations/s for integer types) of the matrix and of the vector units, by
        data type: a name that rooflib knows, or a custom `DType`.
    bandwidth, capacity
        HBM (or main memory) bytes/s and bytes.
    links
        Connections to other chips.
    on_chip
        Bytes of each on-chip memory by name ("VMEM", "L2"), if known.
    exponentials
        Exponentials/s of the special-function units; None if unknown.
    """

    name: str
    peaks: Mapping[Any, float] = field(hash=False)
    bandwidth: float
    capacity: float
    vector: Mapping[Any, float] = field(default_factory=dict, hash=False)
    links: tuple[Link, ...] = ()
    maker: str = ""
    on_chip: Mapping[str, float] = field(default_factory=dict, hash=False)
    exponentials: float | None = None

    def __post_init__(self) -> None:
        check.instance("name", self.name, str, "a string")
        check.rate("bandwidth", self.bandwidth)
        check.rate("capacity", self.capacity)
        # Make read-only copies, so that later changes by the caller don't affect the chip.
        object.__setattr__(self, "peaks", _by_type("peaks", self.peaks))
        object.__setattr__(self, "vector", _by_type("vector", self.vector))
        memories = check.rates("on_chip", self.on_chip, "name to bytes")
        object.__setattr__(self, "on_chip", ReadOnlyDict(memories))
        if self.exponentials is not None:
            check.rate("exponentials", self.exponentials)
        links = tuple(self.links) if isinstance(self.links, Iterable) else (None,)
        if not all(isinstance(link, Link) for link in links):
            raise TypeError(f"links must be a sequence of Link; got {short(self.links)}")
        object.__setattr__(self, "links", links)
        names = [link.name for link in self.links]
        if len(set(names)) < len(names):
            raise ValueError(f"links of {self.name} must differ in name; got {', '.join(names)}")

    def peak(self, compute: Type = "bf16", unit: str = "matrix") -> float:
        """Return the dense peak in FLOP/s for a data type, of "matrix" or "vector" units."""
        check.one_of("unit", unit, ("matrix", "vector"))
        peaks = self.peaks if unit == "matrix" else self.vector
        # Custom types can be given by name if the chip has a peak for them.
        if not (isinstance(compute, str) and compute in peaks):
            compute = dtype(compute, "compute").name
        if compute not in peaks:
            wanted = f"a type that the {unit} units of {self.name} have a peak for"
            known = ", ".join(peaks) or "none"
            raise ValueError(f"compute must be {wanted}: {known}; got {compute!r}")
        return peaks[compute]

    def link(self, name: str | Link | None = None) -> Link:
        """Look up a link by name; a `Link` is returned unchanged.

        Without a name, return the chip's first link, the fastest to other chips.
        """
        if isinstance(name, Link):
            return name
        if name is None:
            if not self.links:
                raise ValueError(f"link must be given, because none of {self.name} is known")
            return self.links[0]
        known = {link.name: link for link in self.links}
        if name not in known:
            shown = ", ".join(known) or "none"
            raise ValueError(f"link must be one that {self.name} has: {shown}; got {name!r}")
        return known[name]

    def ridge(
        self, compute: Type = "bf16", unit: str = "matrix", link: str | Link | None = None
    ) -> float:
        """Return the ridge point: the FLOP/byte above which compute is the roof.

        It is peak ÷ HBM bandwidth or, with `link`, peak ÷ the link's bandwidth to one peer.
        """
        rate = self.bandwidth if link is None else self.link(link).to_one_peer
        return self.peak(compute, unit) / rate

    def __repr__(self) -> str:
        parts = [f"{_rate(kind, peak)} in {kind}" for kind, peak in self.peaks.items()][:1]
        parts += [f"{text(self.bandwidth, 'B/s')} and {text(self.capacity, 'B')} of HBM"]
        return breakable(f"<Chip {self.name}: {', '.join(parts)}>")

    @property
    def table(self) -> Table:
        """Table of dense peaks with ridge points, memories, and one-way links."""
        rows = [
            (f"{kind}, {unit} units", _rate(kind, peak), text(peak / self.bandwidth))
            for unit, peaks in (("matrix", self.peaks), ("vector", self.vector))
            for kind, peak in peaks.items()
        ]
        if self.exponentials is not None:
            rows += [("exponentials", text(self.exponentials, "OP/s", 4), "")]
        rows += [("HBM", f"{text(self.bandwidth, 'B/s', 4)}, {text(self.capacity, 'B', 4)}", "")]
        rows += [(f"{name} on the chip", text(b, "B"), "") for name, b in self.on_chip.items()]
        for link in self.links:
            wait = f", {text(link.latency, 's')} a hop" if link.latency else ""
            rows += [(f"{link.name} to one peer", text(link.to_one_peer, "B/s", 4) + wait, "")]
        return from_rows((self.name, "dense, one way", "ridge, FLOP/byte"), rows)

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


def _by_type(argument: str, peaks: Mapping[Any, float]) -> ReadOnlyDict:
    if isinstance(peaks, ReadOnlyDict):  # from another chip, already validated
        return peaks
    check.instance(argument, peaks, Mapping, "a mapping from data type to FLOP/s")
    named = {dtype(kind, argument).name: peak for kind, peak in peaks.items()}
    if len(named) < len(peaks):
        raise ValueError(f"{argument} must have one figure for each data type; got {dict(peaks)}")
    return ReadOnlyDict(check.rates(argument, named, "data type to FLOP/s"))


def _rate(kind: str, peak: float) -> str:
    return text(peak, "OP/s" if kind.startswith("int") else "FLOP/s", 4)
