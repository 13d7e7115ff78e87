"""Marks of the timeline: a lane for HBM traffic, one for the compute units, and the bounds.

`timeline_picture` has the formulas of the times and says in which order the slices go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.shapes import (
    FAINT,
    INKED,
    LINE,
    SERIES_COLORS,
    box,
    label,
    line,
    quoted,
)

TALL = 30
ROAD, MATH, TAKES, AXIS = 68, 130, 190, 206  # y of both lanes, of the arrow and of the axis
HIGH = AXIS + 46


def x(seconds: str) -> str:
    """Return the place of a time; the upper bound is always at the right."""
    return f"14 + {long(seconds)}"


def long(seconds: str) -> str:
    """Return the length of a time in pixels."""
    return f"(wide - 38) * ({seconds}) / upper"


def begins(k: str) -> str:
    """Return when slice k is computed, while k - 1 is stored and k + 1 loaded; k counts from 0."""
    return f"(load + ({k} > 0) * max(load, math) + max(0, {k} - 1) * round)"


FETCHED = f"(i > 0) * ({begins('(i - 1)')} + (i > 1) * store)"
COMPUTED = begins("i")
FINAL = "(i == slices - 1)"
# The last slice is stored when it is computed and the one before it is stored.
STORED = f"either({FINAL}, {COMPUTED} + max(math, (slices > 1) * store), {begins('(i + 1)')})"
# Since when HBM is idle before slice i is stored, and the compute units before slice i is
# computed; the last wait of the compute units is for the end.
ROAD_IDLE = f"{COMPUTED} + (i > 0) * store + (1 - {FINAL}) * load"
MATH_IDLE = f"(i > 0) * ({begins('(i - 1)')} + math)"
MATH_BUSY = f"either(i < slices, {COMPUTED}, takes)"


def marks() -> Sequence[Mark]:
    # In gray a load is darker than a wait, and a store darker than a load.
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
        label(14, ROAD - 8, "'HBM: waits ' + percent(road_waits)"),
        label(14, MATH - 8, "'Compute: waits ' + percent(math_waits)"),
        *bound("lower", 34, "none"),
        *bound("upper", 16, "6 4"),
        line(x("0"), TAKES, x("takes"), TAKES, INKED, head=True, stroke_width=2, name="takes"),
        label(18, TAKES - 8, "'takes ' + text(takes, 's')", font_weight="'bold'"),
        *axis(),
        *key(14, "load", **load),
        *key(74, "store", **store),
        *key(140, "arithmetic", **math),
    ]


def bars(name: str, y: float, start: str, **look: Any) -> list[Mark]:
    """Draw a bar for each slice, as long as the formula `name`, with its number if there is room.

    Narrow bars have a thin edge; otherwise nothing but edges would be visible.
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
    """Draw idle time in a lane, from `start` to `end`: a lower strip with a word in it."""
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
        inside(y, "'waits'", "20", each, where),
    ]


def inside(y: float, words: str, half: str, each: str, where: Mapping[str, Formula]) -> Mark:
    """Write words in the middle of a bar, or left of the lower bound's line if that is there.

    `half` is half of their width with a margin, in pixels. Words without room are left out.
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


def bound(name: str, y: float, dashes: str) -> list[Mark]:
    """Draw the line of a bound down to the axis, with its name at the top."""
    words = f"'{name} bound ' + text({name}, 's')"
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
        label("wide - 24", AXIS + 38, "'time'", text_anchor="'end'"),
    ]
