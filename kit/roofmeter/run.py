"""A run: all measurements of one machine, with their provenance."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rooflib.catalog import as_chip
from rooflib.checks import one_of
from rooflib.hardware import Chip
from rooflib.quantities import shown, text
from rooflib.table import Table
from rooflib.work import Times
from roofmeter import run_files
from roofmeter.figures import Figure
from roofmeter.host import Host

PEAKS = ("fp32", "fp64")
STREAMS = ("read", "update")
ROOFS = ("peak fp32", "peak fp64", *STREAMS)
"""Required figures of a run."""
HOST_FIELDS = ("cpu", "present", "granted", "memory", "caches", "system")
PEAK_AGAIN = "peak again"
MAX_SPEEDUP_OVER_MEMORY = 1.25
"""Reads at most this many times as fast as memory are not served by a cache."""
MAX_DRIFT = 0.1
"""A larger change of the peak between start and end means that the clock frequency drifted."""


@dataclass(frozen=True)
class MeasuredOperation:
    """A measured operation and its bounds.

    Attributes
    ----------
    figure
        The measured time, in seconds.
    bounds
        Its bounds under the roofs of the run, with the overhead of a numpy call as a launch.
    ratio, ratios
        Measured time ÷ lower bound: of the best sample; and of the best and the slowest.
    position
        "above the roof": every sample is faster than the lower bound; "on the roof": the lower
        bound is between the best and the slowest sample; "between the bounds" or "slower than
        both": the position of the best sample.
    reason
        For an operation above the roof: its bytes fit in a cache, or fewer moved than counted.
    """

    figure: Figure
    bounds: Times
    position: str
    reason: str = ""

    @property
    def ratios(self) -> tuple[float, float]:
        """Measured time ÷ lower bound, of the best and of the slowest sample."""
        best, slowest = (each / float(self.bounds.lower) for each in self.figure.interval)
        return best, slowest

    @property
    def ratio(self) -> float:
        """Measured time ÷ lower bound, of the best sample."""
        return self.ratios[0]


@dataclass(frozen=True, repr=False)
class Run:
    """The result of `measure` on one machine.

    Attributes
    ----------
    host
        The machine that it ran on.
    date
        Start time, in UTC.
    seconds
        Duration.
    threads
        Threads that shared the work.
    figures
        Every figure by its key: "peak fp32", "peak fp64", "read", "update", "call", "peak again",
        "cache" and a size in bytes, and the operations.
    libraries
        Versions of the libraries, and the hash of roofmeter's own code ("script").
    left_out
        Keys of figures that were rejected or not reached in time, with the reason.
    protocol
        How samples were taken: the timer, the data, seconds of each part.
    reference_times
        Usual seconds per pass of each reference workload ("paces" in run files).

    A missing roof raises a ValueError.
    """

    host: Host
    date: datetime.datetime
    seconds: float
    threads: int
    figures: Mapping[str, Figure]
    libraries: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    reference_times: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in ROOFS:
            if key not in self.figures or self.figures[key].rejection:
                known = ", ".join(self.figures) or "none"
                raise ValueError(f"figures must have {', '.join(ROOFS)}; got {known}, no {key}")

    @property
    def name(self) -> str:
        """Machine name and date, for labels."""
        return f"{self.host.cpu}, {self.date:%Y-%m-%d}"

    @cached_property
    def chip(self) -> Chip:
        """The run as a chip: best figures, and the bandwidth of reading as HBM bandwidth."""
        return self.as_chip("read")

    def as_chip(self, roof: str = "read", of: str = "best") -> Chip:
        """Return the run as a chip with the bandwidth of one roof.

        `roof` is "read", "update" or "cache" with a size in bytes. `of` is "best" or "median": take
        the roofs at their best or at their typical values.
        """
        one_of("of", of, ("best", "median"))
        streams = [key for key, f in self.figures.items() if f.unit == "B/s"]
        one_of("roof", roof, streams)
        return Chip(
            name=self.name if roof == "read" else f"{self.name}, {roof}",
            rates={kind: getattr(self.figures[f"peak {kind}"], of) for kind in PEAKS}
            | {"HBM": getattr(self.figures[roof], of)},
            memory=self.host.memory,
        )

    @cached_property
    def staircase(self) -> Mapping[float, Figure]:
        """Measurements of repeated reads, by the total bytes of all threads' arrays."""
        stairs = [f for key, f in self.figures.items() if key.startswith("cache ")]
        return {figure.footprint: figure for figure in sorted(stairs, key=lambda f: f.footprint)}

    @property
    def caches_end(self) -> float:
        """Size in bytes from which arrays are read at memory speed; 0 if none was."""
        slow = MAX_SPEEDUP_OVER_MEMORY * self.figures["read"].best
        fast = [size for size, figure in self.staircase.items() if figure.median > slow]
        slower = [size for size in self.staircase if all(size > other for other in fast)]
        return min(slower, default=0.0)

    @property
    def drift(self) -> float:
        """Relative change of the fp32 peak during the run; 0 if not measured again."""
        again = self.figures.get(PEAK_AGAIN)
        return again.median / self.figures["peak fp32"].median - 1 if again else 0.0

    @property
    def warnings(self) -> list[str]:
        """Reasons to be careful with these figures; empty if there are none."""
        found = [f"{key}: left out, {why}" for key, why in self.left_out.items()]
        found += [
            f"{key}: not settled, its samples differ by {text(figure.spread, '%')}"
            for key, figure in self.figures.items()
            if not figure.settled
        ]
        if abs(self.drift) > MAX_DRIFT:
            found.append(
                f"the peak changed by {text(abs(self.drift), '%')}: the clock is not steady"
            )
        if self.staircase and self.caches_end == 0:
            found.append("read: no array was larger than the caches")
        return found

    @cached_property
    def operations(self) -> Mapping[str, MeasuredOperation]:
        """Each measured operation with its bounds under the roof that it names."""
        return {key: self._with_bounds(f) for key, f in self.figures.items() if f.operation}

    def _with_bounds(self, figure: Figure) -> MeasuredOperation:
        call = self.figures.get("call")
        roof = figure.roof
        if (
            roof not in self.figures
        ):  # No cache figure of exactly this size: use the next larger one.
            sizes = [s for s in self.staircase if s >= float(roof.removeprefix("cache "))]
            roof = f"cache {min(sizes):.0f}" if sizes else "read"
        chip = self.as_chip(roof)
        bounds = figure.counted.on(chip | {"launch": 1 / call.best} if call else chip)
        best, slowest = figure.interval
        if slowest < bounds.lower:
            cached = figure.footprint < self.caches_end
            reason = "a cache holds its bytes" if cached else "fewer bytes moved than were counted"
            return MeasuredOperation(figure, bounds, "above the roof", reason)
        if best <= bounds.lower:
            return MeasuredOperation(figure, bounds, "on the roof")
        return MeasuredOperation(
            figure, bounds, "between the bounds" if best <= bounds.upper else "slower than both"
        )

    @property
    def table(self) -> Table:
        """Table of all figures except operations: best, typical, range, sample counts."""
        return _table([f for f in self.figures.values() if not f.operation])

    @property
    def operations_table(self) -> Table:
        """Table of the operations: measured times, bounds, and their ratio."""
        operations = self.operations.values()
        return Table(
            {
                "operation": [each.figure.what for each in operations],
                "FLOP/B": [text(float(each.figure.counted.intensity)) for each in operations],
                "measured": [_span(each.figure.interval, each.figure.unit) for each in operations],
                "lower bound": [text(float(each.bounds.lower), "s") for each in operations],
                "upper bound": [text(float(each.bounds.upper), "s") for each in operations],
                "÷ lower": [_span(each.ratios) for each in operations],
                "position": [
                    each.position + (f": {each.reason}" if each.reason else "")
                    for each in operations
                ],
            }
        )

    def compare(self, other: Run) -> Table:
        """Compare measurements of two runs: ratio, and whether intervals are disjoint."""
        keys = [key for key in self.figures if key in other.figures]
        pairs = [(self.figures[key], other.figures[key]) for key in keys]
        return Table(
            {
                "figure": keys,
                self.name: [text(a.median, a.unit) for a, _ in pairs],
                f"{other.name} ": [text(b.median, b.unit) for _, b in pairs],
                "ratio": [text(b.median / a.median) for a, b in pairs],
                "apart": ["yes" if _disjoint(a, b) else "no" for a, b in pairs],
            }
        )

    def compare_with_sheet(self, sheet: str | Chip) -> Table:
        """Compare the measured roofs with a data sheet.

        `sheet` is a chip, or the name of one in the catalog. A peak is compared with that of the
        matrix units or, if the sheet has none in that type, of the vector units.
        """
        chip = as_chip(sheet)
        rates = {name.removeprefix("vector "): rate for name, rate in chip.rates.items()}
        promised = {f"peak {kind}": rate for kind, rate in {**rates, **chip.rates}.items()}
        promised |= dict.fromkeys(STREAMS, chip["HBM"])
        found = [(f, promised[key]) for key, f in self.figures.items() if key in promised]
        return Table(
            {
                "roof": [figure.key for figure, _ in found],
                chip.name: [text(value, figure.unit) for figure, value in found],
                "measured": [text(figure.median, figure.unit) for figure, _ in found],
                "spread": [text(figure.spread, "%") for figure, _ in found],
                "share": [text(figure.median / value, "%") for figure, value in found],
            }
        )

    def save(self, folder: str | Path) -> Path:
        """Save the run in `folder`: a TOML file, and a CSV file with all samples.

        The files are named like the folder.
        """
        tables: dict[str, Mapping[str, Any]] = {
            "run": {"date": self.date, "seconds": self.seconds, "threads": self.threads},
            "host": {name: getattr(self.host, name) for name in HOST_FIELDS},
            "libraries": self.libraries,
            "protocol": self.protocol,
            "left_out": self.left_out,
            "paces": self.reference_times,
        }
        return run_files.write(Path(folder), tables, self.figures.values())

    def __repr__(self) -> str:
        peak, read = self.figures["peak fp32"].best, self.figures["read"].best
        shown = f"{text(peak, 'FLOP/s')} in fp32, {text(read, 'B/s')} read"
        return f"<Run {self.name}: {shown}>".replace("\N{NO-BREAK SPACE}", " ")

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


def _table(figures: list[Figure]) -> Table:
    return Table(
        {
            "figure": [figure.key for figure in figures],
            "best": [text(figure.best, figure.unit) for figure in figures],
            "typical": [text(figure.median, figure.unit) for figure in figures],
            "smallest to largest": [_span(figure.interval, figure.unit) for figure in figures],
            "spread": [text(figure.spread, "%") for figure in figures],
            "samples": [f"{len(figure.values)} of {len(figure.samples)}" for figure in figures],
            "what ran": [figure.what for figure in figures],
        }
    )


def _span(ends: tuple[float, float], unit: str = "") -> str:
    return shown(np.array(ends), unit)


def _disjoint(a: Figure, b: Figure) -> bool:
    return a.interval[0] > b.interval[1] or b.interval[0] > a.interval[1]
