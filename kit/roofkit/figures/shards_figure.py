"""The shards figure: what each chip holds of each matrix, and what it sends."""

from __future__ import annotations

from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure
from roofkit.figures.engine.shapes import quoted
from roofkit.figures.shards_marks import HEIGHT, marks
from rooflib.dtypes import dtype

WHOLE, PARTS = "whole on every chip", "a part on each chip"
SIZES = [4096, 8192, 16384]

# Source: the table of rooflib.sharded_matmul. A cut is 0 if every chip holds the whole matrix, 1 if
# it is split by rows, and 2 if it is split by columns.
FORMULAS = {
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
    "collective": "at(['nothing travels', either(by_D, 'reduce-scatter', 'all-gather'), "
    "'all-reduce'], passes)",
    "then": "either(passes > 0, "
    "'Each chip then sends {sent} (' + collective + ') and ends with {ends}.', "
    "'Nothing travels: each chip sends {sent} and ends with {ends}.')",
    "has_x": "either(x_cut > 0, '1/' + text(N) + ' of x', 'all of x')",
    "has_w": "either(w_cut > 0, '1/' + text(N) + ' of w', 'all of w')",
    "has_out": "either(by_D, 'partial sums for all of out', '1/' + text(N) + ' of out')",
    "ends": "either(result_cut > 0, '1/' + text(N) + ' of out', 'all of out')",
}


def shards() -> Figure:
    """Draw a bf16 matmul split over N chips: what each chip holds, and what it sends.

    Controls: split ("B", "D", "F"), N (chips), result (whole or in parts), B, D, F.
    """
    return Figure(
        name="shards",
        title="Choose the dimension that is split: who holds what, and what has to travel?",
        controls=[
            Choice("split", "split dimension", ["B", "D", "F"], "D"),
            Slider("N", "N (chips)", [2, 4, 8], 4),
            Choice("result", "out at the end", [WHOLE, PARTS], WHOLE),
            Slider("B", "B (tokens)", SIZES, 8192),
            Slider("D", "D", SIZES, 8192),
            Slider("F", "F", SIZES, 8192),
        ],
        given={"each": dtype("bf16").bytes},
        formulas=FORMULAS,
        numbers=[
            Number("x_part", "x on each chip", "B"),
            Number("w_part", "w on each chip", "B"),
            Number("written", "computed by each chip", "B"),
            Number("sent", "sent by each chip", "B"),
            Number("held", "held by each chip at most", "B"),
        ],
        says=(
            "Split along {split} over {N} chips, each chip holds {has_x} ({x_part}) and {has_w} "
            "({w_part}) and computes {has_out} ({written}). {then}"
        ),
        height=HEIGHT,
        marks=marks,
    )
