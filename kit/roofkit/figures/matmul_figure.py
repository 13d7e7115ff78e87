"""The matmul figure: a matmul of any size and data types under a chip's roof."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.expressions import along
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import named, quoted, said
from roofkit.figures.engine.shapes import SERIES_COLORS, dot, label
from roofkit.figures.options import OWN, own_names, sizes
from roofkit.figures.roofs import RooflinePlot
from roofkit.words import _
from rooflib.catalog import chips
from rooflib.dtypes import DTYPES, common_type, dtype

INPUTS = ("bf16", "int8", "fp8")
WEIGHTS = ("bf16", "int8", "fp8", "int4", "fp4")
OUTPUTS = ("bf16", "fp32", "int8", "fp8")


def formulas() -> dict[str, str]:
    no_peak = said(
        _("{chip} has no peak for {kind}: choose other types or another chip."),
        chip=named("chip", own_names()),
        kind="kind",
    )
    no_type = said(
        _("{x} times {w} has no common type to compute in: choose other types."), x="x", w="w"
    )
    token, tokens = quoted(_("token")), quoted(_("tokens"))
    never = _("At this D and F no batch is enough to make it compute-bound.")
    enough = _("From {first} on it is compute-bound.")
    return {
        "kind": "kinds[x][w]",
        "peak": "peaks[chip][kind]",
        "problem": f"[[{no_peak}, {no_type}][1 * (kind == '')], ''][1 * (peak > 0)]",
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
            f"{number}_tokens": f"either(text({number}) == '1', {token}, {tokens})"
            for number in ("first", "critical", "limit")
        },
        "memory": "capacity[chip]",
        **fits("bytes", "memory"),
        # Rounding errors can make an infinite threshold a huge finite number.
        "enough": f"[{quoted(never)}, {quoted(enough)}][1 * (first < 1e9)]",
    }


HEIGHT = "either(wide < 480, 280, 350)"
X = LogScale(0.5, 1e5, "46", "wide - 26")
Y = LogScale(1e11, 2e16, f"({HEIGHT} - 42)", "28")
BATCHES = 17
"""Number of small circles: B = 1, 2, 4, …."""


@in_languages
def matmul() -> Figure:
    """Draw x[B, D] · w[D, F] → out[B, F] under its roof, with the critical batch.

    Controls: B, D, F, x, w, out (data types), chip.
    """
    peaks = {
        chip.name: {kind: chip.rates.get(kind, 0) for kind in ("", *INPUTS)} for chip in chips()
    }
    return Figure(
        name="matmul",
        title=_("Move B, D, F and the data types: where does the matmul reach its roof?"),
        controls=[
            Slider("B", _("B (tokens)"), sizes(0, 16), 64),
            Slider("D", "D", sizes(6, 16), 4096),
            Slider("F", "F", sizes(6, 16), 16384),
            Choice("x", _("type of x"), INPUTS, "bf16"),
            Choice("w", _("type of w"), WEIGHTS, "bf16"),
            Choice("out", _("type of the output"), OUTPUTS, "bf16"),
            Choice(
                "chip", _("chip"), [*(chip.name for chip in chips()), OWN], "TPU v5e", own_names()
            ),
        ],
        given={
            "peaks": peaks,
            "bandwidths": {chip.name: chip["HBM"] for chip in chips()},
            "capacity": {chip.name: chip.memory for chip in chips()},
            "kinds": {x: {w: computed_in(x, w) for w in WEIGHTS} for x in INPUTS},
            "size": {kind: DTYPES[kind].bytes for kind in sorted({*INPUTS, *WEIGHTS, *OUTPUTS})},
        },
        # The reader's own chip has only a bf16 peak.
        own={
            "peaks": {"": 0, "bf16": "peak", "int8": 0, "fp8": 0},
            "bandwidths": "bandwidth",
            "capacity": "memory",
        },
        formulas=formulas(),
        numbers=[
            Number("share", _("of peak"), "%"),
            Number("first", _("compute-bound from"), "@first_tokens"),
            Number("intensity", _("intensity"), "FLOP/byte"),
            Number("ridge", _("ridge"), "FLOP/byte"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_comms", "s"),
            Number("lower", _("lower bound"), "s"),
            Number("upper", _("upper bound"), "s"),
            Number("flops", _("operations"), "@op"),
            Number("bytes", _("bytes"), "B"),
            Number("critical", _("critical batch, exact"), "@critical_tokens"),
            Number("limit", _("critical batch, limit"), "@limit_tokens"),
            Number("memory", _("HBM of the chip"), "B"),
        ],
        says=_(
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
    plot, x = RooflinePlot(X, Y), X.inside("ridge")
    ridge = said(_("ridge {ridge}"), ridge="text(floor(ridge + 0.5))")
    roof = said("{chip}, {kind}", chip=named("chip", own_names()), kind="kind")
    all_B = along(formulas(), "attained", "intensity", B="pow(2, i)")
    circles = {"stroke": SERIES_COLORS[0], "opacity": 0.7, "each": BATCHES, "where": all_B}
    # Near the right edge, the point's label is on its left.
    left = "intensity >= 1000"
    return [
        *plot.axes(),
        plot.upright("ridge"),
        label(f"{x} - 5", f"{Y.start} - 6", ridge, text_anchor="'end'", name="names"),
        plot.slope("bandwidth", 0, ceiling="peak", stroke_width=2, clip=plot.clip, name="slope"),
        *plot.ceiling("ridge", 2, roof, ceiling="peak"),
        dot(
            X.at("intensity"),
            Y.at("attained"),
            "'none'",
            2.8,
            clip=plot.clip,
            name="batches",
            **circles,
        ),
        dot(X.at("intensity"), Y.at("attained"), SERIES_COLORS[1], 5.9, name="here"),
        label(
            f"{X.at('intensity')} + either({left}, -8, 8)",
            f"{Y.at('attained')} + 20",
            "'B = ' + text(B)",
            text_anchor=f"either({left}, 'end', 'start')",
            font_weight="'bold'",
            name="names",
        ),
    ]
