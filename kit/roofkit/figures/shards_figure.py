"""The shards figure: what each chip holds of each matrix, and what it sends."""

from __future__ import annotations

from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.shards_marks import HEIGHT, marks
from roofkit.words import _
from rooflib.dtypes import dtype

WHOLE, PARTS = "whole on every chip", "a part on each chip"
SIZES = [4096, 8192, 16384]


def part(matrix: str) -> str:
    """Return the formula of the words "1/N of" a matrix, for one chip's share."""
    return said(_("1/{n} of {matrix}"), n="text(N)", matrix=quoted(matrix))


def whole(matrix: str) -> str:
    return said(_("all of {matrix}"), matrix=quoted(matrix))


# Source: the table of rooflib.split. The formulas `…_cut` are 0 if every chip holds the
# whole matrix, 1 if it is split by rows, and 2 if it is split by columns.
def formulas() -> dict[str, str]:
    sums = quoted(_("partial sums for all of out"))
    nothing, scatter, gather, reduce = map(
        quoted, (_("nothing travels"), _("reduce-scatter"), _("all-gather"), _("all-reduce"))
    )
    sends = said(
        _("Each chip then sends {sent} ({collective}) and ends with {ends}."),
        collective="collective",
    )
    keeps = quoted(_("Nothing travels: each chip sends {sent} and ends with {ends}."))
    return {
        "by_B": "1 * (split == 'B')",
        "by_D": "1 * (split == 'D')",
        "by_F": "1 * (split == 'F')",
        "x_cut": "by_B + 2 * by_D",
        "w_cut": "by_D + 2 * by_F",
        "out_cut": "by_B + 2 * by_F",
        "whole": f"1 * (result == {quoted(WHOLE)})",
        "result_cut": "either(whole, 0, max(out_cut, by_D))",
        "x_part": "each * rl.part(B, 'B', split, N) * rl.part(D, 'D', split, N)",
        "w_part": "each * rl.part(D, 'D', split, N) * rl.part(F, 'F', split, N)",
        "loaded": "x_part + w_part",
        "out_bytes": "each * B * F",
        "written": "each * rl.part(B, 'B', split, N) * rl.part(F, 'F', split, N)",
        "passes": "by_D + whole",
        "share": "passes * (N - 1) / N",
        "sent": "passes * rl.reduce_scatter(out_bytes, N)",
        "held": "loaded + max(written, out_bytes / either(result_cut > 0, N, 1))",
        "collective": f"at([{nothing}, either(by_D, {scatter}, {gather}), {reduce}], passes)",
        "then": f"either(passes > 0, {sends}, {keeps})",
        "has_x": f"either(x_cut > 0, {part('x')}, {whole('x')})",
        "has_w": f"either(w_cut > 0, {part('w')}, {whole('w')})",
        "has_out": f"either(by_D, {sums}, {part('out')})",
        "ends": f"either(result_cut > 0, {part('out')}, {whole('out')})",
    }


@in_languages
def shards() -> Figure:
    """Draw a bf16 matmul split over N chips: what each chip holds, and what it sends.

    Controls: split ("B", "D", "F"), N (chips), result (whole or in parts), B, D, F.
    """
    results = {WHOLE: _("whole on every chip"), PARTS: _("a part on each chip")}
    return Figure(
        name="shards",
        title=_("Choose the dimension that is split: who holds what, and what has to travel?"),
        controls=[
            Choice("split", _("split dimension"), ["B", "D", "F"], "D"),
            Slider("N", _("N (chips)"), [2, 4, 8], 4),
            Choice("result", _("out at the end"), [WHOLE, PARTS], WHOLE, results),
            Slider("B", _("B (tokens)"), SIZES, 8192),
            Slider("D", "D", SIZES, 8192),
            Slider("F", "F", SIZES, 8192),
        ],
        given={"each": dtype("bf16").bytes},
        formulas=formulas(),
        numbers=[
            Number("x_part", _("x on each chip"), "B"),
            Number("w_part", _("w on each chip"), "B"),
            Number("written", _("computed by each chip"), "B"),
            Number("sent", _("sent by each chip"), "B"),
            Number("held", _("held by each chip at most"), "B"),
        ],
        says=_(
            "Split along {split} over {N} chips, each chip holds {has_x} ({x_part}) and {has_w} "
            "({w_part}) and computes {has_out} ({written}). {then}"
        ),
        height=HEIGHT,
        marks=marks,
    )
