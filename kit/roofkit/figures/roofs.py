"""Parts of rooflines that several figures share: zones, slopes and ceilings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from roofkit.figures.engine.axes import LogPlot
from roofkit.figures.engine.controls import Choice
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import named, quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    INKED,
    SERIES_COLORS,
    TINTS,
    box,
    label,
    line,
)
from roofkit.figures.options import OWN, bandwidths, names, own_names, peaks
from roofkit.words import _

FORMULAS: Mapping[str, str] = {
    "ceiling": "peak[chip]",
    "bandwidth": "hbm[chip]",
    "ridge": "rl.ridge(ceiling, bandwidth)",
    "reached": "rl.attainable(intensity, ceiling, bandwidth)",
    "share": "rl.fraction_at(intensity, ridge)",
}
"""Roofs of the chosen chip, and the rate and share of peak reached at `intensity`."""

OWN_TABLES = {"peak": "peak", "hbm": "bandwidth"}


def titles() -> tuple[str, str]:
    return _("arithmetic intensity (FLOP/byte)"), _("attainable FLOP/s")


def chip_tables() -> dict[str, dict[str, float]]:
    """Return the tables that `FORMULAS` need: peaks and HBM bandwidths by chip."""
    return {"peak": peaks(), "hbm": bandwidths()}


def chip_choice() -> Choice:
    return Choice("chip", _("chip"), [*names(), OWN], "TPU v5e", own_names())


@dataclass(frozen=True)
class RooflinePlot(LogPlot):
    """A plot of FLOP/s against intensity."""

    titles: tuple[str, str] = field(default_factory=titles)
    units: tuple[str, str] = ("", "FLOP/s")

    def zone(
        self, left: str, right: str, tint: int, words: Sequence[str], room: int, top: bool = False
    ) -> list[Mark]:
        """Fill the area between two x positions, labeled if wider than `room` pixels."""
        wide, high = f"{right} - ({left})", f"{self.y.start} - {self.y.end}"
        marks = [box(left, self.y.end, wide, high, TINTS[tint], stroke_width=0)]
        for row, part in enumerate(words):
            at = f"{self.y.end} + {18 + 15 * row}" if top else f"{self.y.start} - {24 - 15 * row}"
            look = {"text_anchor": "'middle'", "shown": f"{wide} > {room}"}
            marks.append(label(f"(({left}) + {right}) / 2", at, quoted(part), **look))
        return marks

    def slope(self, bandwidth: str, series: int | None, **look: Any) -> Mark:
        """Draw the line of a bandwidth, from where it enters the plot to its ridge.

        Without a series the line is gray. It ends at the height of the formula `ceiling`, unless
        `look` names another one as "ceiling".
        """
        ceiling = look.pop("ceiling", "ceiling")
        first = f"max({self.x.low}, {self.y.low} / {bandwidth})"
        corner = f"min({self.x.high}, {ceiling} / {bandwidth})"
        (x1, y1), (x2, y2) = (
            (self.x.at(x), self.y.at(f"{x} * {bandwidth}")) for x in (first, corner)
        )
        return line(x1, y1, x2, y2, FAINT if series is None else SERIES_COLORS[series], **look)

    def ceiling(
        self,
        start: str,
        width: float,
        words: str = "",
        ceiling: str = "ceiling",
    ) -> list[Mark]:
        """Draw the flat roof from an intensity to the right edge, and its name."""
        words = words or said(_("peak of {chip}"), chip=named("chip", own_names()))
        y = self.y.inside(ceiling)
        return [
            line(self.x.inside(start), y, self.x.end, y, INKED, stroke_width=width, name="ceiling"),
            label(self.x.end, f"{y} - 8", words, text_anchor="'end'"),
        ]

    def upright(self, intensity: str) -> Mark:
        """Draw a dotted vertical line at an intensity."""
        x, look = self.x.inside(intensity), {"stroke_dasharray": "'2 3'", "stroke_width": 1}
        return line(x, self.y.end, x, self.y.start, FAINT, **look)
