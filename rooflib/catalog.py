"""The catalog: chips, models and published measurements, with their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from rooflib._arguments import suggestion
from rooflib.collectives import all_reduce, spared
from rooflib.dtypes import dtype
from rooflib.hardware import Chip, Link
from rooflib.models import Model
from rooflib.operations import Operation, matmul, operation, share
from rooflib.source import Source, read_toml
from rooflib.units import to_base

Named = TypeVar("Named", Chip, Model)

_CHIPS = ("hardware.toml", "more_hardware.toml")
_STEPS = ("published_steps.toml", "more_steps.toml")


@dataclass(frozen=True, repr=False)
class DataPoint:
    """One figure of the catalog, as printed in its source.

    Attributes
    ----------
    chip, what
        The chip, and the quantity: "peak bf16", "vector fp32", "exponentials",
        "bandwidth", "capacity", "link ICI", "on-chip L2".
    printed, unit
        The figure as printed.
    sparse, two_way, links, cores, clock
        What the printed figure includes: 2:4 structured sparsity, both directions, several links;
        or the number of cores of the chip if the figure is per core, and clocks/s if it is per
        clock.
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
    def value(self) -> float:
        """The number in base units: dense, one way, of one link or the whole chip.

        All conversions of printed figures happen here.
        """
        share = (2 if self.sparse else 1) * (2 if self.two_way else 1) * self.links
        return to_base(self.printed, self.unit) / share * self.cores * self.clock

    @property
    def base_unit(self) -> str:
        """The unit of `value`: FLOP/s, OP/s, B/s or B."""
        if self.unit.endswith("bit/s"):
            return "B/s"
        return self.unit.replace("/clock", "/s").lstrip("kKMGTPEi")

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
        return f"<DataPoint {self.chip}, {self.what}: {self.as_printed}; {self.source.key}>"


@dataclass(frozen=True)
class PublishedShare:
    """A published share of a chip's peak."""

    chip: str
    roof: str
    fraction: float
    source: Source
    note: str = ""


@dataclass(frozen=True)
class PublishedStep:
    """A published throughput of a model's decode steps, or time of a prefill.

    Attributes
    ----------
    model, chip, chips
        Names of the model and the chip in the catalog, and the number of chips.
    B, S
        Sequences, and the mean number of positions per sequence that a step reads.
    x, w, kv
        Data types, as in `Model.decode`.
    tokens_per_second
        Tokens/s of all sequences and all chips together, over the whole run; 0 for a prefill.
    first_token
        Seconds to the first token of B prompts of S tokens; 0 for decode steps.
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
    source: Source
    tokens_per_second: float = 0
    first_token: float = 0

    @property
    def seconds(self) -> float:
        """Average seconds per step, which generates B tokens; or those of the prefill."""
        return self.first_token or self.B / self.tokens_per_second

    @property
    def step(self) -> Operation:
        """One chip's share of this decode step or prefill, as an operation."""
        count = model(self.model).prefill if self.first_token else model(self.model).decode
        return count(self.B, self.S, self.chips, w=self.w, kv=self.kv, x=self.x)


@dataclass(frozen=True)
class PublishedRun:
    """A published measurement of one operation: a multiplication, or an all-reduce.

    Attributes
    ----------
    name, chip
        What ran, with its sizes, and the name of the chip.
    op, link
        The operation of one chip, and the link that it uses, or None.
    seconds
        The time that it took.
    source
        Where it was read.
    """

    name: str
    chip: str
    op: Operation
    seconds: float
    source: Source
    link: Link | None = None


def chip(name: str) -> Chip:
    """Look up a chip by name, ignoring case, spaces, hyphens and underscores.

    An unknown name raises a ValueError that lists the known names and suggests the closest.
    """
    return _look_up("chip", name, chips(more=True))


def model(name: str) -> Model:
    """Look up a model by name, as `chip` does for chips."""
    return _look_up("model", name, models())


def as_chip(chip_or_name: str | Chip) -> Chip:
    """Return the chip itself, or look it up by name."""
    return chip_or_name if isinstance(chip_or_name, Chip) else chip(chip_or_name)


def as_model(model_or_name: str | Model) -> Model:
    """Return the model itself, or look it up by name."""
    return model_or_name if isinstance(model_or_name, Model) else model(model_or_name)


@cache
def chips(more: bool = False) -> tuple[Chip, ...]:
    """Return the chips of the catalog, in catalog order.

    With `more`, include chips that are not in the catalog.
    """
    return tuple(map(_make_chip, _entries("chip", *_CHIPS[: 1 + more])))


@cache
def models() -> tuple[Model, ...]:
    """Return all language models of the catalog, in catalog order."""
    return tuple(_make_model(**entry) for entry in _entries("model", "models.toml"))


@cache
def data_points(more: bool = False) -> tuple[DataPoint, ...]:
    """Return all numbers published for `chips` with their sources, even if they disagree."""
    entries = _entries("chip", *_CHIPS[: 1 + more])
    return tuple(point for entry in entries for point in _data_points(entry))


def sources() -> Mapping[str, Source]:
    """Return the sources of the chips' figures, by key."""
    return _catalog()["sources"]  # type: ignore[no-any-return]


@cache
def published_shares() -> tuple[PublishedShare, ...]:
    """Return published measured shares of peak, with their sources."""
    return tuple(PublishedShare(**entry) for entry in _entries("published_share", *_CHIPS))


@cache
def published_steps(more: bool = False) -> tuple[PublishedStep, ...]:
    """Return published throughputs of dense decode steps, with their sources.

    With `more`, also those of mixtures of experts, and times to the first token.
    """
    return tuple(PublishedStep(**entry) for entry in _entries("step", *_STEPS[: 1 + more]))


@cache
def published_runs() -> tuple[PublishedRun, ...]:
    """Return published measurements of single operations, with their sources."""
    file = "published_runs.toml"
    matmuls = [_matmul_run(**entry) for entry in _entries("matmul", file)]
    return (*matmuls, *(_all_reduce_run(**entry) for entry in _entries("all_reduce", file)))


def _matmul_run(
    chip: str,
    B: int,
    D: int,
    F: int,
    x: str,
    out: str,
    printed: float,
    unit: str,
    source: Source,
    groups: int = 1,
) -> PublishedRun:
    one = matmul(B, D, F, x, out=out)
    name = f"{groups} × " * (groups > 1) + f"{x}[{B}, {D}] · {x}[{D}, {F}]"
    op = operation(groups * one.flops, groups * one.bytes, x, name=name)
    return PublishedRun(name, chip, op, op.flops / to_base(printed, unit), source)


def _all_reduce_run(
    chip: str, chips: int, size: int, printed: float, unit: str, source: Source
) -> PublishedRun:
    """Make a run from a bus bandwidth, which counts the bytes of a ring."""
    name = f"all-reduce among {chips}"
    ring, kind = all_reduce(size, chips), dtype("bf16")
    op = share(kind, chips, name, sent=ring, spared=spared(size, chips))
    link = as_chip(chip).link()
    return PublishedRun(name, chip, op, ring / to_base(printed, unit), source, link)


def _look_up(kind: str, name: str, entries: Sequence[Named]) -> Named:
    known = {_normalized(each.name): each for each in entries}
    wanted = _normalized(name) if isinstance(name, str) else ""
    if wanted in known:
        return known[wanted]
    names = [each.name for each in entries]
    within = [repr(each) for each in names if wanted and wanted in _normalized(each)]
    hint = f"; did you mean {' or '.join(within)}?" if within else suggestion(name, names)
    raise ValueError(f"{kind} must be one of {', '.join(names)}; got {name!r}{hint}")


@cache
def _catalog(file: str = "hardware.toml") -> dict[str, Any]:
    """Read a file of the catalog, with a `Source` in place of each key of a source."""
    content = read_toml(file)
    known = {key: Source(key=key, **entry) for key, entry in content.pop("source").items()}

    def with_sources(part: Any) -> Any:
        if isinstance(part, list):
            return [with_sources(each) for each in part]
        if not isinstance(part, dict):
            return part
        return {key: known[v] if key == "source" else with_sources(v) for key, v in part.items()}

    return {**with_sources(content), "sources": MappingProxyType(known)}


def _entries(kind: str, *files: str) -> list[Any]:
    return [entry for file in files for entry in _catalog(file)[kind]]


def _data_points(entry: Mapping[str, Any]) -> list[DataPoint]:
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
    return [DataPoint(chip=entry["name"], **figure) for figure in found]


def _make_model(name: str, source: Source, config: Any = None, **shape: Any) -> Model:
    if config is None:
        return Model(name, source=source, **shape)
    from rooflib.config import model_from_config

    return replace(model_from_config(config, name), source=source)


def _make_chip(entry: Mapping[str, Any]) -> Chip:
    values = {point.what: point.value for point in _data_points(entry) if point.chosen}

    def named(what: str) -> dict[str, float]:
        return {k.removeprefix(what): v for k, v in values.items() if k.startswith(what)}

    bandwidths = named("link ")
    links = [{**link, "bandwidth": bandwidths[link["name"]]} for link in entry.get("link", [])]
    return Chip(
        entry["name"],
        peaks=named("peak "),
        vector=named("vector "),
        bandwidth=values["bandwidth"],
        capacity=values["capacity"],
        on_chip=named("on-chip "),
        exponentials=values.get("exponentials"),
        links=tuple(Link(**link) for link in links),
        maker=entry["maker"],
    )


def _normalized(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
