"""The roof of the reader's own browser, measured when they press, over a stored run's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roofkit.figure.controls import Number
from roofkit.pictures.blocks import FAINT, INKED, SERIES_COLOURS, LogScale, dot, label, line
from roofkit.pictures.picture import Picture
from roofkit.pictures.roofs import Plot
from roofkit.pictures.scene import Mark
from rooflib import Chip

ROOFS = ("peak", "read", "update", "copy", "nearest")
TOLD = ("seconds", "workers", "by", "memory")
FORMULAS = {
    "problem": "why",
    **{name: f"found['{name}']" for name in ROOFS},
    "ridge": "peak / read",
    **{name: f"told['{name}']" for name in TOLD},
    "cooled": "either(drift < -0.05, 'At the end the peak was ' + percent(-drift) + ' lower:"
    " the machine slowed down.', '')",
}
NOT_YET = "Not measured here yet."
GREY = " In grey stands the roof of the run on this page, which numpy found."
# What site/browser_roof/roof-panel.js sets, as it is before a measurement.
BEFORE: dict[str, Any] = {
    "why": NOT_YET,
    "measured": 0,
    "drift": 0,
    "found": dict.fromkeys(ROOFS, 0),
    "told": dict.fromkeys(TOLD, ""),
    **{
        f"{family}_{what}": []
        for family in ("thin", "step")
        for what in ("at", "worst", "median", "best", "name")
    },
    "thin_count": 0,
    "step_count": 0,
}
HIGH = 340
X = LogScale(0.1, 100, "42", "wide - 26")
Y = LogScale(1e8, 1e13, str(HIGH - 44), "32")


def browser_roof(chip: Chip | None = None) -> Picture:
    """Draw the measured roof of a browser with dots below it, in front of a chip's roof.

    Parameters
    ----------
    chip
        The roof in the background, as a run of numpy found it; without one there is none.
    """
    stored: dict[str, Any] = {"stored_peak": 0.0, "stored_read": 0.0}
    if chip:
        stored = {"stored_peak": chip.peak("fp32"), "stored_read": chip.bandwidth}
        stored |= {"why": NOT_YET + GREY}
    return Picture(
        name="browser-roof",
        title="Press, and measure the roof of the browser that shows you this page",
        controls=[],
        measures=True,
        given=BEFORE | stored,
        formulas=FORMULAS,
        numbers=[
            Number("peak", "peak, fp32", "FLOP/s"),
            Number("read", "memory, read", "B/s"),
            Number("update", "memory, updated", "B/s"),
            Number("copy", "memory, copied", "B/s"),
            Number("nearest", "nearest cache, read", "B/s"),
            Number("ridge", "ridge point", "FLOP/byte"),
        ],
        says=(
            "This is the roof of this browser on this machine, not the machine’s. It was found in "
            "{seconds} by {workers} with {by}, four numbers at a time, and {memory} of memory "
            "each: {peak} at best, {read} read from memory, and a ridge point of {ridge}. {cooled}"
        ),
        height=HIGH,
        marks=marks,
    )


def marks() -> Sequence[Mark]:
    plot = Plot(X, Y)
    thin: dict[str, Any] = {"shown": "measured"}
    top, corner = Y.inside("peak"), X.inside("peak / read")
    stored_top, stored_corner = Y.inside("stored_peak"), X.inside("stored_peak / stored_read")
    behind: dict[str, Any] = {"shown": "stored_peak > 0"}
    dashed = {"stroke_dasharray": "'6 3'", "stroke_width": 1.5, **behind}
    end = "'end'"
    # Names stand over their lines; of two that lie close together one stands below.
    near = f"(abs({stored_top} - {top}) < 20)"
    return [
        *plot.axes(),
        plot.slope("stored_read", None, ceiling="stored_peak", name="stored-slope", **dashed),
        line(stored_corner, stored_top, X.end, stored_top, FAINT, name="stored-ceiling", **dashed),
        label(
            X.end,
            f"{stored_top} + either({near} * (stored_peak < peak), 16, -7)",
            "'numpy, the run above'",
            fill=FAINT,
            text_anchor=end,
            **behind,
        ),
        plot.slope("read", 0, ceiling="peak", stroke_width=2.5, name="slope", **thin),
        line(corner, top, X.end, top, INKED, stroke_width=2.5, name="ceiling", **thin),
        label(
            X.end,
            f"{top} + either({near} * (stored_peak >= peak), 18, -8)",
            "'this browser'",
            text_anchor=end,
            **thin,
        ),
        *family("thin", 1),
        *family("step", 2),
        *names(),
    ]


def family(name: str, series: int) -> list[Mark]:
    """Dots with bars from the slowest to the fastest sample."""
    colour, each = SERIES_COLOURS[series], f"{name}_count"
    x, worst, median, best = (place(name, what) for what in ("at", "worst", "median", "best"))
    return [
        line(x, worst, x, best, colour, stroke_width=2, each=each, name=f"{name}-bars"),
        dot(x, median, colour, 4, each=each, name=name),
    ]


def names() -> list[Mark]:
    """What the first and the last dot of each family are called."""
    look: dict[str, Any] = {"fill": SERIES_COLOURS[1], "each": "thin_count"}
    look |= {"shown": "min(i, thin_count - 1 - i) < 0.5", "name": "thin-names"}
    right, below = f"{place('thin', 'at')} + 8", f"{place('thin', 'median')} + 14"
    x, y = place("step", "at"), place("step", "median")
    steps: dict[str, Any] = {"fill": SERIES_COLOURS[2], "each": "step_count"}
    return [
        label(right, below, "at(thin_name, i)", **look),
        label(x, f"{y} - 9", "at(step_name, i)", shown="i < 0.5", text_anchor="'middle'", **steps),
        # On a phone the numbers of the axis stand there.
        label(
            f"{x} - 8",
            f"{y} + 4",
            "at(step_name, i)",
            shown="(i > step_count - 1.5) * (wide > 500)",
            text_anchor="'end'",
            **steps,
        ),
    ]


def place(family: str, what: str) -> str:
    """Where a number of the dot `i` of a family lies in the picture."""
    scale = X if what == "at" else Y
    return scale.inside(f"at({family}_{what}, i)")
