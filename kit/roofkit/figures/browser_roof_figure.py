"""The browser-roof figure: the measured roof of the reader's browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.controls import Number
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted
from roofkit.figures.engine.shapes import FAINT, INKED, label, line
from roofkit.figures.roofs import RooflinePlot
from roofkit.words import _
from rooflib import Chip

ROOFS = ("peak", "read", "nearest")
TOLD = ("seconds", "workers", "by", "memory", "spread")


def formulas() -> dict[str, str]:
    return {
        "problem": "why",
        **{name: f"found['{name}']" for name in ROOFS},
        "ridge": "rl.ridge(peak, read)",
        **{name: f"told['{name}']" for name in TOLD},
    }


# Values before a measurement; site/browser/roof/roof.js sets them afterwards.
BEFORE: dict[str, Any] = {
    "measured": 0,
    "found": dict.fromkeys(ROOFS, 0),
    "told": dict.fromkeys(TOLD, ""),
}
HIGH = 340
X = LogScale(0.1, 100, "42", "wide - 26")
Y = LogScale(1e8, 1e13, str(HIGH - 44), "32")


@in_languages
def browser_roof(chip: Chip | None = None) -> Figure:
    """Draw the measured roof of a browser in front of a chip's roof.

    Parameters
    ----------
    chip
        A chip with measured roofs, to draw in the background; None for no background.
    """
    why = _("Not measured here yet.")
    stored: dict[str, Any] = {"stored_peak": 0.0, "stored_read": 0.0}
    if chip:
        stored = {"stored_peak": chip["fp32"], "stored_read": chip["HBM"]}
        why = _(
            "Not measured here yet. In gray stands the roof of the run on this page, which numpy"
            " found."
        )
    return Figure(
        name="browser-roof",
        title=_("Press, and measure the roof of the browser that shows you this page"),
        controls=[],
        measures=True,
        given={"why": why, **BEFORE, **stored},
        formulas=formulas(),
        numbers=[
            Number("peak", _("peak, fp32"), "FLOP/s"),
            Number("read", _("memory, read"), "B/s"),
            Number("nearest", _("nearest cache, read"), "B/s"),
            Number("ridge", _("ridge point"), "FLOP/byte"),
        ],
        says=_(
            "This is the roof of this browser on this machine, not the machine’s. It was found in "
            "{seconds} by {workers} with {by}, four numbers at a time, and {memory} of memory "
            "each: {peak} at best, {read} read from memory, and a ridge point of {ridge}. Three "
            "runs of the same work lie up to {spread} apart."
        ),
        height=HIGH,
        marks=marks,
    )


def marks() -> Sequence[Mark]:
    plot = RooflinePlot(X, Y)
    thin: dict[str, Any] = {"shown": "measured"}
    top, corner = Y.inside("peak"), X.inside("peak / read")
    stored_top, stored_corner = Y.inside("stored_peak"), X.inside("stored_peak / stored_read")
    behind: dict[str, Any] = {"shown": "stored_peak > 0"}
    dashed = {"stroke_dasharray": "'6 3'", "stroke_width": 1.5, **behind}
    end = "'end'"
    # Each name is above its line; if two lines are close, the lower line has its name below.
    near = f"(abs({stored_top} - {top}) < 20)"
    return [
        *plot.axes(),
        plot.slope("stored_read", None, ceiling="stored_peak", name="stored-slope", **dashed),
        line(stored_corner, stored_top, X.end, stored_top, FAINT, name="stored-ceiling", **dashed),
        label(
            X.end,
            f"{stored_top} + either({near} * (stored_peak < peak), 16, -7)",
            quoted(_("numpy, the run above")),
            fill=FAINT,
            text_anchor=end,
            **behind,
        ),
        plot.slope("read", 0, ceiling="peak", stroke_width=2.5, name="slope", **thin),
        line(corner, top, X.end, top, INKED, stroke_width=2.5, name="ceiling", **thin),
        label(
            X.end,
            f"{top} + either({near} * (stored_peak >= peak), 18, -8)",
            quoted(_("this browser")),
            text_anchor=end,
            **thin,
        ),
    ]
