"""The matmul figure: a matmul of any size and data types under a chip's roof."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.expressions import along
from roofkit.figures.engine.figure import Figure
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.shapes import SERIES_COLORS, dot, label
from roofkit.figures.options import OWN, sizes
from roofkit.figures.roofs import RooflinePlot
from rooflib.catalog import chips
from rooflib.dtypes import DTYPES, common_type, dtype

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
    "flops": "rl.matmul_flops(B, D, F)",
    "bytes": "rl.matmul_bytes(B, D, F, size[x], size[w], size[out])",
    "intensity": "flops / bytes",
    "ridge": "rl.ridge(peak, bandwidth)",
    **bounds(),
    "attained": "rl.attainable(intensity, peak, bandwidth)",
    "share": "rl.fraction_of_peak(t_math, lower)",
    "critical": "rl.critical_batch(ridge, D, F, size[x], size[w], size[out])",
    "first": "rl.first_whole_above(critical)",
    "limit": "rl.critical_batch_limit(ridge, size[w])",
    **{
        f"{number}_tokens": f"either(text({number}) == '1', 'token', 'tokens')"
        for number in ("first", "critical", "limit")
    },
    "memory": "capacity[chip]",
    **fits("bytes", "memory"),
    # Rounding errors can make an infinite threshold a huge finite number.
    "enough": "['At this D and F no batch is enough to make it compute-bound.',"
    " 'From {first} on it is compute-bound.'][1 * (first < 1e9)]",
}
HEIGHT = "either(wide < 480, 280, 350)"
PLOT = RooflinePlot(
    LogScale(0.5, 1e5, "46", "wide - 26"), LogScale(1e11, 2e16, f"({HEIGHT} - 42)", "28")
)
BATCHES = 17
"""Number of small circles: B = 1, 2, 4, …."""


def matmul() -> Figure:
    """Draw x[B, D] · w[D, F] → out[B, F] under its roof, with the critical batch.

    Controls: B, D, F, x, w, out (data types), chip.
    """
    peaks = {
        chip.name: {kind: chip.peaks.get(kind, 0) for kind in ("", *INPUTS)} for chip in chips()
    }
    return Figure(
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
        # The reader's own chip has only a bf16 peak.
        own={
            "peaks": {"": 0, "bf16": "peak", "int8": 0, "fp8": 0},
            "bandwidths": "bandwidth",
            "capacity": "memory",
        },
        formulas=FORMULAS,
        numbers=[
            Number("share", "of peak", "%"),
            Number("first", "compute-bound from", "@first_tokens"),
            Number("intensity", "intensity", "FLOP/byte"),
            Number("ridge", "ridge", "FLOP/byte"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_comms", "s"),
            Number("lower", "lower bound", "s"),
            Number("upper", "upper bound", "s"),
            Number("flops", "operations", "@op"),
            Number("bytes", "bytes", "B"),
            Number("critical", "critical batch, exact", "@critical_tokens"),
            Number("limit", "critical batch, limit", "@limit_tokens"),
            Number("memory", "HBM of the chip", "B"),
        ],
        says=(
            "On {chip}, computing in {kind}, the matmul has {intensity} where the ridge is "
            "{ridge}: {binding} binds. {bounds} At the lower bound it reaches {share} of the "
            "peak. {enough} As D and F grow, the critical batch comes down to {limit}.{fits}"
        ),
        height=HEIGHT,
        marks=marks,
    )


def computed_in(x: str, w: str) -> str:
    """Return the data type of the arithmetic, or "" if the types have no common type."""
    try:
        return common_type(dtype(x), dtype(w)).name
    except ValueError:
        return ""


def marks() -> Sequence[Mark]:
    x = PLOT.x.inside("ridge")
    ridge = "'ridge ' + text(floor(ridge + 0.5))"
    all_B = along(FORMULAS, "attained", "intensity", B="pow(2, i)")
    circles = {"stroke": SERIES_COLORS[0], "opacity": 0.7, "each": BATCHES, "where": all_B}
    # Near the right edge, the point's label is on its left.
    left = "intensity >= 1000"
    return [
        *PLOT.axes(),
        PLOT.upright("ridge"),
        label(f"{x} - 5", f"{PLOT.y.start} - 6", ridge, text_anchor="'end'", name="names"),
        PLOT.slope("bandwidth", 0, ceiling="peak", stroke_width=2, clip=PLOT.clip, name="slope"),
        *PLOT.ceiling("ridge", 2, "chip + ', ' + kind", ceiling="peak"),
        dot(
            PLOT.x.at("intensity"),
            PLOT.y.at("attained"),
            "'none'",
            2.8,
            clip=PLOT.clip,
            name="batches",
            **circles,
        ),
        dot(PLOT.x.at("intensity"), PLOT.y.at("attained"), SERIES_COLORS[1], 5.9, name="here"),
        label(
            f"{PLOT.x.at('intensity')} + either({left}, -8, 8)",
            f"{PLOT.y.at('attained')} + 20",
            "'B = ' + text(B)",
            text_anchor=f"either({left}, 'end', 'start')",
            font_weight="'bold'",
            name="names",
        ),
    ]
