"""Marks of the units figure: squares to scale, and an axis with both ridges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from roofkit.figures.byte_marks import unit_name
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import named, quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    LINE,
    SERIES_COLORS,
    TINTS,
    box,
    dot,
    label,
    line,
)
from roofkit.words import _
from rooflib.quantities import text

# Pixels.
TOP, SIDE = 60, "min(0.5 * wide, 230)"
BOTTOM = f"({TOP} + {SIDE})"
"""Bottom of both squares."""
ROW = {"vector": f"({BOTTOM} + 96)", "matrix": f"({BOTTOM} + 138)"}
"""Vertical centers of the rows above the axis."""
AXIS = f"({BOTTOM} + 152)"
X = LogScale(0.1, 1e4, "88", "wide - 24")
HIGH = f"{AXIS} + 90"
BOLD = quoted("bold")


def marks(work_names: Mapping[str, str]) -> Sequence[Mark]:
    scale = _(
        "To scale within a chip: a square is a peak,\n"
        "the filled part is what the operation reaches."
    ).split("\n")
    work = said(
        _("{work}: {intensity}"),
        work=named("work", work_names),
        intensity="text(intensity, 'FLOP/byte')",
    )
    return [
        *_unit("matrix", "8", SIDE, "bf16", 0),
        *_unit("vector", f"({SIDE} + 36)", f"{SIDE} * sqrt(vector / matrix)", "fp32", 1),
        label(8, f"{BOTTOM} + 20", quoted(scale[0])),
        label(8, f"{BOTTOM} + 36", quoted(scale[1])),
        *_axis(),
        *_row("vector", 1),
        *_row("matrix", 0),
        dot(14, f"{BOTTOM} + 60", _worker(), name="key-dot"),
        label(26, f"{BOTTOM} + 64", work),
        dot(X.inside("intensity"), _of_worker(ROW["vector"], ROW["matrix"]), _worker(), name="dot"),
    ]


def _of_worker(vector: str, matrix: str) -> str:
    return f"either(on_matrix, {matrix}, {vector})"


def _worker() -> str:
    return _of_worker(SERIES_COLORS[1], SERIES_COLORS[0])


def _unit(unit: str, x: str, side: str, kind: str, series: int) -> list[Mark]:
    """Draw a square for a unit's peak, filled from below by the share it is busy."""
    filled = f"{side} * {unit}_busy"
    some = said(_("{share} busy"), share=f"percent({unit}_busy)")
    none = quoted(_("no part in it"))
    busy = f"either({unit}_busy > 0, {some}, {none})"
    top = f"{BOTTOM} - {side}"
    fill = SERIES_COLORS[series]
    look: dict[str, Formula] = {"stroke_width": 0, "rx": 0, "shown": f"{unit}_busy > 0"}
    return [
        box(x, top, side, side, TINTS[3], rx=0, name=f"peak-{unit}"),
        box(x, f"{BOTTOM} - {filled}", side, filled, fill, name=f"busy-{unit}", **look),
        label(x, f"{top} - 40", quoted(unit_name(unit)), font_weight=BOLD),
        label(x, f"{top} - 24", f"text({unit}, 'FLOP/s') + {quoted(' ' + kind)}"),
        label(x, f"{top} - 8", busy, name=f"words-{unit}"),
    ]


def _row(unit: str, series: int) -> list[Mark]:
    """Draw the ranges of intensities below and above the unit's ridge."""
    y, ridge, high = ROW[unit], X.inside(f"{unit}_ridge"), 14
    top = f"{y} - {high / 2}"
    ridge_is = said(_("ridge {ridge}"), ridge=f"text({unit}_ridge)")
    return [
        box(X.start, top, f"{ridge} - {X.start}", high, TINTS[0], rx=0, name=f"waits-{unit}"),
        box(ridge, top, f"{X.end} - {ridge}", high, TINTS[2], rx=0, name=f"kept-{unit}"),
        line(ridge, f"{y} - 10", ridge, f"{y} + 7", SERIES_COLORS[series], stroke_width=2.5),
        label(ridge, f"{y} - 14", ridge_is, text_anchor="'middle'"),
        label(8, f"{y} + 4", quoted(unit_name(unit))),
    ]


def _axis() -> list[Mark]:
    """Draw the axis of intensities, and explain the colors of the rows."""
    found = []
    for at, number in enumerate(X.decades):
        x = X.at(repr(number))
        # If there is no room for all numbers, show every second one.
        roomy = 1 if at % 2 == 0 else f"wide > {112 + 44 * len(X.decades)}"
        words = quoted(text(number))
        found += [
            line(x, f"{ROW['vector']} - 7", x, AXIS, LINE, stroke_width=0.6),
            label(x, f"{AXIS} + 14", words, text_anchor="'middle'", shown=roomy),
        ]
    upper, lower = f"({AXIS} + 58)", f"({AXIS} + 76)"
    return [
        *found,
        line(X.start, AXIS, X.end, AXIS, FAINT, stroke_width=1),
        label(X.end, f"{AXIS} + 33", quoted(_("intensity (FLOP/byte)")), text_anchor="'end'"),
        box(8, f"{upper} - 10", 16, 11, TINTS[0], rx=0),
        label(30, upper, quoted(_("left of the ridge: waits for bytes"))),
        box(8, f"{lower} - 10", 16, 11, TINTS[2], rx=0),
        label(30, lower, quoted(_("right of it: can be kept busy"))),
    ]
