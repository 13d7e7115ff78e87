"""The blocks figure: a matmul as rectangles to scale, and its intensity."""

from __future__ import annotations

from roofkit.figures.blocks_rectangles import rectangles
from roofkit.figures.blocks_rows import HEIGHT, USES, gauges
from roofkit.figures.bounds import fits
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import one_of, quoted, said
from roofkit.figures.options import OWN, bandwidths, capacities, names, own_names, peaks, sizes
from roofkit.words import _
from rooflib.dtypes import dtype


def formulas() -> dict[str, str]:
    once = quoted(_("once"))
    often = said(_("{count} times"), count="text(B)")
    meets = (
        _("The marked element of x meets a row of w and adds to a row of out."),
        _("The marked element of w meets a column of x and adds to a column of out."),
        _("The marked element of out is the sum over a row of x times a column of w."),
    )
    return {
        "flops": "rl.matmul_flops(B, D, F)",
        "x_bytes": "size * B * D",
        "w_bytes": "size * D * F",
        "out_bytes": "size * B * F",
        "bytes": "x_bytes + w_bytes + out_bytes",
        **fits("bytes"),
        # FLOP/byte if only this array moved; in bf16 this equals the uses of each element.
        "x_alone": "flops / x_bytes",
        "w_alone": "flops / w_bytes",
        "out_alone": "flops / out_bytes",
        "intensity": "flops / bytes",
        "ridge": "rl.ridge(peak[chip], hbm[chip])",
        "share": "rl.fraction_at(intensity, ridge)",
        "verdict": one_of((_("memory-bound"), _("compute-bound")), "1 * (intensity >= ridge)"),
        "smallest": "min(B, min(D, F))",
        "most": "max(w_bytes, max(x_bytes, out_bytes))",
        "largest": "either(w_bytes == most, 'w', either(x_bytes == most, 'x', 'out'))",
        "largest_share": "most / bytes",
        "w_uses": f"either(B == 1, {once}, {often})",
        "meets": one_of(meets, "indexof(['x', 'w', 'out'], one)"),
    }


@in_languages
def matmul_blocks() -> Figure:
    """Draw x[B, D] · w[D, F] → out[B, F] as rectangles, and the intensity in bf16.

    All sides are drawn to one linear scale, shown by a bar, so areas are proportional to bytes.
    Controls: B, D, F, one (the array of which one element is highlighted), chip.
    """
    return Figure(
        name="matmul_blocks",
        title=_(
            "Change the sides: which array has most of the bytes, and is it enough for the chip?"
        ),
        controls=[
            Slider("B", _("B (tokens)"), sizes(0, 14), 64),
            Slider("D", "D", sizes(7, 14), 4096),
            Slider("F", "F", sizes(7, 14), 16384),
            Choice("one", _("follow one element of"), list(USES), "x"),
            Choice("chip", _("chip"), [*names(), OWN], "TPU v5e", own_names()),
        ],
        given={
            "peak": peaks(),
            "hbm": bandwidths(),
            "capacity": capacities(),
            "size": dtype("bf16").bytes,
        },
        own={"peak": "peak", "hbm": "bandwidth", "capacity": "memory"},
        formulas=formulas(),
        numbers=[
            Number("x_bytes", _("x, loaded"), "B"),
            Number("w_bytes", _("w, loaded"), "B"),
            Number("out_bytes", _("out, written"), "B"),
            Number("flops", _("operations"), "FLOP"),
            Number("intensity", _("intensity"), "FLOP/byte"),
            Number("smallest", _("smallest side")),
            Number("ridge", _("ridge"), "FLOP/byte"),
            Number("largest_share", _("largest array, of all bytes"), "%"),
            Number("share", _("of peak, at most"), "%"),
        ],
        says=_(
            "In bf16, {x_bytes} of x and {w_bytes} of w are loaded and {out_bytes} of out are "
            "written. Each element of x is used {F} times, of w {w_uses}, of out {D} times. "
            "{meets} Of the bytes, {largest_share} belong to {largest}. The intensity is "
            "{intensity}: it stays below the smallest side, {smallest}. The ridge point of {chip} "
            "is {ridge}, so the multiplication is {verdict}.{fits}"
        ),
        height=HEIGHT,
        marks=lambda: [*rectangles(), *gauges()],
    )
