"""Matmul: sizes, a data type for each operand and a chip; the point under its roof."""

from __future__ import annotations

import altair as alt

from roofkit.figure.colours import series, themed
from roofkit.figure.controls import Choice, Number, Slider
from roofkit.figure.expressions import inlined
from roofkit.figure.live_figure import BETWEEN_BOUNDS
from roofkit.figure.options import OWN, sizes
from roofkit.live.chart import Chart
from roofkit.live.theme import finished, log_axis, note, sampled, single
from rooflib.catalogue import chips
from rooflib.dtypes import DTYPES, common_type, dtype
from rooflib.plots import INK, MUTED

INPUTS = ("bf16", "int8", "fp8")
WEIGHTS = ("bf16", "int8", "fp8", "int4", "fp4")
OUTPUTS = ("bf16", "fp32", "int8", "fp8")

FORMULAS = {
    "kind": "kinds[x][w]",
    "peak": "peaks[chip][kind]",
    "problem": "[[chip + ' has no peak for ' + kind + ': choose other types or another chip.',"
    " x + ' times ' + w + ' has no common type to compute in: choose other types.']"
    "[1 * (kind == '')], ''][1 * (peak > 0)]",
    "bandwidth": "bandwidths[chip]",
    "op": "['FLOP', 'OP'][1 * (kind == 'int8')]",
    "flops": "2 * B * D * F",
    "bytes": "size[x] * B * D + size[w] * D * F + size[out] * B * F",
    "intensity": "flops / bytes",
    "ridge": "peak / bandwidth",
    "t_math": "flops / peak",
    "t_comms": "bytes / bandwidth",
    "lower": "max(t_math, t_comms)",
    "upper": "t_math + t_comms",
    "binding": "['compute', 'HBM'][1 * (t_comms > t_math)]",
    "attained": "flops / lower",
    "share": "t_math / lower",
    "critical": "ridge * size[w] / max(0, 2 - ridge * (size[x] / F + size[out] / D))",
    "first": "floor(critical) + 1",
    "limit": "ridge * size[w] / 2",
    "bounds": BETWEEN_BOUNDS,
    "memory": "capacity[chip]",
    "fits": "[' The three arrays, {bytes}, do not fit into its HBM, which holds {memory}.', '']"
    "[1 * (bytes <= memory)]",
    # Rounding may leave a number beyond all sense where the exact one is infinite.
    "enough": "['At this D and F no batch is enough to make it compute-bound.',"
    " 'From {first} on it is compute-bound.'][1 * (first < 1e9)]",
}
LOW, HIGH = 0.5, 1e5


def matmul() -> Chart:
    """x[B, D] · w[D, F] → out[B, F] under its roof, and the critical batch.

    Controls: B, D, F, x, w, out (data types), chip.
    """
    peaks = {
        chip.name: {kind: chip.peaks.get(kind, 0) for kind in ("", *INPUTS)} for chip in chips()
    }
    return Chart(
        name="matmul",
        title="Move B, D, F and the data types: where does the matmul reach its roof?",
        controls=[
            Slider("B", "B (tokens)", sizes(0, 16), 64),
            Slider("D", "D", sizes(6, 16), 4096),
            Slider("F", "F", sizes(6, 16), 16384),
            Choice("x", "type of x", INPUTS, "bf16"),
            Choice("w", "type of w", WEIGHTS, "bf16"),
            Choice("out", "type of the output", OUTPUTS, "bf16"),
            Choice("chip", "chip", [*(chip.name for chip in chips()), OWN], "TPU v5e"),
        ],
        given={
            "peaks": peaks,
            "bandwidths": {chip.name: chip.bandwidth for chip in chips()},
            "capacity": {chip.name: chip.capacity for chip in chips()},
            "kinds": {x: {w: computed_in(x, w) for w in WEIGHTS} for x in INPUTS},
            "size": {kind: DTYPES[kind].bytes for kind in {*INPUTS, *WEIGHTS, *OUTPUTS}},
        },
        # The reader types one peak, that of bf16.
        own={
            "peaks": {"": 0, "bf16": "peak", "int8": 0, "fp8": 0},
            "bandwidths": "bandwidth",
            "capacity": "memory",
        },
        formulas=FORMULAS,
        numbers=[
            Number("share", "of peak", "%"),
            Number("first", "compute-bound from", "tokens"),
            Number("intensity", "intensity", "FLOP/byte"),
            Number("ridge", "ridge", "FLOP/byte"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_comms", "s"),
            Number("lower", "lower bound", "s"),
            Number("upper", "upper bound", "s"),
            Number("flops", "operations", "@op"),
            Number("bytes", "bytes", "B"),
            Number("critical", "critical batch, exact", "tokens"),
            Number("limit", "critical batch, limit", "tokens"),
            Number("memory", "HBM of the chip", "B"),
        ],
        says=(
            "On {chip}, computing in {kind}, the matmul has {intensity} where the ridge is "
            "{ridge}: {binding} binds. {bounds} At the lower bound it reaches {share} of the "
            "peak. {enough} As D and F grow, the critical batch comes down to {limit}.{fits}"
        ),
        draw=draw,
    )


def computed_in(x: str, w: str) -> str:
    """The type of the arithmetic, or nothing where there is no plain one."""
    try:
        return common_type(dtype(x), dtype(w)).name
    except ValueError:
        return ""


def draw(figure: Chart) -> alt.LayerChart:
    x = alt.X("x", **log_axis("arithmetic intensity (FLOP/byte)", LOW, HIGH))
    y = alt.Y("y", **log_axis("attainable FLOP/s", 1e11, 2e16, "FLOP/s"))
    slope = single(x=f"{LOW}", y=f"{LOW} * bandwidth", right="ridge", top="peak")
    roof = single(x="ridge", y="peak", right=f"{HIGH}")
    along = inlined("intensity", figure.formulas, B="datum.B")
    steps = (
        sampled(1, 2**16, 16, "B")
        .transform_calculate(as_="x", calculate=along)
        .transform_calculate(as_="y", calculate="min(peak, bandwidth * datum.x)")
    )
    here = single(x="intensity", y="attained")
    ridge_at, peak_at = single(x="ridge", y="1e11"), single(x=f"{HIGH}", y="peak")
    # A point near the right edge has its label on the left.
    right = "intensity < 1000"
    return finished(
        [
            single(x="ridge").mark_rule(color=themed(MUTED), strokeDash=[2, 3]).encode(x=x),
            note(ridge_at, x, y, "'ridge ' + format(ridge, ',.0f')", align="right", dx=-5, dy=-8),
            slope.mark_rule(color=series(0), strokeWidth=2, clip=True).encode(
                x=x, y=y, x2="right:Q", y2="top:Q"
            ),
            roof.mark_rule(color=themed(INK), strokeWidth=2).encode(x=x, x2="right:Q", y=y),
            note(peak_at, x, y, "chip + ', ' + kind", align="right", dx=-4, dy=-9),
            steps.mark_point(color=series(0), size=25, opacity=0.7).encode(x=x, y=y),
            here.mark_point(filled=True, size=110, color=series(1), opacity=1).encode(x=x, y=y),
            note(
                here,
                x,
                y,
                "'B = ' + format(B, ',')",
                dy=16,
                dx=alt.ExprRef(f"{right} ? 8 : -8"),
                align=alt.ExprRef(f"{right} ? 'left' : 'right'"),
                fontWeight="bold",
            ),
        ]
    )
