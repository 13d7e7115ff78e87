"""What is drawn for `shards`: x, w and out in strips or sheets, and the bytes that travel."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.pictures.blocks import FAINT, INKED, SERIES_COLOURS, TINTS, box, label, line, quoted
from roofkit.pictures.scene import Mark

# Pixels: edges and gaps, how far a pile of sheets sticks out, and what the matrices share.
TOP, DOWN, ACROSS, BAND, LEFT, PILE = 80, 58, 36, 132, 22, 16
WIDEST, TALLEST = 480, 380
CAPTION, SENTENCE = 80, 172

UNIT = f"min((min(wide, {WIDEST}) - {LEFT + ACROSS + PILE + 4}) / (D + F), {TALLEST} / (D + 2 * B))"
HEIGHT = f"{TOP + DOWN + BAND + 122} + (D + 2 * B) * {UNIT}"
PLACES = {
    "unit": UNIT,
    "x_left": f"{LEFT} + (wide - {LEFT + ACROSS + PILE + 4} - (D + F) * unit) / 2",
    "out_left": f"x_left + unit * D + {ACROSS}",
    "out_top": f"{TOP + DOWN} + unit * D",
    "below": "out_top + unit * B",
    "end_top": f"below + {BAND}",
    "end": "end_top + unit * B",
}
MIDDLE = "'middle'"
TRAVELS = SERIES_COLOURS[1]


def marks() -> Sequence[Mark]:
    title = "'Split: ' + split + ' over ' + text(N) + ' chips. Sides to scale.'"
    return [
        label(8, 16, title, font_weight="'bold'", name="title"),
        *_matrix("x", "B", "D", "x_cut", "x_left", "out_top", "'x[B, D]'"),
        *_matrix("w", "D", "F", "w_cut", "out_left", str(TOP), "'w[D, F]'"),
        *_matrix("out", "B", "F", "out_cut", "out_left", "out_top", "'out[B, F]'", "by_D"),
        *_matrix("end", "B", "F", "result_cut", "out_left", "end_top", "'out, at end'"),
        *_sides(),
        *_travels(),
        *_legend(),
    ]


def _matrix(
    name: str, rows: str, columns: str, cut: str, left: str, top: str, words: str, partial: str = ""
) -> list[Mark]:
    """A matrix on the chips: strips with the chips' numbers, or a sheet for each chip.

    `cut` names the formula that is 0 for sheets, 1 for strips of rows and 2 for strips of columns;
    `partial` the one that says whether the sheets are partial sums.
    """
    partial = partial or "0"
    place = PLACES | {
        "high": f"unit * {rows} / either({cut} == 1, N, 1)",
        "long": f"unit * {columns} / either({cut} == 2, N, 1)",
        "strip_x": f"{left} + i * long * ({cut} == 2)",
        "strip_y": f"{top} + i * high * ({cut} == 1)",
        # The sheet of the first chip lies in front.
        "behind": f"(N - 1 - i) * {PILE} / (N - 1)",
        # Where there is no room for every number, every second, fourth or eighth has one.
        "room": f"either({cut} == 1, high / 12, long / 9)",
        "every": "either(room >= 1, 1, either(room >= 0.5, 2, either(room >= 0.25, 4, 8)))",
        "named": f"1 * ({cut} > 0) * (mod(i, every) == 0)",
        "caption": f"min({left}, wide - {CAPTION})",
        "over": f"{top} - 8 - either({cut} == 0, {PILE}, 0)",
    }
    tint = f"at([{', '.join(TINTS[:4])}], mod({{}}, 4))"
    has = (
        f"either({cut} > 0, '1/' + text(N) + ' on each', "
        f"either({partial}, 'partial sums', 'all on each'))"
    )
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
        label(f"{left} + long / 2", f"{top} + high / 2 + 4", "'1 to ' + text(N)",
              text_anchor=MIDDLE, shown=f"{cut} == 0", name=f"{name}-all", **once),
        label("caption", "over - 14", words, font_weight="'bold'", **once),
        label("caption", "over", has, name=f"{name}-has", **once),
    ]  # fmt: skip


def _sides() -> list[Mark]:
    """Which side is B, D or F."""
    centre = {"where": PLACES, "text_anchor": MIDDLE, "fill": FAINT}
    return [
        label("x_left - 10", "out_top + unit * B / 2 + 4", "'B'", **centre),
        label("x_left + unit * D / 2", "below + 14", "'D'", **centre),
        label("out_left - 10", f"{TOP} + unit * D / 2 + 4", "'D'", **centre),
        label("out_left + unit * F / 2", "end + 14", "'F'", **centre),
    ]


def _travels() -> list[Mark]:
    middle = "out_left + unit * F / 2"
    once = {"where": PLACES | {"words": f"max(8, min(x_left, {middle} - {SENTENCE}))"}}
    moves = "passes > 0"
    sends = "either(passes > 0, 'Each chip sends', 'Each chip keeps')"
    amount = "either(passes > 0, text(share) + ' × out = ' + text(sent, 'B'), 'its part of out.')"
    return [
        line(middle, "below + 6", middle, f"end_top - {PILE + 38}", TRAVELS, stroke_width=2.5,
             head=True, shown=moves, name="road", **once),
        label("words", "below + 36", "collective", font_weight="'bold'", name="collective", **once),
        label("words", "below + 52", sends, **once),
        label("words", "below + 68", amount, name="amount", **once),
    ]  # fmt: skip


def _legend() -> list[Mark]:
    """What is sent beside the size of out, to scale; and how to read the sheets."""
    once = {"where": PLACES | {"full": f"(min(wide, {WIDEST}) - 16) / 2"}}
    frame = "'Sent by each chip; the frame is out, ' + text(out_bytes, 'B')"
    return [
        label(8, "end + 40", frame, name="frame", **once),
        box(8, "end + 47", "share * full", 14, TRAVELS, stroke_width=0, rx=0, name="sent",
            shown="share > 0", **once),
        box(8, "end + 47", "full", 14, quoted("none"), rx=0, name="whole-out", stroke=INKED,
            stroke_width=1.5, **once),
        label(8, "end + 82", "'A number: the chip that holds the strip.'", **once),
        label(8, "end + 98", "'A pile: a sheet of that size on every chip.'", **once),
        label(8, "end + 114", "'Dashed: parts of sums that must still be added.'", **once),
    ]  # fmt: skip
