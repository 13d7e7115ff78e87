"""The catalog of chips: their published figures, with sources."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from rooflib.checks import suggestion
from rooflib.hardware import Chip, Link
from rooflib.quantities import Quantity, to_base

Named = TypeVar("Named", bound=Any)


class Source(NamedTuple):
    """Where and when data were read; `note` names the version or the copies read."""

    key: str
    title: str
    publisher: str
    url: str
    read: datetime.date
    note: str = ""


@dataclass(frozen=True, repr=False)
class Figure:
    """One figure of a chip, as printed in its source.

    Attributes
    ----------
    chip, what
        The chip, and the quantity: "peak bf16", "vector fp32", "exponentials",
        "bandwidth", "capacity", "link ICI", "on-chip L2".
    printed, unit
        The figure as printed.
    sparse, two_way, links, cores, clock
        What it includes: 2:4 structured sparsity, both directions, several links; or the number of
        cores of the chip if the figure is per core, and clocks/s if it is per clock.
    source
        Where it was read.
    chosen
        True for the figure that the catalog uses; False for a disagreeing one.
    """

    chip: str
    what: str
    printed: float
    unit: str
    source: Source
    sparse: bool = False
    two_way: bool = False
    links: int = 1
    cores: int = 1
    clock: float = 1
    chosen: bool = True
    note: str = ""

    @property
    def value(self) -> Quantity:
        """The number in base units: dense, one way, of one link or the whole chip.

        All conversions of printed figures happen here.
        """
        share = (2 if self.sparse else 1) * (2 if self.two_way else 1) * self.links
        number = to_base(self.printed, self.unit) / share * self.cores * self.clock
        bits = self.unit.endswith("bit/s")
        base = "B/s" if bits else self.unit.replace("/clock", "/s").lstrip("kKMGTPEi")
        return Quantity(number, base)

    @property
    def as_printed(self) -> str:
        """The printed figure and what it includes: "900 GB/s, both ways, 18 links"."""
        number = f"{self.printed:,g}".replace("e+0", "e").replace("e+", "e")
        included = [
            "sparse" if self.sparse else "",
            "both ways" if self.two_way else "",
            f"{self.links} links" if self.links > 1 else "",
            f"each of {self.cores} cores" if self.cores > 1 else "",
            f"at {self.clock / 1e6:g} MHz" if self.clock > 1 else "",
        ]
        return ", ".join([f"{number} {self.unit}", *filter(None, included)])

    def __repr__(self) -> str:
        return f"<Figure {self.chip}, {self.what}: {self.as_printed}; {self.source.key}>"


class PublishedShare(NamedTuple):
    """A published share of a chip's peak.

    `as_of` is the month of the source's edition, such as "2026-08".
    """

    chip: str
    roof: str
    fraction: float
    source: Source
    as_of: str
    note: str = ""


def chip(name: str) -> Chip:
    """Look up a chip by name, ignoring case, spaces, hyphens and underscores.

    An unknown name raises a ValueError that lists the known names and suggests the closest.
    """
    return look_up("chip", name, chips(hidden=True))


def as_chip(chip_or_name: str | Chip) -> Chip:
    """Return the chip itself, or look it up by name."""
    return chip_or_name if isinstance(chip_or_name, Chip) else chip(chip_or_name)


@cache
def chips(hidden: bool = False) -> tuple[Chip, ...]:
    """Return the chips of the catalog, in catalog order.

    With `hidden`, also those that the course's tables leave out.
    """
    known = map(_make_chip, read_catalog("chips.toml")["chip"])
    return tuple(chip for chip in known if chip.shown or hidden)


@cache
def figures(hidden: bool = False) -> tuple[Figure, ...]:
    """Return all that was published about `chips`, with sources, even figures that disagree."""
    return tuple(figure for chip in chips(hidden) for figure in chip.figures)


@cache
def published_shares() -> tuple[PublishedShare, ...]:
    """Return published measured shares of peak, with their sources."""
    entries = read_catalog("chips.toml")["published_share"]
    return tuple(PublishedShare(**entry) for entry in entries)


def look_up(kind: str, name: str, entries: Sequence[Named]) -> Named:
    """Return the entry of this name; raise a ValueError that suggests the closest."""
    known = {_normalized(each.name): each for each in entries}
    wanted = _normalized(name) if isinstance(name, str) else ""
    if wanted in known:
        return known[wanted]
    names = [each.name for each in entries]
    within = [repr(each) for each in names if wanted and wanted in _normalized(each)]
    hint = f"; did you mean {' or '.join(within)}?" if within else suggestion(name, names)
    raise ValueError(f"{kind} must be one of {', '.join(names)}; got {name!r}{hint}")


def read_toml(file: str) -> dict[str, Any]:
    """Return the content of a TOML file beside this module."""
    # Imported here to keep `import rooflib` light.
    import importlib.resources
    import tomllib

    text = importlib.resources.files("rooflib").joinpath(file).read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def read_catalog(file: str) -> Mapping[str, Any]:
    """Read a TOML file beside this module, with a `Source` in place of each key of a source."""
    content = read_toml(file)
    known = {key: Source(key=key, **entry) for key, entry in content.pop("source").items()}

    def with_sources(part: Any) -> Any:
        if isinstance(part, list):
            return [with_sources(each) for each in part]
        if not isinstance(part, dict):
            return part
        return {key: known[v] if key == "source" else with_sources(v) for key, v in part.items()}

    return MappingProxyType({**with_sources(content), "sources": MappingProxyType(known)})


def _make_chip(entry: Mapping[str, Any]) -> Chip:
    figures = _figures(entry)
    chosen = {figure.what: figure.value for figure in figures if figure.chosen}
    rates = {
        what.removeprefix("peak "): rate
        for what, rate in chosen.items()
        if what.startswith(("peak ", "vector ", "exponentials"))
    }
    links = [
        Link(**{**link, "bandwidth": chosen[f"link {link['name']}"]})
        for link in entry.get("link", [])
    ]
    memories = [what for what in chosen if what.startswith("on-chip ")]
    return Chip(
        entry["name"],
        rates | {"HBM": chosen["bandwidth"]},
        memory=chosen["capacity"],
        links=tuple(links),
        maker=entry["maker"],
        on_chip={what.removeprefix("on-chip "): chosen[what] for what in memories},
        figures=tuple(figures),
        shown=entry.get("shown", True),
    )


def _figures(entry: Mapping[str, Any]) -> list[Figure]:
    single = ("exponentials", "bandwidth", "capacity")
    groups = {
        "peak ": entry["peak"],
        "vector ": entry.get("vector", {}),
        "": {what: entry[what] for what in single if what in entry},
        "on-chip ": entry.get("on_chip", {}),
        "link ": {link["name"]: link["bandwidth"] for link in entry.get("link", [])},
    }
    found = [{"what": g + name, **figure} for g in groups for name, figure in groups[g].items()]
    found += [{"chosen": False, **figure} for figure in entry.get("also", [])]
    return [Figure(chip=entry["name"], **figure) for figure in found]


def _normalized(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
