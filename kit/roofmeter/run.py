"""A run: all measurements of one machine, with their provenance.

In a file, a run has only amounts and times: results are computed from them.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from rooflib.checks import one_of
from rooflib.hardware import Chip
from rooflib.quantities import Quantity, breakable, shown, text
from rooflib.table import Table, markdown
from rooflib.work import Times
from roofmeter.figures import Figure, Sample

RUNS = Path(__file__).parent / "runs"
MAX_SPEEDUP_OVER_MEMORY = 1.25
"""Reads at most this many times as fast as memory are not served by a cache."""
MAX_DRIFT = 0.1
"""A larger change of the peak between start and end means that the clock frequency drifted."""


@dataclass(frozen=True)
class Host:
    """A description of the machine, without anything that identifies its owner.

    Of its `present` cores, this process may use those `granted`; `memory` is in bytes.
    """

    cpu: str
    present: int
    granted: int
    memory: float
    system: str


@dataclass(frozen=True)
class MeasuredOperation:
    """A measured operation: its figure, in seconds, and its bounds under the roofs of the run.

    The overhead of a numpy call is the launch of these bounds.
    """

    figure: Figure
    bounds: Times

    @property
    def ratios(self) -> tuple[float, float]:
        """Measured time ÷ lower bound, of the best and of the slowest sample.

        Below one, a cache holds its bytes, or fewer moved than were counted.
        """
        best, slowest = (each / float(self.bounds.lower) for each in self.figure.interval)
        return best, slowest


@dataclass(frozen=True, repr=False)
class Run:
    """The result of `measure` on one machine.

    Attributes
    ----------
    host, date, seconds
        The machine that it ran on, when it was taken, in UTC, and how long it took.
    figures
        Every figure by its key: "peak fp32", "peak fp64", "read", "update", "call", "peak again",
        "cache" and a size in bytes, and the operations.
    libraries
        Versions of the libraries.
    left_out
        Keys of figures that were not reached in time.
    """

    host: Host
    date: datetime.datetime
    seconds: float
    figures: Mapping[str, Figure]
    libraries: Mapping[str, str]
    left_out: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Machine name and date, for labels."""
        return f"{self.host.cpu}, {self.date:%Y-%m-%d}"

    @cached_property
    def chip(self) -> Chip:
        """The run as a chip: best figures, and the bandwidth of reading as HBM bandwidth."""
        return self.as_chip("read")

    def as_chip(self, roof: str = "read") -> Chip:
        """Return the run as a chip with the bandwidth of one roof, all at their best.

        `roof` is "read", "update" or "cache" with a size in bytes.
        """
        one_of("roof", roof, [key for key, figure in self.figures.items() if figure.unit == "B/s"])
        rates = {kind: self.figures[f"peak {kind}"].best for kind in ("fp32", "fp64")}
        rates |= {"HBM": self.figures[roof].best}
        name = self.name if roof == "read" else f"{self.name}, {roof}"
        return Chip(name, rates, self.host.memory)

    @cached_property
    def staircase(self) -> Mapping[float, Figure]:
        """Measurements of repeated reads, by the total bytes of all threads' arrays."""
        stairs = (key for key in self.figures if key.startswith("cache "))
        sizes = sorted((float(key.removeprefix("cache ")), key) for key in stairs)
        return {size: self.figures[key] for size, key in sizes}

    @property
    def caches_end(self) -> float:
        """Size in bytes from which arrays are read at memory speed; 0 if none was."""
        slow = MAX_SPEEDUP_OVER_MEMORY * self.figures["read"].best
        fast = [size for size, figure in self.staircase.items() if figure.median > slow]
        return min((size for size in self.staircase if size > max(fast, default=0)), default=0.0)

    @property
    def drift(self) -> float:
        """Relative change of the fp32 peak during the run; 0 if not measured again."""
        again = self.figures.get("peak again")
        return again.median / self.figures["peak fp32"].median - 1 if again else 0.0

    @property
    def warnings(self) -> list[str]:
        """Reasons to be careful with these figures; empty if there are none."""
        found = [f"left out: {', '.join(self.left_out)}"] if self.left_out else []
        found += [
            f"{key}: its samples spread by {text(figure.spread, '%')}"
            for key, figure in self.figures.items()
            if not figure.settled
        ]
        if abs(self.drift) > MAX_DRIFT:
            change = text(abs(self.drift), "%")
            found.append(f"the peak changed by {change}: the clock is not steady")
        if self.staircase and self.caches_end == 0:
            found.append("read: no array was larger than the caches")
        return found

    @cached_property
    def operations(self) -> Mapping[str, MeasuredOperation]:
        """Each measured operation with its bounds under the roof that it names."""
        return {
            key: MeasuredOperation(figure, figure.counted.on(self._under(figure.roof)))
            for key, figure in self.figures.items()
            if figure.operation
        }

    def _under(self, roof: str) -> Chip:
        if roof not in self.figures:  # no array of exactly this size was read: take the next larger
            sizes = [s for s in self.staircase if s >= float(roof.removeprefix("cache "))]
            roof = f"cache {min(sizes):.0f}" if sizes else "read"
        call = self.figures.get("call")
        return self.as_chip(roof) | ({"launch": 1 / call.best} if call else {})

    @property
    def table(self) -> Table:
        """Table of all figures except operations: best, typical, range, sample counts."""
        figures = [figure for figure in self.figures.values() if not figure.operation]
        return Table(
            {
                "figure": [figure.key for figure in figures],
                "best": [Quantity(figure.best, figure.unit) for figure in figures],
                "typical": [Quantity(figure.median, figure.unit) for figure in figures],
                "smallest to largest": [_span(figure.interval, figure.unit) for figure in figures],
                "spread": ([figure.spread for figure in figures], "%"),
                "samples": [f"{len(figure.values)} of {len(figure.samples)}" for figure in figures],
                "what ran": [figure.what for figure in figures],
            }
        )

    @property
    def operations_table(self) -> Table:
        """Table of the operations: measured times, bounds, and their ratio."""
        operations = self.operations.values()
        return Table(
            {
                "operation": [each.figure.what for each in operations],
                "FLOP/B": [float(each.figure.counted.intensity) for each in operations],
                "measured": [_span(each.figure.interval, "s") for each in operations],
                "lower bound": [each.bounds.lower for each in operations],
                "upper bound": [each.bounds.upper for each in operations],
                "÷ lower": [_span(each.ratios) for each in operations],
            }
        )

    def compare(self, other: Run) -> Table:
        """Compare measurements of two runs: ratio, and whether intervals are disjoint."""
        keys = [key for key in self.figures if key in other.figures]
        pairs = [(self.figures[key], other.figures[key]) for key in keys]
        apart = [max(a.values) < min(b.values) or max(b.values) < min(a.values) for a, b in pairs]
        return Table(
            {
                "figure": keys,
                self.name: [Quantity(a.median, a.unit) for a, _ in pairs],
                f"{other.name} ": [Quantity(b.median, b.unit) for _, b in pairs],
                "ratio": [b.median / a.median for a, b in pairs],
                "apart": ["yes" if each else "no" for each in apart],
            }
        )

    def save(self, path: str | Path) -> None:
        """Save the run with all samples as a JSON file."""
        stored = json.dumps(asdict(self), default=str, ensure_ascii=False)
        Path(path).write_text(stored, encoding="utf-8")

    def __repr__(self) -> str:
        peak, read = self.figures["peak fp32"].best, self.figures["read"].best
        found = f"{text(peak, 'FLOP/s')} in fp32, {text(read, 'B/s')} read"
        return breakable(f"<Run {self.name}: {found}>")

    _repr_markdown_ = markdown


def _span(ends: tuple[float, float], unit: str = "") -> str:
    return shown(np.array(ends), unit)


def load_run(path: str | Path) -> Run:
    """Load a saved run; raise an OSError or a ValueError if this version can't read it."""
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
        stored["host"] = Host(**stored["host"])
        stored["date"] = datetime.datetime.fromisoformat(stored["date"])
        for key, figure in stored["figures"].items():
            samples = tuple(Sample(*each) for each in figure.pop("samples"))
            stored["figures"][key] = Figure(**figure, samples=samples)
        return Run(**stored)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no run of this version: {error}") from error


@cache
def runs() -> dict[str, Run]:
    """Return the runs that come with roofmeter, by name."""
    return {path.parent.name: load_run(path) for path in sorted(RUNS.glob("*/run.json"))}
