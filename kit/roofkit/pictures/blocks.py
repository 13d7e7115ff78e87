"""Building blocks of pictures: colours, labels, boxes, roads, grids of cells, logarithmic axes.

Places are formulas: text that may hold names of the figure, `wide` and `i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from roofkit.figure.colours import themed
from roofkit.pictures.scene import Formula, Mark, Shape
from rooflib.plots import GRID, INK, MUTED, SERIES, ZONES
from rooflib.units import text

SIZE = 12
"""Pixels of a letter: no smaller one is read on a phone."""


def quoted(words: str) -> str:
    """Words as a formula."""
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def colour(name: str) -> str:
    """A colour of the palette, which follows the page's theme, as a formula."""
    return quoted(themed(name))


INKED, FAINT, LINE = colour(INK), colour(MUTED), colour(GRID)
SERIES_COLOURS = tuple(map(colour, SERIES))
TINTS = tuple(map(colour, ZONES))


def label(x: Formula, y: Formula, words: str, **look: Any) -> Mark:
    """A line of text; `words` is a formula. `name`, `each`, `where` and `shown` are the mark's."""
    own = _of_the_mark(look)
    usual: dict[str, Formula] = {"fill": INKED, "font-size": SIZE}
    attributes = {key.replace("_", "-"): value for key, value in look.items()}
    return Mark("text", {"x": x, "y": y, "text": words, **usual, **attributes}, **own)


def box(x: Formula, y: Formula, width: Formula, height: Formula, fill: str, **look: Any) -> Mark:
    """A rectangle with a thin edge."""
    own = _of_the_mark(look)
    usual: dict[str, Formula] = {"fill": fill, "stroke": FAINT, "stroke-width": 1, "rx": 2}
    attributes = {key.replace("_", "-"): value for key, value in look.items()}
    place: dict[str, Formula] = {"x": x, "y": y, "width": width, "height": height}
    return Mark("rect", {**place, **usual, **attributes}, **own)


def line(
    x1: Formula, y1: Formula, x2: Formula, y2: Formula, stroke: str = FAINT, **look: Any
) -> Mark:
    """A straight line; with `head=True` it ends in an arrow's head."""
    own = _of_the_mark(look)
    shape: Shape = "arrow" if look.pop("head", False) else "line"
    attributes = {key.replace("_", "-"): value for key, value in look.items()}
    ends: dict[str, Formula] = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    usual: dict[str, Formula] = {"stroke": stroke, "stroke-width": 1.5}
    return Mark(shape, {**ends, **usual, **attributes}, **own)


def dot(x: Formula, y: Formula, fill: str, r: Formula = 5, **own: Any) -> Mark:
    return Mark("circle", {"cx": x, "cy": y, "r": r, "fill": fill}, **own)


def _of_the_mark(look: dict[str, Any]) -> dict[str, Any]:
    """Take out what belongs to the mark and not to its look."""
    return {key: look.pop(key) for key in ("name", "each", "where", "shown") if key in look}


@dataclass(frozen=True)
class LogScale:
    """Numbers from `low` to `high` on a logarithmic line from the place `start` to the place `end`.

    `low` and `high` are numbers; the places are formulas.
    """

    low: float
    high: float
    start: str
    end: str

    def at(self, number: Formula) -> str:
        """The formula of a number's place."""
        span = log10(self.high / self.low)
        share = f"(log10({number}) - {log10(self.low)!r}) / {span!r}"
        return f"(({self.start}) + (({self.end}) - ({self.start})) * {share})"

    def inside(self, number: Formula) -> str:
        """The same, with what lies beyond an end at that end."""
        return self.at(f"min({self.high!r}, max({self.low!r}, {number}))")

    def back(self, place: str) -> str:
        """The formula of the number at a place; beyond an end it is the number there."""
        span = log10(self.high / self.low)
        share = f"({place} - ({self.start})) / (({self.end}) - ({self.start}))"
        share = f"min(1, max(0, {share}))"
        return f"exp10({log10(self.low)!r} + {span!r} * {share})"

    @property
    def decades(self) -> list[float]:
        """The powers of ten from end to end."""
        first, last = log10(self.low), log10(self.high)
        return [float(f"1e{e}") for e in range(-30, 31) if first - 1e-9 <= e <= last + 1e-9]


def log_axes(
    x: LogScale, y: LogScale, titles: tuple[str, str], units: tuple[str, str] = ("", "")
) -> list[Mark]:
    """A frame for points: grid lines, numbers and titles; the words of both axes have units.

    Every second decade of the x axis has its number where there is no room for all.
    """
    bottom, left = y.start, x.start
    marks = []
    for at, number in enumerate(x.decades):
        place = x.at(repr(number))
        marks.append(line(place, y.end, place, bottom, LINE, stroke_width=0.6))
        roomy = 1 if at % 2 == 0 else f"({x.end}) - ({x.start}) > {42 * len(x.decades)}"
        words = quoted(text(number, units[0]))
        marks.append(label(place, f"{bottom} + 16", words, text_anchor="'middle'", shown=roomy))
    for number in y.decades:
        place = y.at(repr(number))
        marks.append(line(left, place, x.end, place, LINE, stroke_width=0.6))
        words = quoted(text(number, units[1]).replace("FLOP/s", "").replace("B/s", ""))
        marks.append(label(f"{left} - 5", f"{place} + 4", words, text_anchor="'end'"))
    middle = f"(({x.start}) + ({x.end})) / 2"
    marks.append(label(middle, f"{bottom} + 34", quoted(titles[0]), text_anchor="'middle'"))
    marks.append(label(0, f"{y.end} - 18", quoted(titles[1])))
    return marks


def steps_of(names: Sequence[str], at: str) -> str:
    """The formula of the name at a place of a list."""
    return f"at([{', '.join(map(quoted, names))}], {at})"
