"""Marks of the tiles figure; its counts are formulas of `tiles_figure`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import INKED, SERIES_COLORS, TINTS, box, label, line
from roofkit.words import _

N = 8
"""Elements along each side of x, w and out: as many as a phone can draw with a number in each."""

# X_COUNT and W_COUNT: how often an element was loaded; ceil((done - k) / n) is the number of tiles
# that have loaded their piece k. OUT_COUNT: how many products are summed in an element.
X_COUNT: dict[str, Formula] = {
    "b": "floor(i / n)",
    "k": "i - n * b",
    "count": "min(n / t, max(0, ceil((done - k) / n) - floor(b / t) * n / t))",
}
W_COUNT: dict[str, Formula] = {
    "k": "floor(i / n)",
    "f": "i - n * k",
    "count": "max(0, ceil((ceil((done - k) / n) - floor(f / t)) * t / n))",
}
OUT_COUNT: dict[str, Formula] = {
    "b": "floor(i / n)",
    "f": "i - n * b",
    "count": "min(n, max(0, done - (floor(b / t) * n / t + floor(f / t)) * n))",
}
TOP, GAP = 24, 2.4
CELL = f"min(22, (wide - 16) / (2 * n + {GAP}))"
PLACE: dict[str, Formula] = {
    "cell": CELL,
    "x_left": f"(wide - (2 * n + {GAP}) * cell) / 2",
    "right": f"x_left + (n + {GAP}) * cell",
    "low": f"{TOP} + (n + {GAP}) * cell",
}
"""Cell size in pixels, and positions of x (bottom left), w (top right) and out (bottom right)."""
COLUMNS = {"x_left": f"(-n - {GAP / 2})", "right": f"{GAP / 2}"}
ROWS: dict[Formula, str] = {"low": f"(n + {GAP})", TOP: "0"}
"""The same positions in cells: columns from the middle, rows from the top."""
BASE = f"({TOP} + (2 * {N} + {GAP}) * min(22, (wide - 16) / (2 * {N} + {GAP})))"
HEIGHT = f"{BASE} + 128"
MOVING: dict[str, Formula] = {
    **PLACE,
    # Between two steps a piece moves toward the matrix out; at a step it has arrived.
    "part": "min(step, last) - done",
    "way": "either(part > 0, part, 1)",
}


def marks() -> Sequence[Mark]:
    return [
        *_cells("x", "x_left", "low", X_COUNT, ("b", "k")),
        *_cells("w", "right", TOP, W_COUNT, ("k", "f")),
        *_cells("out", "right", "low", OUT_COUNT, ("b", "f")),
        *_current_step(),
        *_words(),
        *_counter(),
    ]


def _cells(
    name: str, left: str, top: Formula, count: dict[str, Formula], at: tuple[str, str]
) -> list[Mark]:
    """Draw a matrix of numbered cells, darker for higher numbers, and tile edges."""
    # Don't use PLACE here: evaluating it for this many cells would be slow.
    column, row = f"({at[1]} + {COLUMNS[left]}) * cell", f"({at[0]} + {ROWS[top]}) * cell"
    x, y = f"wide / 2 + {column}", f"{TOP} + {row}"
    where = {"cell": CELL, **count}
    fill = SERIES_COLORS[2 if name == "out" else 0]
    shade = "either(count > 0, 0.1 + 0.3 * count / n, 0)"
    edges = []
    end = "n * cell"
    place: dict[str, Formula] = {**PLACE, "cut": "i * t * cell"}
    thin: dict[str, Any] = {"stroke_width": 1.5, "each": "n / t + 1", "where": place}
    if at[0] == "b":
        at_y = f"{top} + cut"
        edges.append(line(left, at_y, f"{left} + {end}", at_y, INKED, name=f"rows-{name}", **thin))
    if at[1] == "f":
        at_x = f"{left} + cut"
        edges.append(line(at_x, top, at_x, f"{top} + {end}", INKED, name=f"columns-{name}", **thin))
    grid: dict[str, Any] = {"each": "n * n", "where": where}
    words = {"text_anchor": "'middle'", "shown": "count > 0", "name": f"count-{name}"}
    look = {"fill_opacity": shade, "stroke_width": 0.6, "rx": 0, "name": name}
    return [
        box(x, y, "cell", "cell", fill, **grid, **look),
        label(f"{x} + cell / 2", f"{y} + cell / 2 + 4", "text(count)", **grid, **words),
        *edges,
    ]


def _current_step() -> list[Mark]:
    """Draw the pieces of a step, moving from their origin, and frame their tile."""
    shown = {"shown": "step > 0", "rx": 0}
    frame: dict[str, Any] = {"stroke": SERIES_COLORS[1], "stroke_width": 3, "where": PLACE}
    frame |= {"fill_opacity": 0, **shown}
    row, column = "low + tile_row * t * cell", "right + tile_column * t * cell"
    piece: dict[str, Any] = {"each": "t", "where": MOVING, "stroke": INKED, **shown}
    from_x, from_w = "x_left + d * cell", f"{TOP} + d * cell"
    to_x, to_w = "right - 1.3 * cell", "low - 1.3 * cell"
    along, down = (f"{a} + ({b} - ({a})) * way" for a, b in ((from_x, to_x), (from_w, to_w)))
    fill = SERIES_COLORS[1]
    return [
        box(from_x, row, "cell", "t * cell", fill, name="now-x", **frame),
        box(column, from_w, "t * cell", "cell", fill, name="now-w", **frame),
        box(column, row, "t * cell", "t * cell", fill, name="now-out", **frame),
        box(along, f"{row} + i * cell", "cell", "cell", fill, name="piece-x", **piece),
        box(f"{column} + i * cell", down, "cell", "cell", fill, name="piece-w", **piece),
    ]


def _words() -> list[Mark]:
    """Draw the names of the matrices, and the counts in the empty corner."""
    lines = (
        said(_("step {n} of {all}"), n="text(done)", all="text(last)"),
        quoted(_("loaded so far:")),
        f"text(loaded, {quoted(_('elements'))})",
        said(_("= {bytes} in bf16"), bytes="text(loaded_bytes, 'B')"),
    )
    size = "text(n) + ', ' + text(n) + ']'"
    drawn = [
        label("x_left", TOP + 14 + 18 * i, words, where=PLACE, name=f"line-{i}")
        for i, words in enumerate(lines)
    ]
    end: dict[str, Any] = {"text_anchor": "'end'", "where": PLACE}
    return [
        *drawn,
        label("x_left", "low - 7", f"'x[' + {size}", where=PLACE),
        label("right", TOP - 8, f"'w[' + {size}", where=PLACE),
        label("right + n * cell", f"{BASE} + 17", f"'out[' + {size}", **end),
        label(8, f"{BASE} + 36", quoted(_("In x and w: times loaded. In out: products."))),
        label(8, f"{BASE} + 53", quoted(_("Framed: the pieces of the step and their tile."))),
    ]


def _counter() -> list[Mark]:
    """Draw a bar of the loads so far, relative to the loads with tiles of side 1."""
    y = f"{BASE} + 85"
    most = "(2 * n * n * n)"
    ends = {f"to_{name}": f"8 + (wide - 16) * {name} / {most}" for name in ("total", "least")}
    where: dict[str, Formula] = {**ends, "full": f"(wide - 16) * loaded / {most}"}
    near = "either(to_total < 60, 'start', either(to_total > wide - 60, 'end', 'middle'))"
    bar: dict[str, Any] = {"stroke_width": 0, "rx": 0, "where": where}
    tick: dict[str, Any] = {"stroke_width": 2, "where": where}
    dashed = {"stroke_dasharray": "'3 2'", "name": "bar-least"}
    return [
        box(8, y, "wide - 16", 14, TINTS[3], name="bar-most", **bar),
        box(8, y, "full", 14, SERIES_COLORS[0], name="bar", **bar),
        line("to_total", f"{y} - 5", "to_total", f"{y} + 14", INKED, name="bar-total", **tick),
        label("to_total", f"{y} - 10", "'2n³/t = ' + text(total)", text_anchor=near, where=where),
        line("to_least", y, "to_least", f"{y} + 19", INKED, **tick, **dashed),
        label(
            "to_least",
            f"{y} + 32",
            said(_("least: 2n² = {count}"), count="text(least)"),
            where=where,
        ),
        label("wide - 8", f"{y} + 32", f"'t = 1: 2n³ = ' + text({most})", text_anchor="'end'"),
    ]
