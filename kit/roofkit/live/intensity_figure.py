"""Intensity: a dot product, an addition and a matmul of size n beside a chip's ridge."""

from __future__ import annotations

import altair as alt

from roofkit.figure.colours import series, themed
from roofkit.figure.controls import Choice, Number, Slider
from roofkit.figure.expressions import inlined
from roofkit.figure.options import OWN, bandwidths, names, peaks, sizes
from roofkit.live.chart import Chart
from roofkit.live.theme import finished, line, log_axis, note, sampled, single
from rooflib.plots import INK, MUTED

FORMULAS = {
    "ridge": "peak[chip] / bandwidth[chip]",
    "dot": "(2 * n - 1) / (2 * (2 * n + 1))",
    "add": "n / (2 * 3 * n)",
    "matmul": "2 * n * n * n / (2 * 3 * n * n)",
    "dot_share": "min(1, dot / ridge)",
    "add_share": "min(1, add / ridge)",
    "matmul_share": "min(1, matmul / ridge)",
    "matmul_side": "['left of the ridge, bound by HBM', 'right of it, bound by compute']"
    "[1 * (matmul >= ridge)]",
    "enough": "3 * ridge",
}
LINES = {"dot": "dot product", "add": "addition", "matmul": "matmul"}
# Where a label stands: left of the line at n while that is far on the right, and else at the edge.
# The matmul's also keeps away from a ridge that is as low as that of a CPU.
LEFT = {
    "dot": ("n > 300", "12"),
    "add": ("n > 300", "12"),
    "matmul": ("n > 500", "[20, 110][1 * (ridge > 3.5 && ridge < 18)]"),
}
RIDGE_AT = "n > 20 ? 1 : [30, 1000][1 * (ridge < 60)]"


def intensity() -> Chart:
    """FLOP/byte of three operations in bf16 against their size n, and the chip's ridge.

    Controls: n, chip.
    """
    return Chart(
        name="intensity",
        title="Move n: whose intensity grows until it reaches the ridge?",
        controls=[
            Slider("n", "n (elements a side)", sizes(0, 14), 256),
            Choice("chip", "chip", [*names(), OWN], "TPU v5e"),
        ],
        given={"peak": peaks(), "bandwidth": bandwidths()},
        own={"peak": "peak", "bandwidth": "bandwidth"},
        formulas=FORMULAS,
        numbers=[
            Number("matmul", "matmul", "FLOP/byte"),
            Number("matmul_share", "of peak, matmul", "%"),
            Number("ridge", "ridge", "FLOP/byte"),
            Number("enough", "matmul's n at the ridge"),
            Number("dot", "dot product", "FLOP/byte"),
            Number("dot_share", "of peak, dot product", "%"),
            Number("add", "element-wise addition", "FLOP/byte"),
            Number("add_share", "of peak, addition", "%"),
        ],
        says=(
            "At n = {n} the matmul has {matmul}, the dot product {dot} and the addition {add}. "
            "The ridge of {chip} is {ridge}: the matmul is {matmul_side}, and reaches "
            "{matmul_share} of the peak. The dot product reaches {dot_share}."
        ),
        draw=draw,
    )


def draw(figure: Chart) -> alt.LayerChart:
    low, high = 1, 2**14
    x = alt.X("n", **log_axis("n", low, high, ticks=[4**e for e in range(8)]))
    y = alt.Y("y", **log_axis("FLOP/byte", 0.05, 1e4))
    layers = [
        single(y="ridge").mark_rule(color=themed(INK), strokeWidth=2).encode(y=y),
        note(
            single(n=RIDGE_AT, y="ridge"),
            x,
            y,
            "'ridge ' + format(ridge, ',.0f')",
            align="left",
            dx=4,
            dy=-8,
        ),
        single(n="n").mark_rule(color=themed(MUTED), strokeDash=[2, 3]).encode(x=x),
    ]
    for i, (name, label) in enumerate(LINES.items()):
        along = inlined(name, figure.formulas, n="datum.n")
        curve = sampled(low, high, 42, "n").transform_calculate(as_="y", calculate=along)
        left, at = LEFT[name]
        label_at = single(n=f"({left}) ? {at} : {high}").transform_calculate(
            as_="y", calculate=along
        )
        # Under a level line; on the left of one that rises.
        under = name != "matmul"
        side = f"({left}) ? 'left' : 'right'" if under else "'right'"
        look = {"align": alt.ExprRef(side), "dx": -10, "dy": 9 if under else 0, "color": series(i)}
        layers += [
            line(curve, x, y, i),
            note(label_at, x, y, f"'{label}'", **look),
            single(n="n", y=name)
            .mark_point(filled=True, size=70, color=series(i), opacity=1)
            .encode(x=x, y=y),
        ]
    return finished(layers)
