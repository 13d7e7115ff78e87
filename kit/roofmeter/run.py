"""A run: everything that was measured on one machine, kept with where it comes from."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rooflib._arguments import one_of
from rooflib.bounds import Bounds, bound
from rooflib.catalogue import as_chip
from rooflib.hardware import Chip
from rooflib.table import Table
from rooflib.units import percent, span, text
from roofmeter.device import Device, data_sheet
from roofmeter.figures import Figure
from roofmeter.host import Host

PEAKS = ("fp32", "fp64")
STREAMS = ("read", "update")
ROOFS = ("peak fp32", "peak fp64", *STREAMS)
"""Without these there is no run; one of an accelerator has whatever peaks it has."""
AGAIN = "peak again"
FLAT = 1.25
"""From where on the staircase no cache helps: at most so many times the bandwidth of memory."""
STEADY = 0.1
"""A peak that differs by more between beginning and end means that the clock changed."""


@dataclass(frozen=True)
class Dot:
    """An operation that was measured, beside its bounds.

    Attributes
    ----------
    figure
        What was measured, in seconds.
    bounds
        What the roofs of the run allow: with the delay of a call as `launch`.
    ratio, ratios
        The best time in lower bounds, which stand for the best of the roofs; and best to slowest.
    side
        "above the roof": faster than the lower bound, by every sample; "on the roof": the bound
        lies within the samples; "between the bounds", or "slower than both", by the best sample.
    why
        For a dot above the roof: whether a cache holds its bytes, or the count must be wrong.
    """

    figure: Figure
    bounds: Bounds
    side: str
    why: str = ""

    @property
    def ratios(self) -> tuple[float, float]:
        best, slowest = (each / float(self.bounds.lower) for each in self.figure.interval)
        return best, slowest

    @property
    def ratio(self) -> float:
        return self.ratios[0]


@dataclass(frozen=True, repr=False)
class Run:
    """What `measure` or `measure_accelerator` found on one machine.

    Attributes
    ----------
    host
        The machine.
    date
        When it began, in UTC.
    seconds
        How long it took.
    threads
        Threads that shared the work.
    figures
        Every figure by its key: "peak fp32", "peak fp64", "read", "update", "call", "peak again",
        "cache" and a size in bytes, and the dots. Of an accelerator "peak" and "burst" of each data
        type, "read" and "update", and the dots.
    libraries
        Versions of what ran, and the hash of roofmeter's own code.
    left_out
        Keys of what was refused or not reached, and why.
    device
        The accelerator, or None where the processor was measured through numpy.
    protocol
        How samples were taken: the timer, the data, seconds of each part.
    paces
        Seconds of a pass of each gauge, as was usual in this run.

    A run without one of its roofs is a ValueError.
    """

    host: Host
    date: datetime.datetime
    seconds: float
    threads: int
    figures: Mapping[str, Figure]
    libraries: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    device: Device | None = None
    protocol: Mapping[str, Any] = field(default_factory=dict)
    paces: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        peaks = [f"peak {kind}" for kind in self.kinds] or ["peak"]
        for key in (*peaks, *STREAMS) if self.device else ROOFS:
            if key not in self.figures or self.figures[key].refused:
                known = ", ".join(self.figures) or "none"
                wanted = "a peak, read, update" if self.device else ", ".join(ROOFS)
                raise ValueError(f"figures must have {wanted}; got {known}, no {key}")

    @property
    def name(self) -> str:
        """The machine and the day, for labels."""
        return f"{self.device.name if self.device else self.host.cpu}, {self.date:%Y-%m-%d}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The data types that there are peaks for."""
        peaks = [key for key in self.figures if key.startswith("peak ") and key != AGAIN]
        return tuple(key.removeprefix("peak ") for key in peaks)

    @cached_property
    def chip(self) -> Chip:
        """The best figures as a chip; its memory is as fast as it is read."""
        return self.under("read")

    def under(self, roof: str = "read", of: str = "best") -> Chip:
        """The same with the bandwidth of "read", "update" or "cache" and a size in bytes.

        `of` is "best" or "median": the roofs at their best, or as they typically are.
        """
        one_of("of", of, ("best", "median"))
        streams = [key for key, f in self.figures.items() if f.unit == "B/s"]
        one_of("roof", roof, streams)
        return Chip(
            name=self.name if roof == "read" else f"{self.name}, {roof}",
            peaks={kind: getattr(self.figures[f"peak {kind}"], of) for kind in self.kinds},
            bandwidth=getattr(self.figures[roof], of),
            capacity=(self.device or self.host).memory,
        )

    @cached_property
    def staircase(self) -> Mapping[float, Figure]:
        """Bandwidth by the bytes that are read again and again, of all threads together."""
        stairs = [f for key, f in self.figures.items() if key.startswith("cache ")]
        return {figure.footprint: figure for figure in sorted(stairs, key=lambda f: f.footprint)}

    @property
    def caches_end(self) -> float:
        """Bytes from which on reading is about as slow as from main memory, on the staircase."""
        if self.device:  # What a device calls its cache holds no more than that.
            return self.device.cache
        slow = FLAT * self.figures["read"].best
        fast = [size for size, figure in self.staircase.items() if figure.median > slow]
        return min((size for size in self.staircase if size > max(fast, default=0)), default=0.0)

    @property
    def drift(self) -> float:
        """Change of the fp32 peak from the beginning to the end, as a share; 0 if not measured."""
        again = self.figures.get(AGAIN)
        return again.median / self.figures[f"peak {self.kinds[0]}"].median - 1 if again else 0.0

    @property
    def warnings(self) -> list[str]:
        """What to keep in mind with these figures; none is best."""
        found = [f"{key}: left out, {why}" for key, why in self.left_out.items()]
        found += [
            f"{key}: not settled, its samples differ by {percent(figure.spread)}"
            for key, figure in self.figures.items()
            if not figure.settled
        ]
        if abs(self.drift) > STEADY:
            found.append(f"the peak changed by {percent(abs(self.drift))}: the clock is not steady")
        if self.staircase and self.caches_end == 0:
            found.append("read: no array was larger than the caches")
        return found

    @cached_property
    def dots(self) -> Mapping[str, Dot]:
        """Every operation that was measured, against the roof that it names."""
        return {key: self._dot(f) for key, f in self.figures.items() if f.operation}

    def _dot(self, figure: Figure) -> Dot:
        call = self.figures.get("call")
        roof = figure.roof
        if roof not in self.figures:  # A cache of this very size was not measured: the next.
            sizes = [s for s in self.staircase if s >= float(roof.removeprefix("cache "))]
            roof = f"cache {min(sizes):.0f}" if sizes else "read"
        found = bound(figure.counted, self.under(roof), launch=call.best if call else 0)
        best, slowest = figure.interval
        if slowest < found.lower:
            cached = figure.footprint < self.caches_end
            why = "a cache holds its bytes" if cached else "fewer bytes moved than were counted"
            return Dot(figure, found, "above the roof", why)
        if best <= found.lower:
            return Dot(figure, found, "on the roof")
        return Dot(
            figure, found, "between the bounds" if best <= found.upper else "slower than both"
        )

    @property
    def table(self) -> Table:
        """The roofs: best, typical, smallest to largest, and how many samples these are."""
        return _table([f for f in self.figures.values() if not f.operation])

    @property
    def dots_table(self) -> Table:
        """The dots: measured, the bounds, and how far they are from the lower one."""
        dots = self.dots.values()
        return Table(
            {
                "operation": [dot.figure.what for dot in dots],
                "FLOP/B": [text(float(dot.figure.counted.intensity)) for dot in dots],
                "measured": [_span(dot.figure.interval, dot.figure.unit) for dot in dots],
                "lower bound": [text(float(dot.bounds.lower), "s") for dot in dots],
                "upper bound": [text(float(dot.bounds.upper), "s") for dot in dots],
                "÷ lower": [_span(dot.ratios) for dot in dots],
                "side": [dot.side + (f": {dot.why}" if dot.why else "") for dot in dots],
            }
        )

    def compare(self, other: Run) -> Table:
        """Each figure of both runs, how many times this one's the other's is, and whether more
        than their spread lies between them."""
        keys = [key for key in self.figures if key in other.figures]
        pairs = [(self.figures[key], other.figures[key]) for key in keys]
        return Table(
            {
                "figure": keys,
                self.name: [text(a.median, a.unit) for a, _ in pairs],
                f"{other.name} ": [text(b.median, b.unit) for _, b in pairs],
                "ratio": [text(b.median / a.median) for a, b in pairs],
                "apart": ["yes" if _apart(a, b) else "no" for a, b in pairs],
            }
        )

    @property
    def sheet(self) -> Chip | None:
        """The device's data sheet in the catalogue, None where it has none there."""
        return data_sheet(self.device.name) if self.device else None

    def beside(self, sheet: str | Chip) -> Table:
        """The roofs of this run beside those that a data sheet promises, and their shares of them.

        `sheet` is a chip, or the name of one in the catalogue. A peak is what the matrix units are
        to reach or, where the sheet has none in that type, the vector units.
        """
        chip = as_chip(sheet)
        promised = {f"peak {kind}": peak for kind, peak in {**chip.vector, **chip.peaks}.items()}
        promised |= {
            f"burst {kind}": promised[f"peak {kind}"]
            for kind in self.kinds
            if f"peak {kind}" in promised
        }
        promised |= dict.fromkeys(STREAMS, chip.bandwidth)
        found = [(f, promised[key]) for key, f in self.figures.items() if key in promised]
        return Table(
            {
                "roof": [figure.key for figure, _ in found],
                chip.name: [text(value, figure.unit) for figure, value in found],
                "measured": [text(figure.median, figure.unit) for figure, _ in found],
                "spread": [percent(figure.spread) for figure, _ in found],
                "share": [percent(figure.median / value) for figure, value in found],
            }
        )

    def save(self, folder: str | Path) -> Path:
        """Write a TOML file and a CSV of all samples into `folder`, named as it is."""
        from roofmeter import store

        return store.save(self, Path(folder))

    def __repr__(self) -> str:
        kind, read = self.kinds[0], self.figures["read"]
        peak = text(self.figures[f"peak {kind}"].best, "FLOP/s")
        shown = f"{peak} in {kind}, {text(read.best, 'B/s')} read"
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
            "spread": [percent(figure.spread) for figure in figures],
            "samples": [f"{len(figure.values)} of {len(figure.samples)}" for figure in figures],
            "what ran": [figure.what for figure in figures],
        }
    )


def _span(ends: tuple[float, float], unit: str = "") -> str:
    return span(np.array(ends), unit)


def _apart(a: Figure, b: Figure) -> bool:
    return a.interval[0] > b.interval[1] or b.interval[0] > a.interval[1]
