"""Marks of the shards figure: matrices in strips or sheets, and bytes sent."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    INKED,
    SERIES_COLORS,
    TINTS,
    box,
    label,
    line,
)
from roofkit.words import _

# Pixels: margins and gaps, the offset of the rearmost sheet in a pile, and maximum widths.
TOP, DOWN, ACROSS, BAND, LEFT, PILE = 72, 52, 36, 86, 22, 16
WIDEST, CAPTION = 480, 80
SENTENCE = 156
"""Pixels left of the last matrix, for the text about the bytes sent."""
TALLEST = "min(380, 116 + 0.4 * wide)"
"""Lower on a phone, so that picture, controls and numbers fit on the screen."""

UNIT = (
    f"min((min(wide, {WIDEST}) - {LEFT + ACROSS + PILE + 4}) / (D + F), "
    f"(min(wide, {WIDEST}) - {SENTENCE + PILE + 12}) / F, {TALLEST} / (D + 2 * B))"
)
WIDEST_SHARE = 1.75
"""The most a chip sends, as a multiple of out: with eight chips an all-reduce sends 2 × 7/8."""
KEY = "max(unit * B + 32, 72)"
"""Pixels from the top of the last matrix to the explanation of the sheets."""
HEIGHT = f"{TOP + DOWN + BAND + 38} + (D + B) * {UNIT} + {KEY.replace('unit', f'({UNIT})')}"
PLACES = {
    "unit": UNIT,
    "out_left": f"max({SENTENCE + 8}, (wide + (D - F) * unit + {LEFT + ACROSS - PILE - 4}) / 2)",
    "x_left": f"out_left - unit * D - {ACROSS}",
    "out_top": f"{TOP + DOWN} + unit * D",
    "below": "out_top + unit * B",
    "end_top": f"below + {BAND}",
    "end": "end_top + unit * B",
}
MIDDLE = "'middle'"
TRAVELS = SERIES_COLORS[1]


def marks() -> Sequence[Mark]:
    title = said(_("Split: {split} over {n} chips. Sides to scale."), split="split", n="text(N)")
    return [
        label(8, 16, title, font_weight="'bold'", name="title"),
        *_matrix("x", "B", "D", "x_cut", "x_left", "out_top", "'x[B, D]'"),
        *_matrix("w", "D", "F", "w_cut", "out_left", str(TOP), "'w[D, F]'"),
        *_matrix("out", "B", "F", "out_cut", "out_left", "out_top", "'out[B, F]'", "by_D"),
        *_matrix("end", "B", "F", "result_cut", "out_left", "end_top", quoted(_("out, at end"))),
        *_sides(),
        *_bytes_sent(),
        *_key(),
    ]


def _matrix(
    name: str, rows: str, columns: str, cut: str, left: str, top: str, words: str, partial: str = ""
) -> list[Mark]:
    """Draw a matrix: as numbered strips, one per chip, or as a sheet for each chip.

    cut: name of the formula that is 0 for sheets, 1 for strips of rows, 2 for strips of columns.
    partial: name of the formula that says whether the sheets are partial sums.
    """
    partial = partial or "0"
    place = PLACES | {
        "high": f"unit * {rows} / either({cut} == 1, N, 1)",
        "long": f"unit * {columns} / either({cut} == 2, N, 1)",
        "strip_x": f"{left} + i * long * ({cut} == 2)",
        "strip_y": f"{top} + i * high * ({cut} == 1)",
        # Offset of chip i's sheet in the stack that is drawn: the first chip is in front.
        "behind": f"(N - 1 - i) * {PILE} / (N - 1)",
        # If there is no room for every number, show every second, fourth or eighth one.
        "room": f"either({cut} == 1, high / 10, long / 9)",
        "every": "either(room >= 1, 1, either(room >= 0.5, 2, either(room >= 0.25, 4, 8)))",
        "named": f"1 * ({cut} > 0) * (mod(i, every) == 0)",
        "caption": f"min({left}, wide - {CAPTION})",
        "over": f"{top} - 8 - either({cut} == 0, {PILE}, 0)",
    }
    tint = f"at([{', '.join(TINTS[:4])}], mod({{}}, 4))"
    part = said(_("1/{n} on each"), n="text(N)")
    sums, everything = quoted(_("partial sums")), quoted(_("all on each"))
    has = f"either({cut} > 0, {part}, either({partial}, {sums}, {everything}))"
    once = {"where": place}
    each = once | {"each": "N"}
    return [
        box("strip_x", "strip_y", "long", "high", tint.format("i"), name=f"{name}-strips", rx=0,
            shown=f"{cut} > 0", **each),
        box(f"{left} + behind", f"{top} - behind", "long", "high", tint.format("N - 1 - i"),
            name=f"{name}-sheets", shown=f"{cut} == 0", rx=0,
            stroke_dasharray=f"either({partial}, '4 2', 'none')", **each),
        label("strip_x + long / 2", "strip_y + high / 2 + 4", "text(i + 1)", shown="named",
              text_anchor=MIDDLE, name=f"{name}-numbers", **each),
        label(f"{left} + long / 2", f"{top} + high / 2 + 4", said(_("1 to {n}"), n="text(N)"),
              text_anchor=MIDDLE, shown=f"{cut} == 0", name=f"{name}-all", **once),
        label("caption", "over - 14", words, font_weight="'bold'", **once),
        label("caption", "over", has, name=f"{name}-has", **once),
    ]  # fmt: skip


def _sides() -> list[Mark]:
    """Label the sides B, D and F."""
    center = {"where": PLACES, "text_anchor": MIDDLE, "fill": FAINT}
    return [
        label("x_left - 10", "out_top + unit * B / 2 + 4", "'B'", **center),
        label("x_left + unit * D / 2", "below + 14", "'D'", **center),
        label("out_left - 10", f"{TOP} + unit * D / 2 + 4", "'D'", **center),
        label("out_left + unit * F / 2", "end + 14", "'F'", **center),
    ]


def _bytes_sent() -> list[Mark]:
    """Draw a bar for the bytes sent, and a frame for the bytes of out, on one scale."""
    middle = "out_left + unit * F / 2"
    once = {"where": PLACES | {"words": f"out_left - {SENTENCE}", "full": f"{SENTENCE - 14}"}}
    moves = "passes > 0"
    # The two lines of a label that is one sentence: what a chip does, and with how much data.
    shares = _("Each chip sends\n{times} × out = {bytes}").split("\n")
    keeps = map(quoted, _("Each chip keeps\nits part of out.").split("\n"))
    places = {"times": "text(share)", "bytes": "text(sent, 'B')"}
    sends, amount = (
        f"either(passes > 0, {said(one, **places)}, {other})"
        for one, other in zip(shares, keeps, strict=True)
    )
    frame = said(_("The frame: out, {bytes}"), bytes="text(out_bytes, 'B')")
    bar = f"share * full / {WIDEST_SHARE}"
    return [
        line(middle, "below + 6", middle, f"end_top - {PILE + 38}", TRAVELS, stroke_width=2.5,
             head=True, shown=moves, name="road", **once),
        label("words", "end_top - 20", "collective", font_weight="'bold'", name="collective",
              **once),
        label("words", "end_top - 4", sends, **once),
        label("words", "end_top + 12", amount, name="amount", **once),
        box("words", "end_top + 20", bar, 14, TRAVELS, stroke_width=0, rx=0, name="sent",
            **once),
        box("words", "end_top + 20", f"full / {WIDEST_SHARE}", 14, quoted("none"), rx=0,
            name="whole-out", stroke=INKED, stroke_width=1.5, **once),
        label("words", "end_top + 50", frame, name="frame", **once),
    ]  # fmt: skip


def _key() -> list[Mark]:
    """Explain how to read the strips and sheets."""
    sentences = [
        _("A number: the chip that holds the strip."),
        _("A pile: a sheet of that size on every chip."),
        _("Dashed: parts of sums that must still be added."),
    ]
    return [
        label(8, f"end_top + {KEY} + {16 * row}", quoted(words), where=PLACES)
        for row, words in enumerate(sentences)
    ]
