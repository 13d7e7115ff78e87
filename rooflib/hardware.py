"""What bounds an operation: `Chip`, and `Link`, a way off the chip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rooflib._arguments import (
    ReadOnlyDict,
    mapping,
    non_negative,
    one_of,
    positive,
    scalar,
    short,
    text_of,
    whole,
)
from rooflib.dtypes import Type, dtype
from rooflib.table import Table
from rooflib.units import text

TOPOLOGIES = ("torus", "switch", "host")
ROOFS = ("compute", "vector", "HBM", "link", "launch")
"""Names in the results of `bound` and in what an operation sends: no link may have one."""


@dataclass(frozen=True)
class Link:
    """A way off the chip.

    Attributes
    ----------
    name
        "NVLink", "ICI", "PCIe", "DCN" or a name of your own.
    bandwidth
        Bytes/s of one link, one way.
    links_per_axis, axes
        A chip has `axes * links_per_axis` links; a switched network counts as one axis.
    topology
        "torus": each link leads to one neighbor. "switch": every link can carry traffic to any
        one peer. "host": one shared way out, by PCIe or by the host's network card.
    latency
        Seconds that a message takes to a neighbor, however small it is; 0 leaves them out.

    A figure not above zero and finite, a count not whole and a roof's name are a ValueError.
    """

    name: str
    bandwidth: float
    links_per_axis: int = 1
    axes: int = 1
    topology: str = "torus"
    latency: float = 0.0

    def __post_init__(self) -> None:
        text_of("name of a link", self.name)
        if self.name in ROOFS:
            roofs = ", ".join(ROOFS)
            raise ValueError(f"name of a link must not be a roof's: {roofs}; got {self.name!r}")
        label = f"link {self.name!r}"
        for name in ("bandwidth", "links_per_axis", "axes", "latency"):
            scalar(f"{label}: {name}", getattr(self, name))
        positive(f"{label}: bandwidth", self.bandwidth)
        whole(f"{label}: links_per_axis", self.links_per_axis)
        whole(f"{label}: axes", self.axes)
        one_of(f"{label}: topology", self.topology, TOPOLOGIES)
        non_negative(f"{label}: latency", self.latency)

    @property
    def total(self) -> float:
        """Bytes/s off the chip over all links together, one way."""
        return self.bandwidth * self.links_per_axis * self.axes

    @property
    def to_one_peer(self) -> float:
        """Bytes/s to one peer, one way: a single link of a torus, all links into a switch."""
        return self.total if self.topology == "switch" else self.bandwidth

    @property
    def half_bandwidth_size(self) -> float:
        """Bytes of a message to one peer that waits as long as it flows: latency · bandwidth.

        It gets half the bandwidth, and a smaller one less. Source: Hockney, "The communication
        challenge for MPP", Parallel Computing 20(3), 1994, who calls it n½.
        """
        return self.latency * self.to_one_peer


@dataclass(frozen=True, repr=False)
class Chip:
    """What bounds an operation: dense peaks, HBM bandwidth and capacity, links.

    Attributes
    ----------
    name, maker
        For labels.
    peaks, vector
        Dense FLOP/s (operations/s for integer types) of the matrix and of the vector units, by
        data type: a name that rooflib knows or, for a type of your own, a `DType`.
    bandwidth, capacity
        HBM (or main memory) bytes/s and bytes.
    links
        Ways off the chip.
    on_chip
        Bytes of each memory on the chip by its name ("VMEM", "L2"), where known.

    A figure not above zero and finite, an unknown data type and a name twice are a ValueError.
    """

    name: str
    peaks: Mapping[Any, float] = field(hash=False)
    bandwidth: float
    capacity: float
    vector: Mapping[Any, float] = field(default_factory=dict, hash=False)
    links: tuple[Link, ...] = ()
    maker: str = ""
    on_chip: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        text_of("name", self.name)
        positive("bandwidth", scalar("bandwidth", self.bandwidth))
        positive("capacity", scalar("capacity", self.capacity))
        # Read-only copies: a chip that others hold must not change under them.
        object.__setattr__(self, "peaks", _by_type("peaks", self.peaks))
        object.__setattr__(self, "vector", _by_type("vector", self.vector))
        for memory, size in mapping("on_chip", self.on_chip, "name to bytes").items():
            positive(f"on_chip[{memory!r}]", scalar(f"on_chip[{memory!r}]", size))
        object.__setattr__(self, "on_chip", ReadOnlyDict(self.on_chip))
        object.__setattr__(self, "links", _links(self.links))
        names = [link.name for link in self.links]
        if len(set(names)) < len(names):
            raise ValueError(f"links of {self.name} must differ in name; got {', '.join(names)}")

    def peak(self, compute: Type = "bf16", unit: str = "matrix") -> float:
        """Dense peak in FLOP/s for a data type, of the "matrix" or the "vector" units."""
        one_of("unit", unit, ("matrix", "vector"))
        peaks = self.peaks if unit == "matrix" else self.vector
        # A type of one's own goes by its name as well, on a chip that has a peak for it.
        if not (isinstance(compute, str) and compute in peaks):
            compute = dtype(compute, "compute").name
        if compute not in peaks:
            known = ", ".join(peaks) or "none"
            raise ValueError(
                f"compute must be a type that the {unit} units of {self.name} have a peak for: "
                f"{known}; got {compute!r}"
            )
        return peaks[compute]

    def link(self, name: str | Link) -> Link:
        """Look up a link by name; a `Link` is returned as it is."""
        if isinstance(name, Link):
            return name
        for link in self.links:
            if link.name == name:
                return link
        known = ", ".join(link.name for link in self.links) or "none"
        raise ValueError(f"link must be one that {self.name} has: {known}; got {name!r}")

    def ridge(
        self,
        compute: Type = "bf16",
        unit: str = "matrix",
        link: str | Link | None = None,
    ) -> float:
        """Ridge point in FLOP/byte: the intensity above which compute is the roof.

        Peak ÷ HBM bandwidth or, with `link`, peak ÷ that link's bandwidth to one peer.
        """
        rate = self.bandwidth if link is None else self.link(link).to_one_peer
        return self.peak(compute, unit) / rate

    def __repr__(self) -> str:
        peak = "".join([f"{_rate(kind, p)} in {kind}, " for kind, p in self.peaks.items()][:1])
        memory = f"{text(self.bandwidth, 'B/s')} and {text(self.capacity, 'B')} of HBM"
        return f"<Chip {self.name}: {peak}{memory}>".replace("\N{NO-BREAK SPACE}", " ")

    @property
    def table(self) -> Table:
        """Dense peaks with their ridge points, memories, and links one way."""
        rows = [
            (f"{kind}, {unit} units", _rate(kind, peak), text(peak / self.bandwidth))
            for unit, peaks in (("matrix", self.peaks), ("vector", self.vector))
            for kind, peak in peaks.items()
        ]
        rows += [("HBM", f"{text(self.bandwidth, 'B/s', 4)}, {text(self.capacity, 'B', 4)}", "")]
        rows += [(f"{name} on the chip", text(b, "B"), "") for name, b in self.on_chip.items()]
        rows += [(f"{k.name} to one peer", _flow(k), "") for k in self.links]
        headings = (self.name, "dense, one way", "ridge, FLOP/byte")
        return Table(dict(zip(headings, zip(*rows, strict=True), strict=True)))

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


def _by_type(argument: str, peaks: Mapping[Any, float]) -> ReadOnlyDict:
    if isinstance(peaks, ReadOnlyDict):  # another chip's, checked when that one was made
        return peaks
    given = mapping(argument, peaks, "data type to FLOP/s")
    named = {dtype(kind, argument).name: peak for kind, peak in given.items()}
    if len(named) < len(peaks):
        raise ValueError(f"{argument} must have one figure for each data type; got {dict(peaks)}")
    for name, peak in named.items():
        positive(f"{argument}[{name!r}]", scalar(f"{argument}[{name!r}]", peak))
    return ReadOnlyDict(named)


def _links(links: Iterable[Link]) -> tuple[Link, ...]:
    found = tuple(links) if isinstance(links, Iterable) else (links,)
    for each in found:
        if not isinstance(each, Link):
            raise TypeError(f"links must be a sequence of Link; got {short(links)}")
    return found


def _flow(link: Link) -> str:
    wait = f", {text(link.latency, 's')} a hop" if link.latency else ""
    return text(link.to_one_peer, "B/s", 4) + wait


def _rate(kind: str, peak: float) -> str:
    return text(peak, "OP/s" if kind.startswith("int") else "FLOP/s", 4)
