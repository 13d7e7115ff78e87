"""Upper part of the blocks figure: the three arrays, with all sides on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import INKED, SERIES_COLORS, TINTS, box, dot, label, line
from roofkit.words import _

TOP, LEFT, GAP, RIGHT = 24, 74, 30, 10
ROOM = "min(220, wide / 2)"
"""Pixels for the height of the rectangles and the gap between them."""
PLACE: dict[str, Formula] = {
    "pixel": f"min((wide - {LEFT + GAP + RIGHT}) / (D + F), ({ROOM} - {GAP}) / (D + B))",
    "low": "B * pixel",
    "long": "D * pixel",
    "broad": "F * pixel",
    "x_left": f"{LEFT} + (wide - {LEFT + GAP + RIGHT} - long - broad) / 2",
    "w_left": f"x_left + long + {GAP}",
    "w_top": f"{TOP} + ({ROOM} - {GAP} - long - low) / 2",
    "x_top": f"w_top + long + {GAP}",
    # The highlighted element: away from the edges, with the same indices in every array.
    "row": "x_top + 0.35 * low",
    "deep": "0.7",
    "column": "w_left + 0.8 * broad",
}
"""Positions of the rectangles and pixels per element, for every mark of the upper part."""
BASE = f"({TOP} + {ROOM} + 40)"
"""Top of the lower part."""


def rectangles() -> Sequence[Mark]:
    return [*_rectangles(), *_names(), *_highlighted(), *_scale_bar()]


def _rectangles() -> list[Mark]:
    """Draw the three arrays to scale; very short sides show only their edge."""
    edge: dict[str, Any] = {"rx": 0, "stroke": INKED, "where": PLACE}
    dashed = {"stroke_dasharray": "'5 3'"}
    return [
        box("x_left", "x_top", "long", "low", TINTS[3], name="x", **edge),
        box("w_left", "w_top", "broad", "long", TINTS[1], name="w", **edge),
        # The output matrix has a dashed edge.
        box("w_left", "x_top", "broad", "low", TINTS[2], name="out", **edge, **dashed),
    ]


def _names() -> list[Mark]:
    # The label of a narrow matrix w starts at its left edge; near the picture's right border, it
    # ends at its right edge.
    near = "either(broad > 76, {}, either(w_left + 80 < wide, {}, {}))"
    at = near.format("w_left + broad / 2", "w_left", "w_left + broad")
    over: dict[str, Any] = {"text_anchor": near.format("'middle'", "'start'", "'end'")}
    before: dict[str, Any] = {"text_anchor": "'end'", "where": PLACE}
    over["where"] = PLACE
    gap, x = f"x_top - {GAP / 2 - 4}", "x_left + long / 2"
    return [
        label(at, "w_top - 7", "'w[D, F]'", **over),
        label(at, gap, "'F = ' + text(F)", **over),
        label(at, "x_top + low + 16", "'out[B, F]'", **over),
        label("w_left - 7", "w_top + long / 2 + 4", "'D = ' + text(D)", **before),
        label(x, gap, "'D'", text_anchor="'middle'", where=PLACE),
        label("x_left - 7", "x_top + low / 2 - 3", "'x[B, D]'", **before),
        label("x_left - 7", "x_top + low / 2 + 12", "'B = ' + text(B)", **before),
    ]


def _highlighted() -> list[Mark]:
    """Draw the highlighted element, the rows or columns it meets or (dashed) adds to."""
    across = {
        "x": ("x_left", "row", "x_left + long", "row"),
        "w": ("w_left", "w_top + deep * long", "w_left + broad", "w_top + deep * long"),
        "out": ("w_left", "row", "w_left + broad", "row"),
    }
    down = {
        "x": ("x_left + deep * long", "x_top", "x_left + deep * long", "x_top + low"),
        "w": ("column", "w_top", "column", "w_top + long"),
        "out": ("column", "x_top", "column", "x_top + low"),
    }
    lines = [("x", "w", across, 0), ("x", "out", across, 1), ("w", "x", down, 0)]
    lines += [("w", "out", down, 1), ("out", "x", across, 0), ("out", "w", down, 0)]
    places = {
        "x": ("x_left + deep * long", "row"),
        "w": ("column", "w_top + deep * long"),
        "out": ("column", "row"),
    }
    look: dict[str, Any] = {"stroke_width": 2.5, "where": PLACE}
    drawn = []
    for one, over, way, adds in lines:
        name, dash = (f"adds-{over}", "3 3") if adds else (f"meets-{over}", "none")
        look |= {"stroke_dasharray": quoted(dash), "shown": f"one == '{one}'"}
        drawn.append(line(*way[over], SERIES_COLORS[1], name=name, **look))
    for one, (x, y) in places.items():
        shown = f"one == '{one}'"
        drawn.append(dot(x, y, INKED, 4, shown=shown, where=PLACE, name=f"one-{one}"))
    return drawn


def _scale_bar() -> list[Mark]:
    """Draw a bar as long as a round number of elements."""
    where = {**PLACE, "round": "exp10(floor(log10(80 / pixel)))", "end": "10 + round * pixel"}
    y = f"{BASE} - 2"
    words = said(_("{count} elements, all sides to scale"), count="text(round)")
    return [
        line(10, f"{y} - 4", "end", f"{y} - 4", INKED, stroke_width=3, where=where, name="bar"),
        label("end + 6", y, words, where=where),
    ]
