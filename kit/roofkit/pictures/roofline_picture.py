"""Roofline: two bandwidths, an algorithm that moves, and the zones; both can be dragged."""

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

FORMULAS = {
    "ceiling": "peak[chip]",
    "bandwidth": "hbm[chip]",
    "ridge": "ceiling / bandwidth",
    "second_ridge": "ceiling / second",
    "reached": "min(ceiling, bandwidth * intensity)",
    "second_reached": "min(ceiling, second * intensity)",
    "share": "reached / ceiling",
    "second_share": "second_reached / ceiling",
    "zone": "['bound at both bandwidths', 'bound at the lower bandwidth', 'compute-bound']"
    "[1 * (intensity >= min(ridge, second_ridge)) + 1 * (intensity >= max(ridge, second_ridge))]",
}
HIGH = 330
X = LogScale(0.1, 1e5, "42", "wide - 26")
Y = LogScale(1e10, 1e16, str(HIGH - 44), "32")


def roofline() -> Picture:
    """A chip's roof in bf16 at its own bandwidth and at another, and an algorithm's place.

    Controls: intensity (FLOP/byte), second (bytes/s), chip.
    """
    return Picture(
        name="roofline",
        title="Move the algorithm and the second bandwidth: in which zone does it end?",
        controls=[
            Slider("intensity", "intensity of the algorithm", decades(-1, 5), 20, "FLOP/byte"),
            Slider("second", "second bandwidth", decades(10, 13), 1e11, "B/s"),
            Choice("chip", "chip", [*names(), OWN], "TPU v5e"),
        ],
        given={"peak": peaks(), "hbm": bandwidths()},
        own={"peak": "peak", "hbm": "bandwidth"},
        formulas=FORMULAS,
        numbers=[
            Number("reached", "reached, HBM", "FLOP/s"),
            Number("second_reached", "reached, second", "FLOP/s"),
            Number("share", "of peak, HBM", "%"),
            Number("second_share", "of peak, second", "%"),
            Number("ridge", "ridge, HBM", "FLOP/byte"),
            Number("second_ridge", "ridge, second", "FLOP/byte"),
            Number("bandwidth", "HBM bandwidth", "B/s"),
        ],
        says=(
            "At {intensity} the algorithm is {zone} on {chip}. It reaches {reached} with HBM at "
            "{bandwidth} and {second_reached} with {second}: {share} and {second_share} of the "
            "peak. The ridge points are {ridge} and {second_ridge}."
        ),
        height=HIGH,
        marks=marks,
        handles=[
            Handle(
                "the algorithm",
                X.inside("intensity"),
                Y.inside("reached"),
                {"intensity": X.back("to_x")},
                "text(intensity, 'FLOP/byte')",
            ),
            Handle(
                "the roof's corner",
                X.inside("ridge"),
                Y.inside("ceiling"),
                {
                    "peak": Y.back("to_y"),
                    "bandwidth": f"{Y.back('to_y')} / {X.back('to_x')}",
                },
                "text(ceiling, 'FLOP/s') + ', ' + text(bandwidth, 'B/s')",
            ),
        ],
    )


def marks() -> Sequence[Mark]:
    edges = ["0.1", "min(ridge, second_ridge)", "max(ridge, second_ridge)", "1e5"]
    words = (("bound", "at both"), ("bound at", "the lower"), ("compute-", "bound"))
    zones: list[Mark] = []
    for i, lines in enumerate(words):
        left, right = X.inside(edges[i]), X.inside(edges[i + 1])
        zones.append(
            box(left, Y.end, f"{right} - {left}", f"{Y.start} - {Y.end}", TINTS[i], stroke_width=0)
        )
        # A zone too narrow for its label goes without.
        roomy = f"{right} - {left} > 54"
        for row, part in enumerate(lines):
            y = f"{Y.start} - {24 - 15 * row}"
            zones.append(
                label(
                    f"({left} + {right}) / 2", y, quoted(part), text_anchor="'middle'", shown=roomy
                )
            )
    slopes: list[Mark] = []
    for i, (width, name) in enumerate({"bandwidth": "HBM", "second": "second"}.items()):
        # From the left edge, or from where it comes up over the lower one, to the ridge.
        first = f"max(0.1, {Y.low!r} / {width})"
        corner = f"min(1e5, ceiling / {width})"
        slopes.append(
            line(
                X.at(first),
                Y.at(f"{first} * {width}"),
                X.at(corner),
                Y.at(f"{corner} * {width}"),
                SERIES_COLOURS[i],
                stroke_width=2,
                stroke_dasharray=quoted(("none", "6 3")[i]),
                name=f"slope-{width}",
            )
        )
        # The steeper line has its label on the left, the other one on the right.
        steeper = f"{width} >= max(bandwidth, second)"
        down = f"either({steeper}, 5, 30)"
        place = f"ceiling / {width} / {down}"
        slopes.append(
            label(
                f"{X.inside(place)} + either({steeper}, -8, 8)",
                f"{Y.inside(f'ceiling / {down}')} + 4",
                quoted(name),
                fill=SERIES_COLOURS[i],
                text_anchor=f"either({steeper}, 'end', 'start')",
            )
        )
    at = X.inside("intensity")
    return [
        *zones,
        *log_axes(X, Y, ("arithmetic intensity (FLOP/byte)", "attainable FLOP/s"), ("", "FLOP/s")),
        line(at, Y.end, at, Y.start, FAINT, stroke_dasharray="'2 3'", stroke_width=1),
        *slopes,
        line(
            X.inside("min(ridge, second_ridge)"),
            Y.inside("ceiling"),
            X.end,
            Y.inside("ceiling"),
            INKED,
            stroke_width=2,
            name="ceiling",
        ),
        label(X.end, f"{Y.inside('ceiling')} - 8", "'peak of ' + chip", text_anchor="'end'"),
        dot(X.inside("ridge"), Y.inside("ceiling"), INKED, 4, name="corner"),
        dot(at, Y.inside("reached"), SERIES_COLOURS[0], 6, name="reached"),
        dot(at, Y.inside("second_reached"), SERIES_COLOURS[1], 6, name="second"),
    ]
