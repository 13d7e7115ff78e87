"""The roofline figure: two bandwidths, a movable algorithm, and zones."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures import roofs
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.base_figure import Handle
from roofkit.figures.engine.controls import Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted
from roofkit.figures.engine.shapes import INKED, SERIES_COLORS, dot, label
from roofkit.figures.options import decades
from roofkit.words import _


def formulas() -> dict[str, str]:
    zones = (
        _("bound at both bandwidths"),
        _("bound at the lower bandwidth"),
        _("compute-bound"),
    )
    return {
        **roofs.FORMULAS,
        "second_ridge": "rl.ridge(ceiling, second)",
        "second_reached": "rl.attainable(intensity, ceiling, second)",
        "second_share": "rl.fraction_at(intensity, second_ridge)",
        "zone": f"[{', '.join(map(quoted, zones))}]"
        "[1 * (intensity >= min(ridge, second_ridge)) +"
        " 1 * (intensity >= max(ridge, second_ridge))]",
    }


HIGH = 330
X = LogScale(0.1, 1e5, "42", "wide - 26")
Y = LogScale(1e10, 1e16, str(HIGH - 44), "32")


@in_languages
def roofline() -> Figure:
    """Draw a chip's bf16 roof at two bandwidths, and a movable algorithm.

    Controls: intensity (FLOP/byte), second (bytes/s), chip.
    """
    return Figure(
        name="roofline",
        title=_("Move the algorithm and the second bandwidth: in which zone does it end?"),
        controls=[
            Slider("intensity", _("intensity of the algorithm"), decades(-1, 5), 20, "FLOP/byte"),
            Slider("second", _("second bandwidth"), decades(10, 13), 1e11, "B/s"),
            roofs.chip_choice(),
        ],
        given=roofs.chip_tables(),
        own=roofs.OWN_TABLES,
        formulas=formulas(),
        numbers=[
            Number("reached", _("reached, HBM"), "FLOP/s"),
            Number("second_reached", _("reached, second"), "FLOP/s"),
            Number("share", _("of peak, HBM"), "%"),
            Number("second_share", _("of peak, second"), "%"),
            Number("ridge", _("ridge, HBM"), "FLOP/byte"),
            Number("second_ridge", _("ridge, second"), "FLOP/byte"),
            Number("bandwidth", _("HBM bandwidth"), "B/s"),
        ],
        says=_(
            "At {intensity} the algorithm is {zone} on {chip}. It reaches {reached} with HBM at "
            "{bandwidth} and {second_reached} with {second}: {share} and {second_share} of the "
            "peak. The ridge points are {ridge} and {second_ridge}."
        ),
        height=HIGH,
        marks=marks,
        handles=[
            Handle(
                _("the algorithm"),
                X.inside("intensity"),
                Y.inside("reached"),
                {"intensity": X.back("to_x")},
                "intensity",
                X.low,
                X.high,
                "text(intensity, 'FLOP/byte')",
            ),
            Handle(
                _("the roof's corner"),
                X.inside("ridge"),
                Y.inside("ceiling"),
                {
                    "peak": Y.back("to_y"),
                    "bandwidth": f"{Y.back('to_y')} / {X.back('to_x')}",
                },
                "ridge",
                X.low,
                X.high,
                "text(ceiling, 'FLOP/s') + ', ' + text(bandwidth, 'B/s')",
            ),
        ],
    )


def marks() -> Sequence[Mark]:
    plot = roofs.RooflinePlot(X, Y)
    edges = [X.inside(e) for e in ("min(ridge, second_ridge)", "max(ridge, second_ridge)")]
    edges = [X.start, *edges, X.end]
    # Each zone's name, in two lines.
    words = [
        _("bound\nat both").split("\n"),
        _("bound at\nthe lower").split("\n"),
        _("compute-\nbound").split("\n"),
    ]
    zones = [plot.zone(edges[i], edges[i + 1], i, words[i], room=54) for i in range(3)]
    slopes: list[Mark] = []
    for i, (width, name) in enumerate({"bandwidth": "HBM", "second": _("second")}.items()):
        look = {"stroke_width": 2, "stroke_dasharray": quoted(("none", "6 3")[i])}
        slopes.append(plot.slope(width, i, name=f"slope-{width}", **look))
        # The steeper line's label is on its left, the other line's on its right.
        steeper = f"{width} >= max(bandwidth, second)"
        down = f"either({steeper}, 5, 30)"
        place = f"ceiling / {width} / {down}"
        slopes.append(
            label(
                f"{X.inside(place)} + either({steeper}, -8, 8)",
                f"{Y.inside(f'ceiling / {down}')} + 4",
                quoted(name),
                fill=SERIES_COLORS[i],
                text_anchor=f"either({steeper}, 'end', 'start')",
            )
        )
    at = X.inside("intensity")
    return [
        *(mark for zone in zones for mark in zone),
        *plot.axes(),
        plot.upright("intensity"),
        *slopes,
        *plot.ceiling("min(ridge, second_ridge)", 2),
        dot(X.inside("ridge"), Y.inside("ceiling"), INKED, 4, name="corner"),
        dot(at, Y.inside("reached"), SERIES_COLORS[0], 6, name="reached"),
        dot(at, Y.inside("second_reached"), SERIES_COLORS[1], 6, name="second"),
    ]
