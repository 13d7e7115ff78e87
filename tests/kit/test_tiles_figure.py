"""The tiles figure: at every step its counts match the chapter's loop."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

import rooflib as rl
from roofkit.figures import tiles
from roofkit.figures.engine import scene
from roofkit.figures.engine.expressions import evaluate

FIGURE = tiles()
N = int(FIGURE.given["n"])
SIDES = [1, 2, 4, 8]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """Counts after a step: loads per element, products per sum, and sums written."""

    x: Counts
    w: Counts
    out: Counts
    written: int
    last: tuple[int, int, int] | None


def simulated(t: int) -> Iterator[State]:
    """Run the chapter's loop; yield the state before the first step and after each."""
    x, w, out = (np.zeros((N, N), dtype=np.int64) for _ in range(3))
    written = 0
    yield State(x.copy(), w.copy(), out.copy(), 0, None)
    for b in range(0, N, t):
        for f in range(0, N, t):
            for d in range(N):
                for i in range(t):
                    x[b + i, d] += 1
                    w[d, f + i] += 1
                    for j in range(t):
                        out[b + i, f + j] += 1
                if d == N - 1:
                    written += t * t
                yield State(x.copy(), w.copy(), out.copy(), written, (b, f, d))


@cache
def states(t: int) -> list[State]:
    return list(simulated(t))


def drawn(t: int, step: int, width: float = 400) -> dict[str, list[ElementTree.Element]]:
    tree = ElementTree.fromstring(FIGURE.svg(width=width, t=t, step=step))
    groups = tree.findall("{*}g[@data-mark]")
    return {group.attrib["data-mark"]: list(group) for group in groups}


def number(shape: ElementTree.Element, key: str) -> float:
    return float(shape.attrib[key])


def counts(found: dict[str, list[ElementTree.Element]], name: str) -> Counts:
    """Return the numbers shown in a matrix's cells; an empty cell is 0."""
    cells = found[name]
    left, top, cell = (number(cells[0], key) for key in ("x", "y", "width"))
    read = np.zeros((N, N), dtype=np.int64)
    for shape in found.get(f"count-{name}", []):
        column = int((number(shape, "x") - left) / cell)
        row = int((number(shape, "y") - top) / cell)
        assert read[row, column] == 0
        read[row, column] = int(shape.text or "")
    return read


def test_every_tile_size_that_divides_the_side_is_offered() -> None:
    assert FIGURE.controls[0].options == SIDES


@pytest.mark.parametrize("t", SIDES)
def test_loads_at_every_step_match_the_loop(t: int) -> None:
    size = rl.dtype("bf16").bytes
    for step, state in enumerate(states(t)):
        values = FIGURE.values(t=t, step=step)
        loads = state.x.sum() + state.w.sum()
        assert values["done"] == step
        assert values["loaded"] == loads
        assert values["loaded_bytes"] == size * loads
        assert values["written"] == state.written
        assert values["flops"] == 2 * state.out.sum()
        if state.last is not None:
            b, f, d = state.last
            assert (t * values["tile_row"], t * values["tile_column"], values["d"]) == (b, f, d)


@pytest.mark.parametrize("t", SIDES)
def test_total_loads_match_the_formula_and_intensity_matches_rooflib(t: int) -> None:
    final, last = states(t)[-1], len(states(t)) - 1
    values = FIGURE.values(t=t, step=last)
    total = 2 * N**3 // t
    assert values["last"] == last
    assert values["loaded"] == values["total"] == total == final.x.sum() + final.w.sum()
    assert values["times"] == final.x.max() == final.x.min() == final.w.max() == N // t
    assert values["held"] == t * t
    assert values["flops"] == rl.matmul(N, N, N).flops
    size = rl.dtype("bf16").bytes
    whole = rl.operation(flops=2 * N**3, bytes=size * (total + N**2))
    assert values["intensity"] == pytest.approx(whole.intensity, rel=1e-12)
    assert size * values["least"] == rl.matmul(N, N, N).loaded
    if t == N:
        assert values["intensity"] == pytest.approx(rl.matmul(N, N, N).intensity, rel=1e-12)
    # Steps beyond the last one have the same values.
    beyond = {**FIGURE.values(t=t, step=min(last + 5, N**3))}
    assert beyond == values


@pytest.mark.parametrize(
    ("t", "step"),
    [(8, s) for s in (0, 1, 5, 8)]
    + [(4, s) for s in range(0, 33, 4)]
    + [(2, s) for s in (1, 9, 77, 128)]
    + [(1, s) for s in (1, 65, 300, 512)],
)
def test_matrix_cells_show_the_counts_of_the_loop(t: int, step: int) -> None:
    state, found = states(t)[step], drawn(t, step)
    for name, true in (("x", state.x), ("w", state.w), ("out", state.out)):
        assert len(found[name]) == N * N
        assert (counts(found, name) == true).all(), name
        # Cells with a number are tinted, darker for higher numbers.
        shades = np.array([number(shape, "fill-opacity") for shape in found[name]])
        order = shades.reshape(N, N)
        assert ((order > 0) == (true > 0)).all()
        levels = {int(c): set(order[true == c]) for c in np.unique(true)}
        assert all(len(shade) == 1 for shade in levels.values())
        rising = [shade.pop() for _, shade in sorted(levels.items())]
        assert rising == sorted(set(rising))
    assert (
        counts(found, "x").sum() + counts(found, "w").sum()
        == FIGURE.values(t=t, step=step)["loaded"]
    )
    assert found["line-2"][0].text == rl.text(state.x.sum() + state.w.sum(), "elements")


@pytest.mark.parametrize("width", [300, 700])
@pytest.mark.parametrize(("t", "step"), [(8, 3), (4, 19), (2, 50), (1, 300)])
def test_highlights_match_the_current_step(t: int, step: int, width: float) -> None:
    found, last = drawn(t, step, width), states(t)[step].last
    assert last is not None
    b, f, d = last
    cell = number(found["x"][0], "width")
    origin = {n: [number(found[n][0], key) for key in ("x", "y")] for n in ("x", "w", "out")}
    frames = {"x": (d, b, 1, t), "w": (f, d, t, 1), "out": (f, b, t, t)}
    for name, (column, row, across, down) in frames.items():
        left, top = origin[name]
        (frame,) = found[f"now-{name}"]
        wanted = [left + column * cell, top + row * cell, across * cell, down * cell]
        assert [number(frame, k) for k in ("x", "y", "width", "height")] == pytest.approx(
            wanted, abs=0.1
        )
    # After a step, t elements of x and of w are at the edge of out, in line with their tile.
    for name, along in (("x", "y"), ("w", "x")):
        piece = found[f"piece-{name}"]
        assert len(piece) == t
        (frame,) = found[f"now-{name}"]
        assert number(piece[0], along) == pytest.approx(number(frame, along), abs=0.02)
    assert number(found["piece-x"][0], "x") + cell < origin["out"][0]
    assert number(found["piece-w"][0], "y") + cell < origin["out"][1]
    bands = {name: len(shapes) - 1 for name, shapes in found.items() if "s-" in name}
    assert bands == dict.fromkeys(("rows-x", "columns-w", "rows-out", "columns-out"), N // t)
    for i, (row, column) in enumerate(zip(found["rows-x"], found["columns-w"], strict=True)):
        assert number(row, "y1") == pytest.approx(origin["x"][1] + i * t * cell, abs=0.1)
        assert number(column, "x1") == pytest.approx(origin["w"][0] + i * t * cell, abs=0.1)
    assert max(number(shape, "x") for shape in found["out"]) + cell <= width


@pytest.mark.parametrize("width", [300, 700])
@pytest.mark.parametrize(("t", "step"), [(8, 8), (4, 0), (4, 19), (2, 128), (1, 300)])
def test_the_bar_of_loads_is_to_scale(t: int, step: int, width: float) -> None:
    found = drawn(t, step, width)
    each = number(found["bar-most"][0], "width") / (2 * N**3)
    left = number(found["bar-most"][0], "x")
    loads = states(t)[step].x.sum() + states(t)[step].w.sum()
    assert number(found["bar"][0], "width") == pytest.approx(loads * each, abs=0.02)
    for name, true in (("bar-total", 2 * N**3 / t), ("bar-least", 2 * N**2)):
        assert number(found[name][0], "x1") == pytest.approx(left + true * each, abs=0.02)


def test_nothing_is_highlighted_before_the_first_step() -> None:
    found = drawn(4, 0)
    assert not [name for name in found if name.startswith(("now", "piece", "count"))]
    assert "Nothing is loaded yet." in FIGURE.texts(t=4, step=0)["says"]


def test_the_picture_of_a_loaded_piece_moves_between_two_steps() -> None:
    names = {**FIGURE.given, "t": 4.0}
    at = []
    for step in (19.25, 19.75, 20.0):
        known = {**names, "step": step}
        known |= evaluate(FIGURE.formulas, known)
        assert known["loaded"] == 2 * 4 * (19 if step < 20 else 20)
        assert known["d"] == 3
        tree = ElementTree.fromstring(scene.drawn(FIGURE.scene, known, 400, 400))
        (piece,) = tree.findall("{*}g[@data-mark='piece-x']")
        at.append(number(piece[0], "x"))
    ((frame,),) = tree.findall("{*}g[@data-mark='now-x']")
    start = number(frame, "x")
    assert at[:2] == pytest.approx(
        [start + (at[2] - start) * part for part in (0.25, 0.75)], abs=0.02
    )
