"""Lower part of the ring figure: the array, and the bytes sent by each chip."""

from __future__ import annotations

from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.shapes import (
    INKED,
    SERIES_COLORS,
    box,
    label,
    line,
    quoted,
    steps_of,
)

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

    arrow = "'Each arrow carries 1 of ' + text(N) + ' pieces: ' + text(piece, 'B')"
    array = "'The array: ' + text(N) + ' pieces, ' + text(size, 'B')"
    sent = "'Each chip has sent ' + text(happened) + ' of ' + text(last) + ' pieces:'"
    amount = "text(share) + ' × the array = ' + text(sent, 'B')"
    shares = "'In all 2 × ' + of_size + ' = ' + text(total_share) + ' × the array'"
    total = f"{shares} + ': ' + text(total, 'B')"
    parts = "'1/' + text(N) + ' to ' + text(N) + '/' + text(N) + ': how many chips’ parts are in'"
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
        label("8 + unit * half / 2", y(199), "'reduce-scatter: ' + of_size", **middle),
        label("8 + unit * half * 1.5", y(199), "'all-gather: ' + of_size", **middle),
        label(8, y(226), total, font_weight="'bold'", name="total"),
    ]  # fmt: skip
