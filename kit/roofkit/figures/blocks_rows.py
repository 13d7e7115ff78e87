"""Lower part of the blocks figure: uses and intensity of each array."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.blocks_rectangles import BASE
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    INKED,
    SERIES_COLORS,
    TINTS,
    box,
    dot,
    label,
    line,
)
from roofkit.words import _
from rooflib.quantities import text

USES = {"x": "F", "w": "B", "out": "D"}
"""How often each element of an array is used."""
ROW = 36
"""Pixels from one row to the next."""
SCALE = LogScale(0.5, 5e4, "10", "wide - 10")
HEIGHT = f"{BASE} + {4 * ROW + 84}"


def gauges() -> Sequence[Mark]:
    return [*_rows(), *_axis()]


def _rows() -> list[Mark]:
    """Draw a row for each array, and one for all: bytes, uses, FLOP/byte and ridge."""
    ridge = SCALE.inside("ridge")
    found: list[Mark] = [
        label(10, f"{BASE} + 22", quoted(_("FLOP/byte if only one array moved, and for all:")))
    ]
    words = {f"{name}_alone": _uses(name, count) for name, count in USES.items()}
    words["intensity"] = said(
        _("all: {bytes}, {intensity}"),
        bytes="text(bytes, 'B')",
        intensity="text(intensity, 'FLOP/byte')",
    )
    for i, (number, sentence) in enumerate(words.items()):
        y = f"{BASE} + {44 + ROW * i}"
        last = number == "intensity"
        found += [
            label(10, y, sentence, font_weight="'bold'" if last else "'normal'"),
            box(10, f"{y} + 5", f"{ridge} - 10", 12, TINTS[0], stroke_width=0, rx=0),
            box(ridge, f"{y} + 5", f"wide - 10 - {ridge}", 12, TINTS[2], stroke_width=0, rx=0),
            line(ridge, f"{y} + 4", ridge, f"{y} + 18", INKED, stroke_width=2),
            dot(
                SCALE.inside(number),
                f"{y} + 11",
                INKED if last else SERIES_COLORS[0],
                6 if last else 4.5,
                name=f"row-{number}",
            ),
        ]
    return found


def _uses(name: str, count: str) -> str:
    """Return the formula of a label: an array's bytes and each element's use count."""
    if name == "out":
        once = _("{array}: {bytes} written, each used {count} time")
        often = _("{array}: {bytes} written, each used {count} times")
    else:
        once = _("{array}: {bytes} loaded, each used {count} time")
        often = _("{array}: {bytes} loaded, each used {count} times")
    places = {"array": quoted(name), "bytes": f"text({name}_bytes, 'B')", "count": f"text({count})"}
    return f"either({count} == 1, {said(once, **places)}, {said(often, **places)})"


def _axis() -> list[Mark]:
    """Draw axis numbers, the ridge, and the labels memory-bound and compute-bound."""
    y = f"{BASE} + {44 + 3 * ROW + 18}"
    ridge = SCALE.inside("ridge")
    near = f"either({ridge} < 90, 'start', either({ridge} > wide - 90, 'end', 'middle'))"
    ridge_is = said(_("ridge: {ridge}"), ridge="text(ridge, 'FLOP/byte')")
    numbers: list[Mark] = []
    for number in SCALE.decades:
        at = SCALE.at(repr(number))
        numbers.append(line(at, y, at, f"{y} + 4", FAINT, stroke_width=1))
        numbers.append(label(at, f"{y} + 16", quoted(text(number)), text_anchor="'middle'"))
    return [
        *numbers,
        line(ridge, y, ridge, f"{y} + 22", INKED, stroke_width=2, name="ridge"),
        label(ridge, f"{y} + 34", ridge_is, text_anchor=near),
        label(10, f"{y} + 50", quoted(_("← memory-bound"))),
        label("wide - 10", f"{y} + 50", quoted(_("compute-bound →")), text_anchor="'end'"),
    ]
