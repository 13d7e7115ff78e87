"""One roof: a chip, an operation that can be dragged, and what holds it back."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figure.controls import Choice, Number, Slider
from roofkit.figure.options import OWN, bandwidths, decades, names, peaks
from roofkit.pictures.blocks import (
    FAINT,
    INKED,
    SERIES_COLOURS,
    TINTS,
    LogScale,
    box,
    dot,
    label,
    line,
    log_axes,
    quoted,
)
from roofkit.pictures.picture import Handle, Picture
from roofkit.pictures.scene import Mark
from rooflib import dot as dot_product
from rooflib import matmul

FORMULAS = {
    "ceiling": "peak[chip]",
    "bandwidth": "hbm[chip]",
    "ridge": "ceiling / bandwidth",
    "reached": "min(ceiling, bandwidth * intensity)",
    "share": "reached / ceiling",
    "idle": "1 - share",
    "verdict": "['Memory holds it back: the compute units wait for {idle} of the time.',"
    " 'Arithmetic holds it back: it can be no faster on this chip.'][1 * (intensity >= ridge)]",
}
HIGH = 320
X = LogScale(0.1, 1e4, "42", "wide - 26")
Y = LogScale(1e11, 1e16, str(HIGH - 44), "32")
# Where three operations lie: each is what rooflib counts.
KNOWN = {
    "dot product": dot_product(10**6).intensity,
    "matmul, batch 32": matmul(32, 4096, 16384).intensity,
    "batch 1,024": matmul(1024, 4096, 16384).intensity,
}


def one_roof() -> Picture:
    """A chip's roof in bf16, and an operation to drag under it.

    Controls: intensity (FLOP/byte), chip.
    """
    return Picture(
        name="one-roof",
        title="Choose a chip and drag the operation: what holds it back?",
        controls=[
            Slider("intensity", "arithmetic intensity", decades(-1, 4), 5, "FLOP/byte"),
            Choice("chip", "chip", [*names(), OWN], "TPU v5e"),
        ],
        given={"peak": peaks(), "hbm": bandwidths()},
        own={"peak": "peak", "hbm": "bandwidth"},
        formulas=FORMULAS,
        numbers=[
            Number("reached", "reached, at best", "FLOP/s"),
            Number("share", "of the peak", "%"),
            Number("idle", "compute units idle", "%"),
            Number("ridge", "the roof bends at", "FLOP/byte"),
        ],
        says="At {intensity} the operation reaches {reached} at best on {chip}. {verdict}",
        height=HIGH,
        marks=marks,
        handles=[
            Handle(
                "the operation",
                X.inside("intensity"),
                Y.inside("reached"),
                {"intensity": X.back("to_x")},
                "text(intensity, 'FLOP/byte')",
            )
        ],
    )


def marks() -> Sequence[Mark]:
    ridge, ceiling, at = X.inside("ridge"), Y.inside("ceiling"), X.inside("intensity")
    high = f"{Y.start} - {Y.end}"
    words = (("memory", "holds it back"), ("arithmetic", "holds it back"))
    edges = (X.start, ridge, X.end)
    zones: list[Mark] = []
    for i, lines in enumerate(words):
        left, right = edges[i], edges[i + 1]
        tint = TINTS[2 * i]
        zones.append(box(left, Y.end, f"{right} - ({left})", high, tint, stroke_width=0))
        for row, part in enumerate(lines):
            middle = f"(({left}) + {right}) / 2"
            # Where no line runs: on the left above the slope, on the right below the ceiling.
            y = f"{Y.end} + {18 + 15 * row}" if i == 0 else f"{Y.start} - {24 - 15 * row}"
            roomy = f"{right} - ({left}) > 84"
            zones.append(label(middle, y, quoted(part), text_anchor="'middle'", shown=roomy))
    first = f"max({X.low!r}, {Y.low!r} / bandwidth)"
    known: list[Mark] = []
    for row, (name, intensity) in enumerate(KNOWN.items()):
        x, y = X.at(repr(intensity)), Y.inside(f"min(ceiling, bandwidth * {intensity!r})")
        known.append(dot(x, y, FAINT, 4, name=f"known-{row}"))
        # Beside the slope on the right of it, under the ceiling in its middle.
        anchor = f"either({intensity!r} < ridge, 'start', 'middle')"
        beside = f"{x} + either({intensity!r} < ridge, 7, 0)"
        known.append(label(beside, f"{y} + 20", quoted(name), fill=FAINT, text_anchor=anchor))
    return [
        *zones,
        *log_axes(X, Y, ("arithmetic intensity (FLOP/byte)", "attainable FLOP/s"), ("", "FLOP/s")),
        line(
            X.at(first),
            Y.at(f"{first} * bandwidth"),
            ridge,
            ceiling,
            SERIES_COLOURS[0],
            stroke_width=2.5,
            name="slope",
        ),
        line(ridge, ceiling, X.end, ceiling, INKED, stroke_width=2.5, name="ceiling"),
        label(X.end, f"{ceiling} - 8", "'peak of ' + chip", text_anchor="'end'"),
        *known,
        line(at, Y.end, at, Y.start, FAINT, stroke_dasharray="'2 3'", stroke_width=1),
        dot(at, Y.inside("reached"), SERIES_COLOURS[1], 7, name="reached"),
    ]
