"""Time: FLOPs, bytes and a chip; how long each takes, both bounds, and the idle fraction."""

from __future__ import annotations

import altair as alt

from roofkit.figure.colours import series, themed
from roofkit.figure.controls import Choice, Number, Slider
from roofkit.figure.expressions import written
from roofkit.figure.live_figure import BETWEEN_BOUNDS
from roofkit.figure.options import OWN, bandwidths, decades, names, peaks
from roofkit.live.chart import Chart
from roofkit.live.theme import finished, single
from rooflib.plots import INK

FORMULAS = {
    "t_math": "flops / peak[chip]",
    "t_comms": "bytes / bandwidth[chip]",
    "lower": "max(t_math, t_comms)",
    "upper": "t_math + t_comms",
    "binding": "['compute', 'HBM'][1 * (t_comms > t_math)]",
    "bounds": BETWEEN_BOUNDS,
    "idle": "1 - t_math / lower",
    "waiting": "['At the lower bound the compute units never wait.',"
    " 'At the lower bound the compute units wait for {idle} of the time.'][1 * (idle > 0)]",
}


def time() -> Chart:
    """FLOPs and bytes on a chip in bf16: T_math, T_comms, both bounds, the idle fraction.

    Controls: flops, bytes, chip.
    """
    return Chart(
        name="time",
        title="Move the FLOPs, the bytes and the chip: which of the two takes longer?",
        controls=[
            Slider("flops", "operations", decades(9, 15), 1e12, "FLOP"),
            Slider("bytes", "bytes from and to HBM", decades(6, 12), 2e9, "B"),
            Choice("chip", "chip", [*names(), OWN], "H100 SXM"),
        ],
        given={"peak": peaks(), "bandwidth": bandwidths()},
        own={"peak": "peak", "bandwidth": "bandwidth"},
        formulas=FORMULAS,
        numbers=[
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_comms", "s"),
            Number("lower", "lower bound", "s"),
            Number("upper", "upper bound", "s"),
            Number("idle", "idle fraction", "%"),
        ],
        says=(
            "On {chip}, arithmetic of {flops} takes {t_math} and traffic of {bytes} takes "
            "{t_comms}: {binding} binds. {bounds} {waiting}"
        ),
        draw=draw,
    )


def draw(_: Chart) -> alt.LayerChart:
    rows = ["compute", "HBM", "bounds"]
    axis = alt.Axis(
        title="time",
        tickCount=4,
        labelExpr=written("datum.value", "s"),
    )
    scale = alt.Scale(domainMin=0, domainMax=alt.ExprRef("1.1 * upper"), nice=False)
    x = alt.X("seconds:Q", axis=axis, scale=scale)
    y = alt.Y(
        "row:N",
        sort=rows,
        scale=alt.Scale(domain=rows),
        axis=alt.Axis(title=None, grid=False, ticks=False, domain=False),
    )
    layers = []
    for i, (row, time) in enumerate({"compute": "t_math", "HBM": "t_comms"}.items()):
        bar = single(row=f"'{row}'", seconds=time)
        # A long bar has its text inside.
        inside = f"{time} > 0.6 * upper"
        align = alt.ExprRef(f"{inside} ? 'right' : 'left'")
        dx = alt.ExprRef(f"{inside} ? -6 : 6")
        layers += [
            bar.mark_bar(color=series(i), fillOpacity=0.35, stroke=series(i)).encode(x=x, y=y),
            bar.mark_text(align=align, dx=dx, text=alt.ExprRef(f"{time}_text")).encode(x=x, y=y),
        ]
    both = single(row="'bounds'", seconds="lower", end="upper")
    words = alt.ExprRef("lower_text + ' to ' + upper_text")
    layers += [
        both.mark_rule(color=themed(INK), strokeWidth=2).encode(x=x, x2="end:Q", y=y),
        both.mark_tick(color=themed(INK), thickness=2, size=16).encode(x=x, y=y),
        single(row="'bounds'", seconds="upper")
        .mark_tick(color=themed(INK), thickness=2, size=16)
        .encode(x=x, y=y),
        single(row="'bounds'", seconds="upper")
        .mark_text(align="right", dx=4, dy=18, text=words)
        .encode(x=x, y=y),
    ]
    return finished(layers, height=190)
