"""Marks of the ring figure: a column per chip, a row per piece, return path."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    SERIES_COLORS,
    TINTS,
    box,
    label,
    line,
    steps_of,
)
from roofkit.figures.ring_bytes import ACCENT, BYTES_HEIGHT, LETTERS, sent_bytes
from roofkit.words import _

# Pixels. The return path from the last chip to the first runs in the margins; TOKEN is the width of
# a traveling piece.
TOP, ROW, CELL, BAR, ROAD, TOKEN = 66, 40, 32, 9, 13, 22
BOTTOM = f"({TOP} + {ROW} * N + 4)"
HEIGHT = f"{BOTTOM} + {BYTES_HEIGHT}"

PITCH = "min((wide - 72) / N, 150)"
NARROW = f"{PITCH} < 50"
GRID = {
    "pitch": PITCH,
    "left": "44 + (wide - 72 - N * pitch) / 2",
    "cell": "0.74 * pitch",
    "from_road": f"left - 44 + {ROAD}",
    "to_road": f"left + N * pitch + 28 - {ROAD}",
}
AT_CELL = GRID | {
    "k": "mod(i, N)",
    "c": "floor(i / N)",
    "middle": "left + pitch * (k + 0.5)",
    "y": f"{TOP} + {ROW} * c",
}
# Chip k receives piece c in step (k - 1 - c) mod N of the reduce-scatter; the piece then has the
# parts of chips c to k summed in it. It receives the whole sum in step (k - c) mod N of the
# all-gather.
HELD = {
    "far": "mod(k - c, N)",
    "summed": "1 * (happened > mod(far - 1, N)) * (far > 0)",
    "whole": "1 * (happened > half + far)",
    "parts": "either(whole, N, either(summed, far + 1, 1))",
    # The step that brings the piece, and whether that is the current or last finished step.
    "brought": "either(now > half, half + far + 1, either(far > 0, far, N))",
    "arrived": "1 * (now > 0) * (now == brought)",
}
# For marks drawn once per part of a cell or of a traveling piece: j is the part's chip.
EACH_CHIP = {"j": "mod(i, N)", "i": "floor(i / N)"}
# The piece that is moving from chip k = i to the next chip, or has just arrived there.
MOVED = GRID | {
    "t": "now - 1",
    "k": "i",
    "c": "mod(either(t < half, k - t, k + 1 - (t - half)), N)",
    "carried": "either(t < half, mod(k - c, N) + 1, N)",
    "y": f"{TOP} + {ROW} * c + {CELL - BAR - 3} + {BAR / 2}",
    "start": "left + pitch * (k + 0.5) + cell / 2",
    "back": "k == half",
}
# The position of a traveling piece at constant speed: straight to the next chip, or along the
# return path: out, down, back, up and in.
TRAVEL = MOVED | {
    "began": "left + pitch * (k + 0.5)",
    "out": "to_road - began",
    "down": f"{BOTTOM} - y",
    "under": "to_road - from_road",
    "in_": "left + pitch / 2 - from_road",
    "gone": "way * (out + down + under + down + in_)",
    "turned": "gone - out - down",
    "x_back": "began + min(gone, out) - min(max(turned, 0), under) + max(turned - under - down, 0)",
    "y_back": "y + min(max(gone - out, 0), down) - min(max(turned - under, 0), down)",
    "x": "either(back, x_back, began + way * pitch)",
    "y_now": "either(back, y_back, y)",
}


def marks() -> Sequence[Mark]:
    return [
        *_headings(),
        *_return_path(),
        *_cells(),
        *_arrows(),
        *_traveling(),
        *sent_bytes(BOTTOM),
    ]


def _headings() -> list[Mark]:
    rows = GRID | {"y": f"{TOP} + {ROW} * i + 14"}
    middle = "left + pitch * (i + 0.5)"
    chip = said(_("chip {n}"), n="text(i + 1)")
    number = f"either({NARROW}, text(i + 1), {chip})"
    look = {"each": "N", "where": GRID, "text_anchor": "'middle'"}
    step = said(
        _("Step {now} of {last}: {phase}"), now="text(now)", last="text(last)", phase="phase"
    )
    return [
        label(8, 16, step, font_weight="'bold'", name="step"),
        label(8, 34, "holds", name="holds"),
        label(middle, TOP - 8, number, name="chips", **look),
        label("left - 4", TOP - 8, quoted(_("chip")), where=GRID, text_anchor="'end'",
              shown=NARROW),
        label("left - 8", "y", steps_of(LETTERS, "i"), each="N", where=rows, name="pieces",
              text_anchor="'middle'"),
    ]  # fmt: skip


def _return_path() -> list[Mark]:
    """Draw the return path from the last chip to the first."""
    first = TOP + CELL - BAR - 3 + BAR / 2
    words = said(
        _("the ring: from chip {last} back to chip {first}"), last="text(N)", first="text(1)"
    )
    middle = "(from_road + to_road) / 2"
    return [
        line("to_road", first, "to_road", BOTTOM, FAINT, where=GRID, name="road"),
        line("to_road", BOTTOM, "from_road", BOTTOM, FAINT, where=GRID, head=True, name="road"),
        line("from_road", BOTTOM, "from_road", first, FAINT, where=GRID, name="road"),
        label(middle, f"{BOTTOM} + 21", words, where=GRID, text_anchor="'middle'"),
    ]


def _cells() -> list[Mark]:
    full = AT_CELL | HELD
    bar = {"unit": "(cell - 4) / N", "y_bar": f"y + {CELL - BAR - 3}"}
    inside = "either(whole, 1, either(summed, mod(j - c, N) <= far, j == k))"
    words = "text(parts) + '/' + text(N)"
    return [
        box("middle - cell / 2", "y", "cell", CELL, f"either(parts == N, {TINTS[2]}, 'none')",
            each="N * N", where=full, stroke=f"either(arrived, {ACCENT}, {FAINT})",
            stroke_width="either(arrived, 2.5, 1)", name="cells"),
        label("middle", "y + 15", words, each="N * N", where=full, text_anchor="'middle'",
              font_weight="either(parts == N, 'bold', 'normal')", name="words"),
        box("middle - cell / 2 + 2", "y_bar", "cell - 4", BAR, quoted("none"), each="N * N",
            where=AT_CELL | bar, stroke_width=0.5, rx=0, name="bars"),
        box("middle - cell / 2 + 2 + j * unit", "y_bar", "unit - either(unit > 4, 1, 0.5)", BAR,
            SERIES_COLORS[0], each="N * N * N", where=EACH_CHIP | full | bar, shown=inside,
            stroke_width=0, rx=0, name="parts"),
    ]  # fmt: skip


def _arrows() -> list[Mark]:
    """Draw an arrow from each chip to the next; the last one returns to chip 1."""
    look = {"where": MOVED, "stroke_width": 2}
    here, around = look | {"each": "N", "name": "arrows"}, look | {"each": "N", "name": "around"}
    out = "start + pitch - cell"
    on, back = "1 * (now > 0) * (k < half)", "1 * (now > 0) * back"
    return [
        line("start + 1", "y", f"{out} - 1", "y", ACCENT, head=True, shown=on, **here),
        line("start + 1", "y", "to_road", "y", ACCENT, shown=back, **around),
        line("to_road", "y", "to_road", BOTTOM, ACCENT, shown=back, **around),
        line("to_road", BOTTOM, "from_road", BOTTOM, ACCENT, shown=back, head=True, **around),
        line("from_road", BOTTOM, "from_road", "y", ACCENT, shown=back, **around),
        line("from_road", "y", "left + (pitch - cell) / 2 - 1", "y", ACCENT, shown=back,
             head=True, **(around | {"name": "arrows"})),
    ]  # fmt: skip


def _traveling() -> list[Mark]:
    """Draw the moving pieces between two steps, with the parts summed in them."""
    unit, moving = TOKEN - 2, "way > 0"
    return [
        box(f"x - {TOKEN / 2}", "y_now - 7", TOKEN, 14, TINTS[0], each="N", where=TRAVEL,
            shown=moving, stroke=ACCENT, stroke_width=1.5, name="tokens"),
        box(f"x - {TOKEN / 2 - 1} + j * {unit} / N", "y_now - 4.5", f"{unit} / N - 0.5", BAR,
            SERIES_COLORS[0], each="N * N", where=EACH_CHIP | TRAVEL, rx=0, stroke_width=0,
            shown=f"({moving}) * (mod(j - c, N) < carried)", name="carried"),
    ]  # fmt: skip
