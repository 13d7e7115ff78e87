"""Marks of the timeline: lanes for HBM and for the compute units, and bounds.

`timeline_figure` has the formulas of the times, and explains the order of loads and stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    INKED,
    LINE,
    SERIES_COLORS,
    box,
    label,
    line,
)
from roofkit.words import _

TALL = 30
ROAD, MATH, TAKES, AXIS = 68, 130, 190, 206  # y of both lanes, of the arrow and of the axis
HIGH = AXIS + 46


def x(seconds: str) -> str:
    """Return the formula of the x position of a time."""
    return f"14 + {long(seconds)}"


def long(seconds: str) -> str:
    """Return the formula of the length of a time in pixels."""
    return f"(wide - 38) * ({seconds}) / upper"


def begins(k: str) -> str:
    """Return the formula of the start time of slice k's arithmetic, from k = 0.

    Meanwhile slice k - 1 is stored and k + 1 is loaded.
    """
    return f"(load + ({k} > 0) * max(load, math) + max(0, {k} - 1) * round)"


FETCHED = f"(i > 0) * ({begins('(i - 1)')} + (i > 1) * store)"
COMPUTED = begins("i")
FINAL = "(i == slices - 1)"
# The last slice is stored once it is computed and the previous slice is stored.
STORED = f"either({FINAL}, {COMPUTED} + max(math, (slices > 1) * store), {begins('(i + 1)')})"
# Start times of idle periods: of HBM before it stores slice i, and of the compute units before they
# compute slice i. Their last idle period lasts until the end.
ROAD_IDLE = f"{COMPUTED} + (i > 0) * store + (1 - {FINAL}) * load"
MATH_IDLE = f"(i > 0) * ({begins('(i - 1)')} + math)"
MATH_BUSY = f"either(i < slices, {COMPUTED}, takes)"


def marks() -> Sequence[Mark]:
    # Opacities that can be told apart in grayscale: stores are darker than loads, loads than waits.
    load, store, math = (
        {"fill": color, "stroke": color, "fill_opacity": opacity}
        for color, opacity in zip(SERIES_COLORS[:3], (0.25, 0.6, 0.35), strict=True)
    )
    return [
        *waits("road-waits", ROAD, "slices", ROAD_IDLE, STORED),
        *waits("math-waits", MATH, "slices + 1", MATH_IDLE, MATH_BUSY),
        *bars("load", ROAD, FETCHED, **load),
        *bars("store", ROAD, STORED, **store),
        *bars("math", MATH, COMPUTED, **math),
        label(14, ROAD - 8, said(_("HBM: waits {share}"), share="percent(road_waits)")),
        label(14, MATH - 8, said(_("Compute: waits {share}"), share="percent(math_waits)")),
        *bound("lower", _("lower bound {time}"), 34, "none"),
        *bound("upper", _("upper bound {time}"), 16, "6 4"),
        line(x("0"), TAKES, x("takes"), TAKES, INKED, head=True, stroke_width=2, name="takes"),
        label(
            18, TAKES - 8, said(_("takes {time}"), time="text(takes, 's')"), font_weight="'bold'"
        ),
        *axis(),
        *key(14, _("load"), **load),
        *key(74, _("store"), **store),
        *key(140, _("arithmetic"), **math),
    ]


def bars(name: str, y: float, start: str, **look: Any) -> list[Mark]:
    """Draw a numbered bar for each slice; the formula `name` gives its duration.

    Narrow bars have no number, and a thin edge: otherwise only their edges would be visible.
    """
    where = {"left": x(start), "broad": long(name)}
    edge = "either(broad > 4, 1, 0.4)"
    return [
        box(
            "left",
            y,
            "broad",
            TALL,
            each="slices",
            where=where,
            name=name,
            rx=0,
            stroke_width=edge,
            **look,
        ),
        inside(y, "text(i + 1)", "either(i < 9, 7, 11)", "slices", where),
    ]


def waits(name: str, y: float, each: str, start: str, end: str) -> list[Mark]:
    """Draw idle time in a lane, from `start` to `end`, as a flatter labeled strip."""
    where = {"left": x(start), "broad": f"{x(end)} - left"}
    return [
        box(
            "left",
            y + 4,
            "broad",
            TALL - 8,
            LINE,
            each=each,
            where=where,
            name=name,
            rx=0,
            stroke_width=0,
            fill_opacity=0.7,
            shown="broad > 0.01",
        ),
        inside(y, quoted(_("waits")), "20", each, where),
    ]


def inside(y: float, words: str, half: str, each: str, where: Mapping[str, Formula]) -> Mark:
    """Label a bar in its middle, or left of the lower bound's line if they overlap.

    half: half the label's width with a margin, in pixels. Labels that don't fit are left out.
    """
    middle = "left + broad / 2"
    beside = f"either(abs({middle} - ({x('lower')})) < {half}, {x('lower')} - {half}, {middle})"
    return label(
        "middle",
        y + TALL / 2 + 4,
        words,
        text_anchor="'middle'",
        each=each,
        where={**where, "middle": beside},
        shown=f"middle - {half} > left",
    )


def key(left: float, words: str, **look: Any) -> list[Mark]:
    """Draw an entry of the key."""
    return [box(left, AXIS + 28, 12, 12, **look), label(left + 17, AXIS + 38, quoted(words))]


def bound(name: str, sentence: str, y: float, dashes: str) -> list[Mark]:
    """Draw the vertical line of a bound, with its name at the top."""
    words = said(sentence, time=f"text({name}, 's')")
    look = {"stroke_width": 2, "stroke_dasharray": quoted(dashes), "name": name}
    return [
        line(x(name), y + 5, x(name), AXIS, INKED, **look),
        label(f"{x(name)} + 4", y, words, text_anchor="'end'"),
    ]


def axis() -> list[Mark]:
    each, place = "floor(upper / tick) + 1", x("i * tick")
    number = {"text_anchor": "'middle'", "each": each, "name": "tick"}
    return [
        line(x("0"), AXIS, "wide - 12", AXIS, FAINT, head=True),
        line(place, AXIS, place, AXIS + 5, FAINT, each=each),
        label(place, AXIS + 19, "text(i * tick, 's')", **number),
        label("wide - 24", AXIS + 38, quoted(_("time")), text_anchor="'end'"),
    ]
