"""Intensity: a dot product, an addition and a matmul of size N beside a chip's ridge."""

from __future__ import annotations

import altair as alt

from roofkit.live.expressions import inlined
from roofkit.live.live_figure import Choice, LiveFigure, Number, Slider
from roofkit.live.options import bandwidths, names, peaks, sizes
from roofkit.live.theme import finished, line, log_axis, note, sampled, series, single, themed
from rooflib.plots import INK, MUTED

FORMULAS = {
    "ridge": "peak[chip] / bandwidth[chip]",
    "dot": "(2 * N - 1) / (2 * (2 * N + 1))",
    "add": "N / (2 * 3 * N)",
    "matmul": "2 * N * N * N / (2 * 3 * N * N)",
    "dot_share": "min(1, dot / ridge)",
    "add_share": "min(1, add / ridge)",
    "matmul_share": "min(1, matmul / ridge)",
    "matmul_side": "['left of the ridge, bound by HBM', 'right of it, bound by compute']"
    "[1 * (matmul >= ridge)]",
    "enough": "3 * ridge",
}
LINES = {"dot": "dot product", "add": "element-wise addition", "matmul": "matmul N × N × N"}


def intensity() -> LiveFigure:
    """FLOP/byte of three operations in bf16 against their size N, and the chip's ridge.

    Controls: N, chip.
    """
    return LiveFigure(
        name="intensity",
        title="Move N: whose intensity grows until it reaches the ridge?",
        controls=[
            Slider("N", "N (elements a side)", sizes(0, 14), 256),
            Choice("chip", "chip", names(), "TPU v5e"),
        ],
        given={"peak": peaks(), "bandwidth": bandwidths()},
        formulas=FORMULAS,
        numbers=[
            Number("dot", "dot product", "FLOP/byte"),
            Number("add", "element-wise addition", "FLOP/byte"),
            Number("matmul", "matmul", "FLOP/byte"),
            Number("ridge", "ridge", "FLOP/byte"),
            Number("dot_share", "of peak, dot product", "%"),
            Number("add_share", "of peak, addition", "%"),
            Number("matmul_share", "of peak, matmul", "%"),
            Number("enough", "matmul's N at the ridge"),
        ],
        says=(
            "At N = {N} the matmul has {matmul}, the dot product {dot} and the addition {add}. "
            "The ridge of {chip} is {ridge}: the matmul is {matmul_side}, and reaches "
            "{matmul_share} of the peak. The dot product reaches {dot_share}."
        ),
        draw=draw,
    )


def draw(figure: LiveFigure) -> alt.LayerChart:
    low, high = 1, 2**14
    x = alt.X("N", **log_axis("N", low, high, form="~s"))
    y = alt.Y("y", **log_axis("FLOP/byte", 0.05, 1e4))
    places = {"dot": (high, 9, "right"), "add": (high, 9, "right"), "matmul": (high, 0, "right")}
    layers = [
        single(y="ridge").mark_rule(color=themed(INK), strokeWidth=2).encode(y=y),
        note(
            single(N=f"{low}", y="ridge"),
            x,
            y,
            "'ridge ' + format(ridge, ',.0f')",
            align="left",
            dx=4,
            dy=-8,
        ),
        single(N="N").mark_rule(color=themed(MUTED), strokeDash=[2, 3]).encode(x=x),
    ]
    for i, (name, label) in enumerate(LINES.items()):
        along = inlined(name, figure.formulas, N="datum.N")
        curve = sampled(low, high, 42, "N").transform_calculate(as_="y", calculate=along)
        at, dy, align = places[name]
        label_at = single(N=f"{at}").transform_calculate(as_="y", calculate=along)
        layers += [
            line(curve, x, y, i),
            note(label_at, x, y, f"'{label}'", align=align, dx=-10, dy=dy, color=series(i)),
            single(N="N", y=name)
            .mark_point(filled=True, size=70, color=series(i), opacity=1)
            .encode(x=x, y=y),
        ]
    return finished(layers)
