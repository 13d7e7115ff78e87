"""Chips: a matmul split over N of them; which roof binds, and where the threshold lies."""

from __future__ import annotations

import altair as alt

from roofkit.figure.colours import series, themed
from roofkit.figure.controls import Choice, Number, Slider
from roofkit.figure.expressions import inlined
from roofkit.figure.live_figure import BETWEEN_BOUNDS
from roofkit.figure.options import OWN, sizes, with_bf16
from roofkit.live.chart import Chart
from roofkit.live.theme import finished, line, log_axis, note, sampled, single
from rooflib.plots import INK, MUTED

FORMULAS = {
    "peak": "peaks[over]",
    "bandwidth": "bandwidths[over]",
    "to_one_peer": "links[over]",
    "b": "B / [1, N][1 * (split == 'B')]",
    "d": "D / [1, N][1 * (split == 'D')]",
    "f": "F / [1, N][1 * (split == 'F')]",
    "passes": "[1, 2][1 * (split == 'D')]",
    "flops": "2 * b * d * f",
    "bytes": "2 * (b * d + d * f + b * f)",
    # Its parts of x and w, and in the end the whole output.
    "held": "2 * (b * d + d * f + B * F)",
    "memory": "capacity[over]",
    "fits": "[' It does not fit: a chip must hold {held}, and its HBM holds {memory}.', '']"
    "[1 * (held <= memory)]",
    "sent": "passes * (N - 1) / N * 2 * B * F",
    "t_math": "flops / peak",
    "t_comms": "bytes / bandwidth",
    "t_link": "sent / to_one_peer",
    "lower": "max(t_math, t_comms, t_link)",
    "upper": "t_math + t_comms + t_link",
    "binding": "['compute', 'HBM', 'the link'][indexof([t_math, t_comms, t_link], lower)]",
    "busy": "t_math / lower",
    "threshold": "passes * (N - 1) * peak / to_one_peer",
    "first": "ceil(threshold)",
    "bounds": BETWEEN_BOUNDS,
}
LOW, HIGH = 2**9, 2**17


def chips() -> Chart:
    """A matmul in bf16 over N chips, its result whole on each: three roofs and the threshold.

    Controls: N, D, split, over (a chip and its link), B, F.
    """
    links = {
        f"{chip.name}, {link.name}": (chip, link) for chip in with_bf16() for link in chip.links
    }
    return Chart(
        name="chips",
        title="Move the number of chips and D: when does the link stop binding?",
        controls=[
            Slider("N", "N (chips)", [2**e for e in range(1, 9)], 2),
            Slider("D", "D", sizes(9, 17), 4096),
            Choice("split", "split dimension", ["B", "D", "F"], "D"),
            Choice("over", "chip and link", [*links, OWN], "TPU v5e, ICI"),
            Slider("B", "B (tokens)", sizes(9, 17), 4096),
            Slider("F", "F", sizes(9, 17), 16384),
        ],
        given={
            "peaks": {name: chip.peak() for name, (chip, _) in links.items()},
            "bandwidths": {name: chip.bandwidth for name, (chip, _) in links.items()},
            "capacity": {name: chip.capacity for name, (chip, _) in links.items()},
            "links": {name: link.to_one_peer for name, (_, link) in links.items()},
        },
        own={
            "peaks": "peak",
            "bandwidths": "bandwidth",
            "capacity": "memory",
            "links": "link",
        },
        formulas=FORMULAS,
        numbers=[
            Number("busy", "of peak", "%"),
            Number("first", "D at least"),
            Number("lower", "lower bound", "s"),
            Number("upper", "upper bound", "s"),
            Number("held", "held by a chip", "B"),
            Number("memory", "its HBM", "B"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
        ],
        says=(
            "Each of {N} chips computes for {t_math}, moves bytes from and to HBM for {t_comms} "
            "and sends for {t_link}: {binding} binds. {bounds} Split along {split} over {over}, "
            "the link takes no longer than computing from D = {first} on; here D is {D}.{fits}"
        ),
        draw=draw,
    )


def draw(figure: Chart) -> alt.LayerChart:
    x = alt.X("D", **log_axis("D", LOW, HIGH, ticks=[LOW * 4**e for e in range(5)]))
    y = alt.Y("y", **log_axis("time", unit="s"))
    layers = [
        single(D="D").mark_rule(color=themed(MUTED), strokeDash=[2, 3]).encode(x=x),
    ]
    # So far apart that no two labels meet.
    places = [
        ("t_math", "compute", 2**15, "right"),
        ("t_comms", "HBM", 2**13, "right"),
        ("t_link", "link", LOW, "left"),
    ]
    for i, (name, label, at, align) in enumerate(places):
        along = inlined(name, figure.formulas, D="datum.D")
        curve = sampled(LOW, HIGH, 32, "D").transform_calculate(as_="y", calculate=along)
        label_at = single(D=f"{at}").transform_calculate(as_="y", calculate=along)
        dx = 6 if align == "left" else -12
        look = {"align": align, "dx": dx, "dy": -10, "color": series(i)}
        layers += [
            line(curve, x, y, i),
            note(label_at, x, y, f"'{label}'", **look),
            single(D="D", y=name)
            .mark_point(filled=True, size=70, color=series(i), opacity=1)
            .encode(x=x, y=y),
        ]
    crossing = single(D="threshold", y="t_link")
    layers += [
        crossing.mark_point(size=120, color=themed(INK), strokeWidth=2, clip=True).encode(x=x, y=y),
        note(
            crossing,
            x,
            y,
            "'D = ' + first_text",
            dy=16,
            dx=alt.ExprRef("threshold < 3e4 ? 8 : -8"),
            align=alt.ExprRef("threshold < 3e4 ? 'left' : 'right'"),
        ),
    ]
    return finished(layers)
