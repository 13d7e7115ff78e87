"""What pictures of a roofline share: a chip in bf16, its zones, its slopes and its ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofkit.figure.controls import Choice
from roofkit.figure.options import OWN, bandwidths, names, peaks
from roofkit.pictures.blocks import (
    FAINT,
    INKED,
    SERIES_COLOURS,
    TINTS,
    LogScale,
    box,
    label,
    line,
    log_axes,
    quoted,
)
from roofkit.pictures.scene import Mark

FORMULAS: Mapping[str, str] = {
    "ceiling": "peak[chip]",
    "bandwidth": "hbm[chip]",
    "ridge": "ceiling / bandwidth",
    "reached": "min(ceiling, bandwidth * intensity)",
    "share": "reached / ceiling",
}
"""Of a chip and the control `intensity`: FLOP/s, bytes/s, FLOP/byte, FLOP/s and a fraction."""

OWN_TABLES = {"peak": "peak", "hbm": "bandwidth"}
TITLES = ("arithmetic intensity (FLOP/byte)", "attainable FLOP/s")


def chip_tables() -> dict[str, dict[str, float]]:
    """The tables that `FORMULAS` need, by chip."""
    return {"peak": peaks(), "hbm": bandwidths()}


def chip_choice() -> Choice:
    return Choice("chip", "chip", [*names(), OWN], "TPU v5e")


@dataclass(frozen=True)
class Plot:
    """Where intensities and FLOP/s lie in the picture."""

    x: LogScale
    y: LogScale

    def axes(self) -> list[Mark]:
        return log_axes(self.x, self.y, TITLES, ("", "FLOP/s"))

    def zone(
        self, left: str, right: str, tint: int, words: Sequence[str], room: int, top: bool = False
    ) -> list[Mark]:
        """The ground between two places, with its lines of words if it has `room` pixels."""
        wide, high = f"{right} - ({left})", f"{self.y.start} - {self.y.end}"
        marks = [box(left, self.y.end, wide, high, TINTS[tint], stroke_width=0)]
        for row, part in enumerate(words):
            at = f"{self.y.end} + {18 + 15 * row}" if top else f"{self.y.start} - {24 - 15 * row}"
            look = {"text_anchor": "'middle'", "shown": f"{wide} > {room}"}
            marks.append(label(f"(({left}) + {right}) / 2", at, quoted(part), **look))
        return marks

    def slope(self, bandwidth: str, series: int | None, **look: Any) -> Mark:
        """The line of a bandwidth, from where it enters the picture to its ridge.

        In the colour of a series, or without one of what stands behind. The ridge is that of the
        formula `ceiling`, unless another is named.
        """
        ceiling = look.pop("ceiling", "ceiling")
        first = f"max({self.x.low!r}, {self.y.low!r} / {bandwidth})"
        corner = f"min({self.x.high!r}, {ceiling} / {bandwidth})"
        (x1, y1), (x2, y2) = (
            (self.x.at(x), self.y.at(f"{x} * {bandwidth}")) for x in (first, corner)
        )
        return line(x1, y1, x2, y2, FAINT if series is None else SERIES_COLOURS[series], **look)

    def ceiling(self, start: str, width: float) -> list[Mark]:
        """The flat roof from an intensity to the right edge, and its name."""
        y = self.y.inside("ceiling")
        return [
            line(self.x.inside(start), y, self.x.end, y, INKED, stroke_width=width, name="ceiling"),
            label(self.x.end, f"{y} - 8", "'peak of ' + chip", text_anchor="'end'"),
        ]

    def upright(self, intensity: str) -> Mark:
        """A dotted line through an intensity."""
        x, look = self.x.inside(intensity), {"stroke_dasharray": "'2 3'", "stroke_width": 1}
        return line(x, self.y.end, x, self.y.start, FAINT, **look)
