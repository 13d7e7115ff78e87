"""The catalog of chips: their published figures, with sources."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rooflib.checks import one_of
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


@dataclass(frozen=True)
class Figure:
    """One figure of a chip, as printed in its source."""

    chip: str
    what: str  #: "peak bf16", "vector fp32", "bandwidth", "capacity", "link ICI", "on-chip L2", …
    printed: float
    unit: str
    source: Source
    sparse: bool = False  #: whether it counts zeros that are skipped, two of four
    two_way: bool = False  #: whether it includes both directions
    links: int = 1  #: how many links it includes
    cores: int = 1  #: the number of cores of the chip, if the figure is per core
    clock: float = 1  #: clocks/s, if it is per clock
    chosen: bool = True  #: whether the catalog uses it, and not one that disagrees
    note: str = ""

    @property
    def value(self) -> Quantity:
        """The number in base units: dense, one way, of one link or the whole chip.

        All conversions of printed figures happen here.
        """
        included = (1 + self.sparse) * (1 + self.two_way) * self.links
        number = to_base(self.printed, self.unit) / included * self.cores * self.clock
        base = self.unit.replace("bit/s", "B/s").replace("/clock", "/s").lstrip("kKMGTPEi")
        if self.what == "exponentials":  # which papers may print as FLOPs
            base = base.replace("FLOP", "OP")
        return Quantity(number, base)

    @property
    def as_printed(self) -> str:
        """The printed figure and what it includes: "900 GB/s, both ways, 18 links"."""
        number = f"{self.printed:,g}".replace("e+0", "e").replace("e+", "e")
        included = {
            "sparse": self.sparse,
            "both ways": self.two_way,
            f"{self.links} links": self.links > 1,
            f"each of {self.cores} cores": self.cores > 1,
            f"at {self.clock / 1e6:g} MHz": self.clock > 1,
        }
        return ", ".join([f"{number} {self.unit}", *(what for what in included if included[what])])


class PublishedShare(NamedTuple):
    """A published share of a chip's peak, in an edition of the month `as_of`, as in "2026-08"."""

    chip: str
    roof: str
    fraction: float
    source: Source
    as_of: str
    note: str = ""


def chip(name: str | Chip) -> Chip:
    """Look up a chip by name, ignoring case, spaces, hyphens and underscores.

    A `Chip` is returned unchanged. A ValueError lists the known names, and suggests the closest.
    """
    return name if isinstance(name, Chip) else look_up("chip", name, chips(hidden=True))


@cache
def chips(hidden: bool = False) -> tuple[Chip, ...]:
    """Return the chips that the course's tables show; with `hidden`, all of the catalog."""
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


def look_up(kind: str, name: Any, entries: Sequence[Named]) -> Named:
    """Return the entry of this name; raise a ValueError that suggests the closest."""
    known = {_normalized(each.name): each for each in entries}
    wanted = _normalized(str(name))
    if wanted not in known:
        one_of(kind, name, [each.name for each in entries])
    return known[wanted]


def read_toml(file: str) -> dict[str, Any]:
    """Return the content of a TOML file beside this module."""
    return tomllib.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))


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

    found: dict[str, Any] = with_sources(content)
    return found


def _make_chip(entry: Mapping[str, Any]) -> Chip:
    links, on_chip = entry.get("link", []), entry.get("on_chip", {})
    single = ("exponentials", "bandwidth", "capacity")
    groups = {
        "peak ": entry["peak"],
        "vector ": entry.get("vector", {}),
        "": {what: entry[what] for what in single if what in entry},
        "on-chip ": on_chip,
        "link ": {link["name"]: link["bandwidth"] for link in links},
    }
    found = [{"what": g + name, **figure} for g in groups for name, figure in groups[g].items()]
    found += [{"chosen": False, **figure} for figure in entry.get("also", [])]
    figures = tuple(Figure(chip=entry["name"], **figure) for figure in found)
    chosen = {figure.what: figure.value for figure in figures if figure.chosen}
    computes = [what for what in chosen if what.startswith(("peak ", "vector ", "exponentials"))]
    rates = {what.removeprefix("peak "): chosen[what] for what in computes}
    return Chip(
        entry["name"],
        rates | {"HBM": chosen["bandwidth"]},
        memory=chosen["capacity"],
        links=tuple(Link(**link | {"bandwidth": chosen[f"link {link['name']}"]}) for link in links),
        maker=entry["maker"],
        on_chip={name: chosen[f"on-chip {name}"] for name in on_chip},
        figures=figures,
        shown=entry.get("shown", True),
    )


def _normalized(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
