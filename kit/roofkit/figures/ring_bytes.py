"""Lower part of the ring figure: the array, and the bytes sent by each chip."""

from __future__ import annotations

from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import (
    INKED,
    SERIES_COLORS,
    box,
    label,
    line,
    steps_of,
)
from roofkit.words import _

LETTERS = "abcdefgh"
BYTES_HEIGHT = 240  # pixels
ACCENT = SERIES_COLORS[1]


def sent_bytes(bottom: str) -> list[Mark]:
    """Draw the array and the bytes that a chip has sent, on one scale.

    bottom: formula of the bottom of the ring, below which these marks start.
    """
    unit = {"unit": "(wide - 16) / last"}

    def y(down: int) -> str:
        return f"{bottom} + {down}"

    pieces = {"n": "text(N)"}
    arrow = said(
        _("Each arrow carries 1 of {n} pieces: {bytes}"), bytes="text(piece, 'B')", **pieces
    )
    array = said(_("The array: {n} pieces, {bytes}"), bytes="text(size, 'B')", **pieces)
    sent = said(
        _("Each chip has sent {done} of {all} pieces:"), done="text(happened)", all="text(last)"
    )
    amount = said(_("{times} × the array = {bytes}"), times="text(share)", bytes="text(sent, 'B')")
    total = said(
        _("In all 2 × {share} = {times} × the array: {bytes}"),
        share="of_size",
        times="text(total_share)",
        bytes="text(total, 'B')",
    )
    scatter = said(_("reduce-scatter: {share}"), share="of_size")
    gather = said(_("all-gather: {share}"), share="of_size")
    parts = said(_("1/{n} to {n}/{n}: how many chips’ parts are in"), **pieces)
    middle = {"where": unit, "text_anchor": "'middle'"}
    slots = {"each": "last", "where": unit, "rx": 0}
    return [
        label(8, y(48), parts),
        line(8, y(68), 30, y(68), ACCENT, stroke_width=2, head=True),
        label(36, y(72), arrow, name="carries"),
        label(8, y(98), array, name="array"),
        box("8 + unit * i", y(104), "unit", 18, quoted("none"), each="N", where=unit, rx=0,
            name="array-pieces"),
        label("8 + unit * (i + 0.5)", y(117), steps_of(LETTERS, "i"), each="N", **middle),
        label(8, y(144), sent, name="sent"),
        label(8, y(160), amount, name="amount"),
        box("8 + unit * i", y(166), "unit * min(1, max(0, done - i))", 18, SERIES_COLORS[0],
            stroke_width=0, name="sent-pieces", **slots),
        box("8 + unit * i", y(166), "unit", 18, quoted("none"), name="slots", **slots),
        line("8 + unit * half", y(162), "8 + unit * half", y(202), INKED, where=unit),
        label("8 + unit * half / 2", y(199), scatter, **middle),
        label("8 + unit * half * 1.5", y(199), gather, **middle),
        label(8, y(226), total, font_weight="'bold'", name="total"),
    ]  # fmt: skip
