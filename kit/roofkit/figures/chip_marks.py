"""Marks of the chip figure: connections and boxes to scale, and a key."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.chip_tables import LINKS, MEMORIES, MESH
from roofkit.figures.engine.expressions import Formula
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

# Pixels. The lengths of connections have no meaning; they are short to fit on a phone.
LEFT, EDGE = 16, 8
HBM_BOTTOM = 92
CHIP_TOP, CHIP_BOTTOM = 136, 262
PEERS = CHIP_BOTTOM + 32
WORDS = PEERS + 25
KEY = WORDS + 86
HIGH = KEY + 62

SCALE = "(0.55 * min(wide, 720) / max(widest, bandwidth, total_0))"
"""Pixels per byte/s, the same for every chip of the catalog."""
ROAD = f"(bandwidth * {SCALE})"
AREA = f"min(min(wide, 720) / 6e9, 86 * ({ROAD} + {2 * EDGE}) / capacity)"
"""Square pixels per byte; fewer if the reader's own chip would not fit."""
COMPUTE = "(76 * 76 / max(strongest, ceiling))"
"""Square pixels per FLOP/s."""
BOLD = quoted("bold")


def marks() -> Sequence[Mark]:
    beside = f"{LEFT} + {ROAD} + 14"
    width = f"{ROAD} + {2 * EDGE}"
    high = f"capacity * {AREA} / ({width})"
    return [
        box(LEFT - EDGE, f"{HBM_BOTTOM} - {high}", width, high, TINTS[1], name="hbm"),
        label(beside, HBM_BOTTOM - 24, "'HBM'"),
        label(beside, HBM_BOTTOM - 8, "text(capacity, 'B')"),
        _road(LEFT, HBM_BOTTOM, ROAD, CHIP_TOP - HBM_BOTTOM, 0, name="road-hbm"),
        label(beside, HBM_BOTTOM + 19, "text(bandwidth, 'B/s')", font_weight=BOLD),
        label(beside, HBM_BOTTOM + 35, "text(ridge, 'FLOP/byte')"),
        *_chip(),
        *(mark for j in range(LINKS) for mark in _link(j)),
        *_key(),
    ]


def _road(x: Formula, y: Formula, wide: str, high: float, series: int, **own: Formula) -> Mark:
    """Draw a connection without a stroke, which would widen it."""
    return box(x, y, wide, high, SERIES_COLORS[series], stroke_width=0, rx=0, **own)


def _square(x: Formula, y: Formula, area: str, fill: str, **look: Formula) -> Mark:
    """Draw a square with its left edge at x, vertically centered at y."""
    side = f"sqrt({area})"
    return box(x, f"({y}) - {side} / 2", side, side, fill, **look)


def _chip() -> list[Mark]:
    """Draw the chip: its compute units, and its memories to the same scale as HBM."""
    x, y = f"{LEFT + 12} + sqrt(ceiling * {COMPUTE})", CHIP_TOP + 46
    rows = [CHIP_TOP + 102 + 16 * j for j in range(MEMORIES)]
    peak = said(_("{peak} in bf16"), peak="text(ceiling, 'FLOP/s')")
    found = [
        box(EDGE / 2, CHIP_TOP, f"wide - {EDGE}", CHIP_BOTTOM - CHIP_TOP, TINTS[3], rx=6),
        _square(LEFT, y, f"ceiling * {COMPUTE}", TINTS[2], stroke=INKED, name="compute"),
        label(x, y - 5, quoted(_("compute units"))),
        label(x, y + 13, peak, font_weight=BOLD),
        label(LEFT, rows[0], quoted(_("memory on the chip: no figure")), shown="held == 0"),
    ]
    for j, y in enumerate(rows):
        shown, name = f"size_{j} > 0", f"on-chip-{j}"
        words = f"at(memory_names, on_chip[chip]['name_{j}']) + ' ' + text(size_{j}, 'B')"
        found += [
            _square(
                LEFT, y - 4, f"size_{j} * {AREA}", INKED, stroke_width=0, name=name, shown=shown
            ),
            label(LEFT + 12, y, words, shown=shown),
        ]
    return found


def _link(j: int) -> list[Mark]:
    """Draw a link's connections, the peers they lead to, and their numbers."""
    # Torus and mesh are the first two: their links lead to different chips.
    shown, torus = f"lane_{j} > 0", f"kind_{j} <= {MESH}"
    left = str(LEFT) if j == 0 else f"(wide * {0.42 + 0.3 * (j - 1)})"
    # Draw each connection of a torus or a mesh, since they lead to different neighbors; draw those
    # of any other link as one.
    roads = f"either({torus}, lanes_{j}, 1)"
    width = f"(either({torus}, lane_{j}, total_{j}) * {SCALE})"
    x = f"{left} + 5 + i * ({width} + 10)"
    middle = f"{x} + {width} / 2"
    # These texts are in the order of TOPOLOGIES, followed by ONE_PEER.
    topologies = ", ".join(
        (
            *2 * (said(_("to {count} neighbors"), count=f"text(lanes_{j})"),),
            *map(quoted, (_("to any one peer"), _("by the host"), _("to one peer"))),
        )
    )
    lines = [
        f"at(link_names, links[chip]['name_{j}'])",
        f"at([{topologies}], kind_{j})",
        f"either({torus}, text(lanes_{j}) + ' × ', '') + text(rate_{j}, 'B/s')",
        f"text(ridge_{j})",
        "'FLOP/byte'",
    ]
    own: dict[str, Formula] = {"each": roads, "shown": shown}
    high = PEERS - CHIP_BOTTOM
    thin: dict[str, Formula] = own | {"shown": f"({shown}) * ({width} < 1)"}
    return [
        _road(x, CHIP_BOTTOM, width, high, 1 if j == 0 else 2, name=f"road-{j}", **own),
        _hairline(middle, CHIP_BOTTOM, middle, PEERS, name=f"thin-{j}", **thin),
        box(f"{x} - 3", PEERS, f"{width} + 6", 9, TINTS[3], name=f"peers-{j}", **own),
        *(
            label(
                left,
                WORDS + 15 * row,
                words,
                shown=shown,
                **({"font_weight": BOLD} if row == 2 else {}),
            )
            for row, words in enumerate(lines)
        ),
    ]


def _hairline(x1: Formula, y1: Formula, x2: Formula, y2: Formula, **own: Formula) -> Mark:
    return line(x1, y1, x2, y2, FAINT, stroke_width=1, stroke_dasharray="'1 3'", **own)


def _key() -> list[Mark]:
    """Draw the key, in two columns: what is to scale, and the scales."""
    rows = [KEY + 18 * row for row in range(4)]
    memory, compute = f"1e9 * {AREA}", f"1e14 * {COMPUTE}"
    right = "max(176, 0.58 * min(wide, 720))"
    beside = f"{LEFT} + max(1e12 * {SCALE}, sqrt({compute})) + 8"
    return [
        label(LEFT, rows[0], quoted(_("To scale, and nothing else is:")), font_weight=BOLD),
        _road(LEFT, rows[1] - 9, f"1e12 * {SCALE}", 9, 0, name="key-road"),
        label(beside, rows[1], said(_("road: {amount}"), amount="text(1e12, 'B/s')")),
        _square(right, rows[1] - 4, memory, TINTS[1], name="key-memory"),
        label(f"{right} + 18", rows[1], said(_("memory: {amount}"), amount="text(1e9, 'B')")),
        _square(LEFT, rows[2] - 4, compute, TINTS[2], stroke=INKED, name="key-compute"),
        label(beside, rows[2], said(_("compute: {amount}"), amount="text(1e14, 'FLOP/s')")),
        _hairline(right, rows[2] - 4, f"{right} + 14", rows[2] - 4),
        label(f"{right} + 18", rows[2], quoted(_("under a pixel"))),
        label(LEFT, rows[3], quoted(_("FLOP/byte: what each byte has to feed"))),
    ]
