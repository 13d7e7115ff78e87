"""Marks of the model figure: operations under the roof, and bars of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roofkit.figures.bounds import roof_names
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import named, one_of, quoted, said
from roofkit.figures.engine.shapes import FAINT, INKED, SERIES_COLORS, box, dot, label, line
from roofkit.figures.options import own_names
from roofkit.figures.roofs import RooflinePlot
from roofkit.words import _
from rooflib.llm.steps import ROWS

EVERY = range(len(ROWS))
LINK = ROWS.index("collectives")


def _list(formulas: Iterable[str]) -> str:
    return f"[{', '.join(formulas)}]"


def _left_of(i: int) -> str:
    """Return the formula for the number of dots left of dot `i`.

    Ties keep their order.
    """
    others = (
        f"1 * (all_flops[{j}] > 0) * (dots[{j}] {'<=' if j < i else '<'} dots[{i}])"
        for j in EVERY
        if j != i
    )
    return " + ".join(others)


def titles() -> dict[str, str]:
    """Return the labels of the kinds of operations, by their names in `ROWS`."""
    return {
        "embedding, norms": _("embedding, norms"),
        "projections": _("projections"),
        "attention": _("attention"),
        "state": _("state"),
        "router": _("router"),
        "experts": _("experts"),
        "MLP": "MLP",
        "logits": "logits",
        "collectives": _("collectives"),
    }


FORMULAS = {
    "roof_ridge": "rl.ridge(peak, bandwidth)",
    # Intensity of each operation, where its dot is drawn; 0 without FLOPs, which has no dot.
    "dots": _list(f"either(all_flops[{i}] > 0, all_flops[{i}] / all_bytes[{i}], 0)" for i in EVERY),
    "last_dot": f"sum({_list(f'1 * (all_flops[{i}] > 0)' for i in EVERY)}) - 1",
    "left_of": _list(map(_left_of, EVERY)),
    "rightmost": f"max({', '.join(f'dots[{i}]' for i in EVERY)})",
    "longest": f"max({', '.join(f'spent[{i}]' for i in EVERY)})",
    # The right end of the x axis.
    "farthest": "3 * max(5 * roof_ridge, rightmost)",
    # For each bar, the number of bars drawn above it.
    "above": _list(" + ".join(["0", *(f"(spent[{j}] > 0)" for j in range(i))]) for i in EVERY),
}

LEAST_SHARE = 0.001
"""Smaller shares of the time are shown as "under 0.1%"."""
NARROW = "wide < 560"
PLOT_HEIGHT = {"phone": 252, "desk": 330}
BAR = {"phone": 15, "desk": 21}
TITLE_ROOM = 22
"""Pixels: the plot, a bar with its margin, and the bars' title below the plot on a phone."""
HIGH, BAR_STEP = (
    f"either({NARROW}, {size['phone']}, {size['desk']})" for size in (PLOT_HEIGHT, BAR)
)
HEIGHT = f"{HIGH} + either({NARROW}, {TITLE_ROOM + BAR['phone'] * len(ROWS)}, 0)"
X = LogScale("0.3", "farthest", "46", f"either({NARROW}, wide - 12, 0.56 * wide)")
Y = LogScale(3e10, 1e16, f"({HIGH} - 42)", "28")
BARS_TOP = f"either({NARROW}, {PLOT_HEIGHT['phone'] + TITLE_ROOM}, 50)"
BARS_LEFT = f"either({NARROW}, 118, 0.59 * wide + 114)"
BAR_ROOM = f"(wide - {BARS_LEFT} - 92)"
LONGEST_LABEL, STAIR = 80, f"either({NARROW}, 14, 16)"


def marks() -> Sequence[Mark]:
    plot = RooflinePlot(X, Y, tick_room=52)
    return [
        *plot.axes(),
        plot.slope("bandwidth", 0, ceiling="peak", stroke_width=2, clip=plot.clip, name="slope"),
        plot.ceiling("roof_ridge", 2, ceiling="peak")[0],
        # Above the largest dot.
        label(
            X.end,
            f"{Y.inside('peak')} - 28",
            said("{chip}, {kind}", chip=named("chip", own_names()), kind="compute"),
            text_anchor="'end'",
        ),
        *_dots(),
        *_bars(),
    ]


COLOR = f"at({_list(SERIES_COLORS[:3])}, roof)"
OF_EACH = {
    "part": "at(spent, i)",
    "roof": f"either(i == {LINK}, 2, 1 * (at(all_flops, i) / peak > at(all_bytes, i) / bandwidth))",
}


def _dots() -> list[Mark]:
    """Draw a dot for each kind of operation with FLOPs, and labels below.

    The labels form a staircase. Dots often lie on each other, so a thin line leads from each to its
    label. The stairs go up to the right, with labels on the right of their lines; or down, if there
    is no room at the right.
    """
    x, y = X.at("intensity"), Y.inside("rl.attainable(intensity, peak, bandwidth)")
    where = {
        **OF_EACH,
        "intensity": "at(dots, i)",
        "x": x,
        "y": y,
        "turned": f"{X.at('rightmost')} + {LONGEST_LABEL} > {X.end}",
        "stair": "either(turned, last_dot - at(left_of, i), at(left_of, i))",
        "foot": f"{Y.start} - 8 - {STAIR} * stair",
    }
    every = {"each": len(ROWS), "where": where, "shown": "at(all_flops, i) > 0"}
    radius = "max(2.5, 22 * sqrt(part / whole))"
    return [
        line("x", "y", "x", "foot", FAINT, stroke_width=1, name="leaders", **every),
        dot("x", "y", COLOR, radius, fill_opacity=0.55, stroke=COLOR, name="dots", **every),
        label(
            "x + either(turned, -4, 4)",
            "foot",
            "at(titles, i)",
            text_anchor="either(turned, 'end', 'start')",
            name="names",
            **every,
        ),
    ]


def _bars() -> list[Mark]:
    where = {
        **OF_EACH,
        "top": f"{BARS_TOP} + {BAR_STEP} * at(above, i)",
        "length": f"{BAR_ROOM} * part / longest",
    }
    every = {"each": len(ROWS), "where": where, "shown": "part > 0"}
    high = f"{BAR_STEP} - 4"
    # The roofs that can bind an operation, in the order of their colors.
    roofs = one_of([roof_names()[name] for name in ("HBM", "compute", "the link")], "roof")
    # Fewer digits suffice for a part that takes nearly no time.
    little = said(_("under {share}"), share=f"percent({LEAST_SHARE})")
    share = f"either(part / whole < {LEAST_SHARE}, {little}, percent(part / whole))"
    words = said(_("{share}, {roof}"), share=share, roof=roofs)
    return [
        label(
            f"either({NARROW}, 0, 0.59 * wide)",
            f"{BARS_TOP} - 10",
            quoted(_("share of the time, and what binds")),
        ),
        label(f"{BARS_LEFT} - 6", "top + 12", "at(titles, i)", text_anchor="'end'", **every),
        box(BARS_LEFT, "top + 1", "length", high, COLOR, stroke_width=0, name="bars", **every),
        label(f"{BARS_LEFT} + length + 5", "top + 12", words, fill=INKED, name="shares", **every),
    ]
