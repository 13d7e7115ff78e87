"""Shapes of scenes: labels, boxes, lines, dots and curves.

Positions are formulas, which may use the figure's names, `wide` and `i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roofkit.figures.engine.colors import themed
from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark, Shape
from roofkit.figures.engine.sentences import quoted
from rooflib.plots import GRID, INK, MUTED, SERIES, ZONES

SIZE = 12
"""Font size in pixels; smaller text would be illegible on a phone."""


def color(name: str) -> str:
    """Return a formula for a palette color that follows the page's theme."""
    return quoted(themed(name))


INKED, FAINT, LINE = color(INK), color(MUTED), color(GRID)
SERIES_COLORS = tuple(map(color, SERIES))
TINTS = tuple(map(color, ZONES))
DASHES = ("'none'", "'6 3'", "'2 2'")
"""Dash patterns of curves, so that they can be told apart in grayscale."""


MARK_FIELDS = ("name", "each", "where", "shown", "clip")


def label(x: Formula, y: Formula, words: str, **look: Any) -> Mark:
    """Make a line of text; `words` is a formula, and `look` may contain MARK_FIELDS."""
    usual: dict[str, Formula] = {"fill": INKED, "font-size": SIZE}
    return _mark("text", {"x": x, "y": y, "text": words, **usual}, look)


def box(x: Formula, y: Formula, width: Formula, height: Formula, fill: str, **look: Any) -> Mark:
    """Make a rectangle with a thin edge."""
    place: dict[str, Formula] = {"x": x, "y": y, "width": width, "height": height}
    usual: dict[str, Formula] = {"fill": fill, "stroke": FAINT, "stroke-width": 1, "rx": 2}
    return _mark("rect", {**place, **usual}, look)


def line(
    x1: Formula, y1: Formula, x2: Formula, y2: Formula, stroke: str = FAINT, **look: Any
) -> Mark:
    """Make a straight line; with `head=True` it ends in an arrowhead."""
    shape: Shape = "arrow" if look.pop("head", False) else "line"
    ends: dict[str, Formula] = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    usual: dict[str, Formula] = {"stroke": stroke, "stroke-width": 1.5}
    return _mark(shape, {**ends, **usual}, look)


def dot(x: Formula, y: Formula, fill: str, r: Formula = 5, **look: Any) -> Mark:
    """Make a filled circle."""
    return _mark("circle", {"cx": x, "cy": y, "r": r, "fill": fill}, look)


def curve(x: Formula, y: Formula, stroke: str, points: int, **look: Any) -> Mark:
    """Make a line through `points` points; x and y are formulas of `i`."""
    usual: dict[str, Formula] = {"stroke": stroke, "stroke-width": 2}
    return _mark("curve", {"x": x, "y": y, **usual}, {**look, "each": points})


def _mark(shape: Shape, usual: dict[str, Formula], look: dict[str, Any]) -> Mark:
    fields = {key: look[key] for key in MARK_FIELDS if key in look}
    attributes = {k.replace("_", "-"): v for k, v in look.items() if k not in MARK_FIELDS}
    return Mark(shape, usual | attributes, **fields)


def steps_of(names: Sequence[str], at: str) -> str:
    """Return a formula for the element of `names` at the index formula `at`."""
    return f"at([{', '.join(map(quoted, names))}], {at})"
