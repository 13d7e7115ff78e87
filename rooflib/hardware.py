"""Chips: the catalogue in hardware.toml, and `Chip`, to make for a machine of one's own."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from rooflib._arguments import one_of, positive
from rooflib.dtypes import DType, dtype
from rooflib.units import to_base

TOPOLOGIES = ("torus", "switch", "host")


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
        "torus": each link leads to one neighbour. "switch": every link can carry traffic to any
        one peer. "host": one shared way out, by PCIe or by the host's network card.
    """

    name: str
    bandwidth: float
    links_per_axis: int = 1
    axes: int = 1
    topology: str = "torus"

    def __post_init__(self) -> None:
        positive("bandwidth", self.bandwidth)
        positive("links_per_axis", self.links_per_axis)
        positive("axes", self.axes)
        one_of("topology", self.topology, TOPOLOGIES)

    @property
    def total(self) -> float:
        """Bytes/s off the chip over all links together, one way."""
        return self.bandwidth * self.links_per_axis * self.axes

    @property
    def to_one_peer(self) -> float:
        """Bytes/s to one peer, one way: a single link of a torus, all links into a switch."""
        return self.total if self.topology == "switch" else self.bandwidth


@dataclass(frozen=True)
class Chip:
    """What bounds an operation: dense peaks, HBM bandwidth and capacity, links.

    Attributes
    ----------
    name
        For labels.
    peaks
        Dense FLOP/s (operations/s for integer types) of the matrix units by data type.
    bandwidth
        HBM (or main memory) bytes/s.
    capacity
        HBM (or main memory) bytes.
    vector
        Dense FLOP/s of the vector units by data type, where known.
    links
        Ways off the chip.
    maker
        Who makes it.

    Raises
    ------
    ValueError
        If a figure is not above zero and finite, or a data type is unknown.
    """

    name: str
    peaks: Mapping[str, float] = field(hash=False)
    bandwidth: float
    capacity: float
    vector: Mapping[str, float] = field(default_factory=dict, hash=False)
    links: tuple[Link, ...] = ()
    maker: str = ""

    def __post_init__(self) -> None:
        positive("bandwidth", self.bandwidth)
        positive("capacity", self.capacity)
        for where, peaks in (("peaks", self.peaks), ("vector", self.vector)):
            for kind, peak in peaks.items():
                positive(f"{where}[{kind!r}]", peak)
                dtype(kind, where)
            # A read-only copy: a chip that others hold must not change under them.
            object.__setattr__(self, where, MappingProxyType(dict(peaks)))

    def peak(self, compute: str | DType = "bf16", unit: str = "matrix") -> float:
        """Dense peak in FLOP/s for a data type, of the "matrix" or the "vector" units."""
        one_of("unit", unit, ("matrix", "vector"))
        name = dtype(compute, "compute").name
        peaks = self.peaks if unit == "matrix" else self.vector
        if name not in peaks:
            known = ", ".join(peaks) or "none"
            raise ValueError(
                f"compute must be a type that the {unit} units of {self.name} have a peak for: "
                f"{known}; got {name!r}"
            )
        return peaks[name]

    def link(self, name: str) -> Link:
        """Look up a link by name."""
        for link in self.links:
            if link.name == name:
                return link
        known = ", ".join(link.name for link in self.links) or "none"
        raise ValueError(f"link must be one that {self.name} has: {known}; got {name!r}")

    def ridge(
        self,
        compute: str | DType = "bf16",
        unit: str = "matrix",
        link: str | Link | None = None,
    ) -> float:
        """Ridge point in FLOP/byte: the intensity above which compute is the roof.

        Peak ÷ HBM bandwidth or, with `link`, peak ÷ that link's bandwidth to one peer.
        """
        if link is None:
            return self.peak(compute, unit) / self.bandwidth
        over = self.link(link) if isinstance(link, str) else link
        return self.peak(compute, unit) / over.to_one_peer


@dataclass(frozen=True)
class Source:
    """Where figures were read: title, publisher, address, and the day of reading."""

    key: str
    title: str
    publisher: str
    url: str
    read: datetime.date
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """One figure of the catalogue as its source prints it, and what it means.

    Attributes
    ----------
    chip, what
        Whose figure, and of what: "peak bf16", "vector fp32", "bandwidth", "capacity",
        "link ICI".
    printed, unit
        The figure as printed.
    sparse, two_way, links
        What the printed figure includes: twofold structured sparsity, both directions, so many
        links.
    source
        Where it was read.
    chosen
        True for the figure that the catalogue uses; False for one that disagrees with it.
    """

    chip: str
    what: str
    printed: float
    unit: str
    source: Source
    sparse: bool = False
    two_way: bool = False
    links: int = 1
    chosen: bool = True
    note: str = ""

    @property
    def value(self) -> float:
        """The figure in FLOP/s, bytes/s or bytes: dense, one way, per link.

        The one place where printed figures are converted.
        """
        share = (2 if self.sparse else 1) * (2 if self.two_way else 1) * self.links
        return to_base(self.printed, self.unit) / share

    @property
    def base_unit(self) -> str:
        """The unit of `value`: FLOP/s, OP/s, B/s or B."""
        return "B/s" if self.unit.endswith("bit/s") else self.unit.lstrip("kKMGTPEi")

    @property
    def as_printed(self) -> str:
        """The printed figure and what it includes: "900 GB/s, both ways, 18 links"."""
        number = f"{self.printed:,g}".replace("e+0", "e").replace("e+", "e")
        included = [
            "sparse" if self.sparse else "",
            "both ways" if self.two_way else "",
            f"{self.links} links" if self.links > 1 else "",
        ]
        return ", ".join([f"{number} {self.unit}", *filter(None, included)])


@dataclass(frozen=True)
class Achieved:
    """A share of the advertised peak that somebody measured."""

    chip: str
    roof: str
    fraction: float
    source: Source
    note: str = ""


def chip(name: str) -> Chip:
    """Look up a chip of the catalogue; case, spaces, hyphens and underscores don't matter.

    Raises
    ------
    ValueError
        If there is no such chip. The message lists the known ones.
    """
    wanted = _plain(name) if isinstance(name, str) else ""
    for known in chips():
        if _plain(known.name) == wanted:
            return known
    names = ", ".join(known.name for known in chips())
    raise ValueError(f"chip must be one of {names}; got {name!r}")


@cache
def chips() -> tuple[Chip, ...]:
    """Every chip of the catalogue, in its order."""
    return tuple(_make_chip(entry) for entry in _catalogue()["chip"])


@cache
def figures() -> tuple[Figure, ...]:
    """Every figure of the catalogue with its source, the disagreeing ones included."""
    return tuple(figure for entry in _catalogue()["chip"] for figure in _figures_of(entry))


@cache
def sources() -> Mapping[str, Source]:
    """Every source of the catalogue by key."""
    entries = _catalogue()["source"].items()
    return MappingProxyType({key: Source(key=key, **entry) for key, entry in entries})


@cache
def achieved() -> tuple[Achieved, ...]:
    """Measured shares of peak, with their sources."""
    return tuple(
        Achieved(**{**entry, "source": sources()[entry["source"]]})
        for entry in _catalogue()["achieved"]
    )


@cache
def _catalogue() -> dict[str, Any]:
    # Imported here because only the catalogue needs them, and `import rooflib` is kept light.
    import importlib.resources
    import tomllib

    return tomllib.loads(importlib.resources.files("rooflib").joinpath("hardware.toml").read_text())


def _figures_of(entry: Mapping[str, Any]) -> list[Figure]:
    chosen = {f"peak {kind}": figure for kind, figure in entry["peak"].items()}
    chosen |= {f"vector {kind}": figure for kind, figure in entry.get("vector", {}).items()}
    chosen |= {"bandwidth": entry["bandwidth"], "capacity": entry["capacity"]}
    chosen |= {f"link {link['name']}": link["bandwidth"] for link in entry.get("link", [])}
    others = [({"chosen": False} | figure) for figure in entry.get("also", [])]
    given = [({"what": what} | figure) for what, figure in chosen.items()] + others
    return [
        Figure(**{**figure, "chip": entry["name"], "source": sources()[figure["source"]]})
        for figure in given
    ]


def _make_chip(entry: Mapping[str, Any]) -> Chip:
    values = {figure.what: figure.value for figure in _figures_of(entry) if figure.chosen}
    return Chip(
        name=entry["name"],
        maker=entry["maker"],
        peaks={kind: values[f"peak {kind}"] for kind in entry["peak"]},
        vector={kind: values[f"vector {kind}"] for kind in entry.get("vector", {})},
        bandwidth=values["bandwidth"],
        capacity=values["capacity"],
        links=tuple(
            Link(**{**link, "bandwidth": values[f"link {link['name']}"]})
            for link in entry.get("link", [])
        ),
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
