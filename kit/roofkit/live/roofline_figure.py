"""Roofline: two bandwidths, an algorithm that moves, and the zones."""

from __future__ import annotations

from math import log

import altair as alt

from roofkit.live.live_figure import Choice, LiveFigure, Number, Slider
from roofkit.live.options import bandwidths, decades, names, peaks
from roofkit.live.theme import DASHES, finished, log_axis, note, series, single, themed
from rooflib.plots import INK, MUTED, ZONES

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
LOW, HIGH = 0.1, 1e5


def roofline() -> LiveFigure:
    """A chip's roof in bf16 at its own bandwidth and at another, and an algorithm's place.

    Controls: intensity (FLOP/byte), second (bytes/s), chip.
    """
    return LiveFigure(
        name="roofline",
        title="Move the algorithm and the second bandwidth: in which zone does it end?",
        controls=[
            Slider("intensity", "intensity of the algorithm", decades(-1, 5), 20, "FLOP/byte"),
            Slider("second", "second bandwidth", decades(10, 13), 1e11, "B/s"),
            Choice("chip", "chip", names(), "TPU v5e"),
        ],
        given={"peak": peaks(), "hbm": bandwidths()},
        formulas=FORMULAS,
        numbers=[
            Number("bandwidth", "HBM bandwidth", "B/s"),
            Number("ridge", "ridge, HBM", "FLOP/byte"),
            Number("second_ridge", "ridge, second bandwidth", "FLOP/byte"),
            Number("reached", "reached, HBM", "FLOP/s"),
            Number("second_reached", "reached, second bandwidth", "FLOP/s"),
            Number("share", "of peak, HBM", "%"),
            Number("second_share", "of peak, second bandwidth", "%"),
        ],
        says=(
            "At {intensity} the algorithm is {zone} on {chip}. It reaches {reached} with HBM at "
            "{bandwidth} and {second_reached} with {second}: {share} and {second_share} of the "
            "peak. The ridge points are {ridge} and {second_ridge}."
        ),
        draw=draw,
    )


def draw(_: LiveFigure) -> alt.LayerChart:
    x = alt.X("x", **log_axis("arithmetic intensity (FLOP/byte)", LOW, HIGH, form="~s"))
    y = alt.Y("y", **log_axis("FLOP/s", 1e9, 1e16, form="~s"))
    edges = [str(LOW), "min(ridge, second_ridge)", "max(ridge, second_ridge)", str(HIGH)]
    labels = ["bound|at both", "bound|at the|lower", "compute-|bound"]
    layers = []
    for i, words in enumerate(labels):
        left, right = edges[i], f"min({edges[i + 1]}, {HIGH})"
        lines = ", ".join(f"'{word}'" for word in words.split("|"))
        # A zone too narrow for its label goes without.
        shown = alt.ExprRef(f"log({right} / ({left})) * width / {log(HIGH / LOW)} > 54 ? 1 : 0")
        zone = single(x=left, right=right)
        place = single(x=f"sqrt(({left}) * {right})", y="1.3e9")
        layers += [
            zone.mark_rect(color=themed(ZONES[i]), clip=True).encode(x=x, x2="right:Q"),
            note(place, x, y, f"[{lines}]", opacity=shown, dy=-34),
        ]
    for i, (width, name) in enumerate({"bandwidth": "HBM", "second": "second"}.items()):
        # Up to the ridge only: beyond it the roof is flat.
        slope = single(x=f"{LOW}", y=f"{LOW} * {width}", right=f"ceiling / {width}", top="ceiling")
        # The steeper line has its label on the left, the other one on the right.
        steeper = f"{width} == max(bandwidth, second)"
        look = {
            "align": alt.ExprRef(f"{steeper} ? 'right' : 'left'"),
            "dx": alt.ExprRef(f"{steeper} ? -8 : 8"),
            "color": series(i),
        }
        down = f"({steeper} ? 5 : 30)"
        place = single(x=f"ceiling / {width} / {down}", y=f"ceiling / {down}")
        layers += [
            slope.mark_rule(color=series(i), strokeWidth=2, strokeDash=DASHES[i], clip=True).encode(
                x=x, y=y, x2="right:Q", y2="top:Q"
            ),
            note(place, x, y, f"'{name}'", **look),
        ]
    roof = single(x="min(ridge, second_ridge)", y="ceiling", right=f"{HIGH}")
    peak_at, words = single(x=f"{HIGH}", y="ceiling"), "'peak of ' + chip"
    layers += [
        roof.mark_rule(color=themed(INK), strokeWidth=2).encode(x=x, x2="right:Q", y=y),
        note(peak_at, x, y, words, align="right", dx=-4, dy=-9),
        single(x="intensity").mark_rule(color=themed(MUTED), strokeDash=[2, 3]).encode(x=x),
    ]
    for i, height in enumerate(["reached", "second_reached"]):
        layers.append(
            single(x="intensity", y=height)
            .mark_point(filled=True, size=80, color=series(i), opacity=1)
            .encode(x=x, y=y)
        )
    return finished(layers, height=320)
