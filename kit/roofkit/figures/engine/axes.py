"""Scales and axes of plots; positions are formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted
from roofkit.figures.engine.shapes import LINE, curve, label, line
from rooflib.quantities import text


@dataclass(frozen=True)
class LogScale:
    """A log scale: numbers from `low` to `high` at positions `start` to `end`.

    All four are formulas; `low` and `high` may be numbers.
    """

    low: Formula
    high: Formula
    start: str
    end: str

    @property
    def _low_log(self) -> str:
        return f"log10({self.low})" if isinstance(self.low, str) else repr(log10(self.low))

    @property
    def _span(self) -> str:
        if isinstance(self.low, str) or isinstance(self.high, str):
            return f"log10(({self.high}) / ({self.low}))"
        return repr(log10(self.high / self.low))

    def at(self, number: Formula) -> str:
        """Return the formula of a number's position."""
        share = f"(log10({number}) - {self._low_log}) / {self._span}"
        return f"(({self.start}) + (({self.end}) - ({self.start})) * {share})"

    def inside(self, number: Formula) -> str:
        """Return the formula of a number's position, clamped to the ends of the scale."""
        return self.at(f"min({self.high}, max({self.low}, {number}))")

    def back(self, place: str) -> str:
        """Return the formula of the number at a position, clamped to the scale."""
        share = f"({place} - ({self.start})) / (({self.end}) - ({self.start}))"
        share = f"min(1, max(0, {share}))"
        return f"exp10({self._low_log} + {self._span} * {share})"

    def step(self, points: int) -> str:
        """Return the formula of number `i` of `points`, evenly spaced on the scale."""
        return f"exp10({self._low_log} + {self._span} * i / {points - 1})"

    @property
    def decades(self) -> list[float]:
        """The powers of ten on the scale, whose `low` and `high` must be numbers."""
        powers = [float(f"1e{e}") for e in range(-30, 31)]
        return [power for power in powers if float(self.low) <= power <= float(self.high)]


@dataclass(frozen=True)
class LogPlot:
    """A plot with logarithmic axes.

    Attributes
    ----------
    titles, units
        For the x axis and the y axis. Tick labels include units of time; other units belong in
        the title, and tick labels only have their prefix.
    ticks
        Numbers on the x axis, by default the powers of ten.
    tick_room
        Pixels that each of these numbers needs.
    """

    x: LogScale
    y: LogScale
    titles: tuple[str, str]
    units: tuple[str, str] = ("", "")
    ticks: Sequence[float] = ()
    tick_room: int = 42

    @property
    def clip(self) -> tuple[Formula, ...]:
        """The plot's area, for a mark's `clip`."""
        wide, high = f"{self.x.end} - ({self.x.start})", f"{self.y.start} - ({self.y.end})"
        return (self.x.start, self.y.end, wide, high)

    def curve(self, x: str, y: str, stroke: str, points: int, **look: Any) -> Mark:
        """Make a curve, clipped to the plot's area; x and y are formulas of `i`."""
        return curve(self.x.at(x), self.y.at(y), stroke, points, clip=self.clip, **look)

    def axes(self) -> list[Mark]:
        """Make grid lines, numbers and titles.

        If there is no room for all numbers on the x axis, every second one is left out.
        """
        return [*self._x_axis(), *self._y_axis(), *self._titles()]

    def _x_axis(self) -> list[Mark]:
        if isinstance(self.x.low, str):
            return self._moving_x_axis()
        marks = []
        ticks = self.ticks or self.x.decades
        for at, number in enumerate(ticks):
            place = self.x.at(repr(number))
            room = f"({self.x.end}) - ({self.x.start}) > {self.tick_room * len(ticks)}"
            marks.append(line(place, self.y.end, place, self.y.start, LINE, stroke_width=0.6))
            marks.append(
                label(
                    place,
                    f"{self.y.start} + 16",
                    quoted(text(number, self.units[0])),
                    text_anchor="'middle'",
                    shown=room if at % 2 else 1,
                )
            )
        return marks

    def _y_axis(self) -> list[Mark]:
        if isinstance(self.y.low, str):
            return self._moving_y_axis()
        marks = []
        for number in self.y.decades:
            place = self.y.at(repr(number))
            words = text(number, self.units[1])
            if self.units[1] != "s":
                words = words.removesuffix(self.units[1])
            marks.append(line(self.x.start, place, self.x.end, place, LINE, stroke_width=0.6))
            look = {"text_anchor": "'end'"}
            marks.append(label(f"{self.x.start} - 5", f"{place} + 4", quoted(words), **look))
        return marks

    def _moving_axis(self, axis: LogScale, unit: str, room: int) -> tuple[str, dict[str, Any]]:
        """Return the formula of tick labels and their loop, for an axis with moving ends.

        The ends are formulas. Ticks are powers of ten, and 3, or 2 and 5, times these if there are
        `room` pixels for each. If there is no room for all powers of ten, every second one is left
        out.
        """
        first, last = f"floor(log10({axis.low}))", f"floor(log10({axis.high}))"
        decade = f"abs({axis.end} - ({axis.start})) / log10(({axis.high}) / ({axis.low}))"
        where = {
            "decade": decade,
            "one": f"either(decade > {room}, 1, 1 - mod({first} + floor(i / 4), 2))",
            "two": f"1 * (0.301 * decade > {room})",
            "three": f"(1 - two) * (0.477 * decade > {room})",
            "number": f"exp10({first} + floor(i / 4)) * at([1, 2, 3, 5], mod(i, 4))",
            "place": axis.at("number"),
        }
        inside = f"(number >= {axis.low}) * (number <= {axis.high})"
        shown = f"{inside} * at([one, two, three, two], mod(i, 4))"
        loop = {"each": f"4 * ({last} - {first} + 1)", "where": where, "shown": shown}
        return f"text(number, {quoted(unit)})", loop

    def _moving_x_axis(self) -> list[Mark]:
        words, loop = self._moving_axis(self.x, self.units[0], self.tick_room)
        return [
            line("place", self.y.end, "place", self.y.start, LINE, stroke_width=0.6, **loop),
            label("place", f"{self.y.start} + 16", words, text_anchor="'middle'", **loop),
        ]

    def _moving_y_axis(self) -> list[Mark]:
        words, loop = self._moving_axis(self.y, self.units[1], 18)
        return [
            line(self.x.start, "place", self.x.end, "place", LINE, stroke_width=0.6, **loop),
            label(f"{self.x.start} - 5", "place + 4", words, text_anchor="'end'", **loop),
        ]

    def _titles(self) -> list[Mark]:
        middle = f"(({self.x.start}) + ({self.x.end})) / 2"
        across, up = map(quoted, self.titles)
        return [
            label(middle, f"{self.y.start} + 34", across, text_anchor="'middle'"),
            label(0, f"{self.y.end} - 18", up),
        ]
