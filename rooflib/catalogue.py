"""The catalogue: chips, models and published measurements, each figure with its source."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from rooflib._arguments import near
from rooflib.hardware import Chip, Link
from rooflib.models import Model
from rooflib.operations import Operation
from rooflib.units import to_base

Named = TypeVar("Named", Chip, Model)


@dataclass(frozen=True)
class Source:
    """Where and when figures were read; `note` names the version, or the copies of it that were."""

    key: str
    title: str
    publisher: str
    url: str
    read: datetime.date
    note: str = ""


@dataclass(frozen=True, repr=False)
class DataPoint:
    """One figure of the catalogue as its source prints it, and what it means.

    Attributes
    ----------
    chip, what
        Whose figure, and of what: "peak bf16", "vector fp32", "bandwidth", "capacity",
        "link ICI", "on-chip L2".
    printed, unit
        The figure as printed.
    sparse, two_way, links, cores
        What the printed figure includes: twofold structured sparsity, both directions, so many
        links; or that it is for one of so many cores.
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
    cores: int = 1
    chosen: bool = True
    note: str = ""

    @property
    def value(self) -> float:
        """The figure in FLOP/s, bytes/s or bytes: dense, one way, per link, of the whole chip.

        The one place where printed figures are converted.
        """
        share = (2 if self.sparse else 1) * (2 if self.two_way else 1) * self.links
        return to_base(self.printed, self.unit) / share * self.cores

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
            f"each of {self.cores} cores" if self.cores > 1 else "",
        ]
        return ", ".join([f"{number} {self.unit}", *filter(None, included)])

    def __repr__(self) -> str:
        return f"<DataPoint {self.chip}, {self.what}: {self.as_printed}; {self.source.key}>"


@dataclass(frozen=True)
class PublishedShare:
    """A published share of peak; `catalogued` is False for a chip that is not in the catalogue."""

    chip: str
    roof: str
    fraction: float
    source: Source
    note: str = ""
    catalogued: bool = True


@dataclass(frozen=True)
class PublishedStep:
    """Published timings of a model's decode steps on so many chips.

    Attributes
    ----------
    model, chip, chips
        What ran on what; a model and a chip of the catalogue, by name.
    B, S
        Sequences, and the positions of each that a step reads, in the mean.
    x, w, kv
        Data types, as in `Model.decode`.
    tokens_per_second
        Of all sequences and all chips together, over the whole run.
    source
        Where it was read.
    """

    model: str
    chip: str
    chips: int
    B: int
    S: int
    x: str
    w: str
    kv: str
    tokens_per_second: float
    source: Source

    @property
    def seconds(self) -> float:
        """Average time of a step: each gives B tokens."""
        return self.B / self.tokens_per_second

    @property
    def step(self) -> Operation:
        """One chip's share of such a step, to be held against its roofs."""
        return model(self.model).decode(self.B, self.S, self.chips, w=self.w, kv=self.kv, x=self.x)


def chip(name: str) -> Chip:
    """Look up a chip of the catalogue; case, spaces, hyphens and underscores don't matter.

    A name that is no chip's is a ValueError that lists the known ones, and those perhaps meant.
    """
    return _named("chip", name, chips())


def model(name: str) -> Model:
    """Look up a model of the catalogue, as `chip` does a chip."""
    return _named("model", name, models())


def as_chip(chip_or_name: str | Chip) -> Chip:
    """A chip as it is, or the chip of the catalogue that has this name."""
    return chip_or_name if isinstance(chip_or_name, Chip) else chip(chip_or_name)


@cache
def chips() -> tuple[Chip, ...]:
    """Every chip of the catalogue, in its order."""
    return tuple(_make_chip(entry) for entry in _catalogue()["chip"])


@cache
def models() -> tuple[Model, ...]:
    """Every language model of the catalogue, in its order."""
    known, entries = _sources("models.toml"), _catalogue("models.toml")["model"]
    return tuple(Model(**{**entry, "source": known[entry["source"]]}) for entry in entries)


@cache
def data_points() -> tuple[DataPoint, ...]:
    """Every figure of the catalogue with its source, the disagreeing ones included."""
    return tuple(point for entry in _catalogue()["chip"] for point in _points_of(entry))


@cache
def sources() -> Mapping[str, Source]:
    """Every source of the chips' figures by key."""
    return _sources("hardware.toml")


@cache
def published_shares() -> tuple[PublishedShare, ...]:
    """Published shares of peak that were measured, with their sources."""
    return tuple(
        PublishedShare(**{**entry, "source": sources()[entry["source"]]})
        for entry in _catalogue()["published_share"]
    )


@cache
def published_steps() -> tuple[PublishedStep, ...]:
    """Published timings of decode steps on real chips, with their sources."""
    file = "published_steps.toml"
    known, entries = _sources(file), _catalogue(file)["step"]
    return tuple(PublishedStep(**{**entry, "source": known[entry["source"]]}) for entry in entries)


def _sources(file: str) -> Mapping[str, Source]:
    entries = _catalogue(file)["source"].items()
    return MappingProxyType({key: Source(key=key, **entry) for key, entry in entries})


def _named(kind: str, name: str, all_of_them: Sequence[Named]) -> Named:
    known = {_plain(each.name): each for each in all_of_them}
    wanted = _plain(name) if isinstance(name, str) else ""
    if wanted in known:
        return known[wanted]
    names = [each.name for each in all_of_them]
    within = [repr(each) for each in names if wanted and wanted in _plain(each)]
    hint = f"; did you mean {' or '.join(within)}?" if within else near(name, names)
    raise ValueError(f"{kind} must be one of {', '.join(names)}; got {name!r}{hint}")


@cache
def _catalogue(file: str = "hardware.toml") -> dict[str, Any]:
    # Imported here because only the catalogue needs them, and `import rooflib` is kept light.
    import importlib.resources
    import tomllib

    return tomllib.loads(importlib.resources.files("rooflib").joinpath(file).read_text())


def _points_of(entry: Mapping[str, Any]) -> list[DataPoint]:
    chosen = {f"peak {kind}": figure for kind, figure in entry["peak"].items()}
    chosen |= {f"vector {kind}": figure for kind, figure in entry.get("vector", {}).items()}
    chosen |= {"bandwidth": entry["bandwidth"], "capacity": entry["capacity"]}
    chosen |= {f"on-chip {name}": figure for name, figure in entry.get("on_chip", {}).items()}
    chosen |= {f"link {link['name']}": link["bandwidth"] for link in entry.get("link", [])}
    others = [({"chosen": False} | figure) for figure in entry.get("also", [])]
    given = [({"what": what} | figure) for what, figure in chosen.items()] + others
    return [
        DataPoint(**{**figure, "chip": entry["name"], "source": sources()[figure["source"]]})
        for figure in given
    ]


def _make_chip(entry: Mapping[str, Any]) -> Chip:
    values = {point.what: point.value for point in _points_of(entry) if point.chosen}

    def named(what: str) -> dict[str, float]:
        return {k.removeprefix(what): v for k, v in values.items() if k.startswith(what)}

    links = named("link ")
    return Chip(
        name=entry["name"],
        maker=entry["maker"],
        peaks=named("peak "),
        vector=named("vector "),
        bandwidth=values["bandwidth"],
        capacity=values["capacity"],
        on_chip=named("on-chip "),
        links=tuple(
            Link(**{**link, "bandwidth": links[link["name"]]}) for link in entry.get("link", [])
        ),
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
