"""The shards figure: parts multiply to the product, and bytes match rooflib."""

import functools
from itertools import pairwise, product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import rooflib as rl
from roofkit.figures import Figure, shards
from roofkit.figures.shards_figure import PARTS, SIZES, WHOLE
from rooflib.sharding import sharded_matmul
from rooflib.units import text

RESULTS = {WHOLE: "replicated", PARTS: "sharded"}
SHAPES = [(8192, 8192, 8192), (4096, 8192, 16384), (16384, 4096, 4096), (8192, 16384, 4096)]
EVERYWHERE = list(product("BDF", (2, 4, 8), RESULTS, SHAPES))
Drawn = dict[str, list[ElementTree.Element]]
ELEMENT = 512  # the tests divide the sides of the figure's matrices by this


@functools.cache
def picture() -> Figure:
    return shards()


def at(width: float = 400, **settings: Any) -> Drawn:
    found: Drawn = {}
    for group in ElementTree.fromstring(picture().svg(width=width, **settings)):
        found.setdefault(group.get("data-mark", ""), []).extend(group)
    return found


def places(shapes: list[ElementTree.Element]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return left, top, width and height of each shape, one row per shape."""
    return np.array(
        [[float(shape.attrib[a]) for a in ("x", "y", "width", "height")] for shape in shapes]
    )


def parts(found: Drawn, name: str, rows: int, columns: int) -> list[tuple[slice, slice]]:
    """Return the rows and columns each chip holds, as read from the picture."""
    if f"{name}-sheets" in found:
        assert f"{name}-strips" not in found
        sheets = places(found[f"{name}-sheets"])
        assert np.allclose(sheets[:, 2:], sheets[0, 2:])
        return [(slice(0, rows), slice(0, columns))] * len(sheets)
    strips = places(found[f"{name}-strips"])
    left, top = strips[:, :2].min(axis=0)
    right, bottom = (strips[:, :2] + strips[:, 2:]).max(axis=0)
    across, down = columns / (right - left), rows / (bottom - top)
    cells = [
        ((y - top) * down, (y - top + h) * down, (x - left) * across, (x - left + w) * across)
        for x, y, w, h in strips
    ]
    whole = np.rint(cells).astype(int)
    assert np.allclose(cells, whole, atol=0.02)
    return [(slice(a, b), slice(c, d)) for a, b, c, d in whole]


@pytest.mark.parametrize(("split", "N", "result", "shape"), EVERYWHERE)
def test_bytes_in_the_sharding_figure_match_rooflib(split, N, result, shape):
    B, D, F = shape
    values = picture().values(split=split, N=N, result=result, B=B, D=D, F=F)
    op = sharded_matmul(B, D, F, N, split=split, result=RESULTS[result])
    sent = op.sent.get("link", 0)
    assert values["loaded"] == op.loaded
    assert values["written"] == op.written
    assert values["sent"] == pytest.approx(sent)
    assert values["held"] == op.resident
    alone = rl.matmul(B, D, F)
    assert values["out_bytes"] == alone.written
    found = at(split=split, N=N, result=result, B=B, D=D, F=F)
    bar = places(found["sent"])[0, 2] if sent else 0
    assert bar / places(found["whole-out"])[0, 2] == pytest.approx(sent / alone.written, abs=1e-3)
    assert ("road" in found) == (sent > 0)
    amount = f"{text(sent / alone.written)} × out = {text(sent, 'B')}"
    assert found["amount"][0].text == (amount if sent else "its part of out.")
    name = found["collective"][0].text
    assert name == {
        ("D", WHOLE): "all-reduce",
        ("D", PARTS): "reduce-scatter",
        ("B", WHOLE): "all-gather",
        ("F", WHOLE): "all-gather",
    }.get((split, result), "nothing travels")
    assert (
        text(sent, "B") in picture().texts(split=split, N=N, result=result, B=B, D=D, F=F)["says"]
    )


@pytest.mark.parametrize(("split", "N", "result", "shape"), EVERYWHERE)
def test_the_chips_parts_multiply_to_the_whole_product(split, N, result, shape):
    found = at(split=split, N=N, result=result, B=shape[0], D=shape[1], F=shape[2])
    B, D, F = (size // ELEMENT for size in shape)
    rng = np.random.default_rng(seed=0)
    x, w = rng.integers(1, 10, (B, D)), rng.integers(1, 10, (D, F))
    total, writers = np.zeros((B, F), dtype=int), np.zeros((B, F), dtype=int)
    matrices = {"x": (B, D), "w": (D, F), "out": (B, F)}
    held = [parts(found, name, *size) for name, size in matrices.items()]
    assert {len(chips) for chips in held} == {N}
    for of_x, of_w, of_out in zip(*held, strict=True):
        total[of_out] += x[of_x] @ w[of_w]
        writers[of_out] += 1
    assert np.array_equal(total, x @ w)
    partial = split == "D"
    assert (writers == (N if partial else 1)).all()
    dashed = {shape.get("stroke-dasharray") for shape in found.get("out-sheets", [])}
    assert dashed == ({"4 2"} if partial else set())
    covered = np.zeros((B, F), dtype=int)
    for of_end in parts(found, "end", B, F):
        covered[of_end] += 1
    assert (covered == (N if result == WHOLE else 1)).all()


@pytest.mark.parametrize("width", [300, 400, 700])
@pytest.mark.parametrize(("split", "N", "result", "shape"), EVERYWHERE[::5])
def test_sides_are_to_scale_and_inside_the_picture(split, N, result, shape, width):
    sizes = dict(zip("BDF", shape, strict=True))
    found = at(width, split=split, N=N, result=result, **sizes)
    units = []
    for name, rows, columns in (
        ("x", "B", "D"),
        ("w", "D", "F"),
        ("out", "B", "F"),
        ("end", "B", "F"),
    ):
        sheets, strips = found.get(f"{name}-sheets"), found.get(f"{name}-strips")
        if sheets:
            long, high = places(sheets)[0, 2:]
        else:
            assert strips is not None
            corners = places(strips)
            long, high = (corners[:, :2] + corners[:, 2:]).max(axis=0) - corners[:, :2].min(axis=0)
        units += [long / sizes[columns], high / sizes[rows]]
    assert np.allclose(units, units[0], rtol=1e-3)
    for shape_ in (each for shapes in found.values() for each in shapes):
        if shape_.tag.endswith("rect"):
            x, _, long, _ = places([shape_])[0]
            assert 0 <= x <= width - long
        if shape_.tag.endswith("text"):
            assert float(shape_.attrib["font-size"]) >= 12


@pytest.mark.parametrize(("split", "N", "result", "shape"), EVERYWHERE)
def test_every_part_shows_its_chip_by_number_and_color(split, N, result, shape):
    found = at(310, split=split, N=N, result=result, B=shape[0], D=shape[1], F=shape[2])
    for name in ("x", "w", "out", "end"):
        has = found[f"{name}-has"][0].text
        if f"{name}-sheets" in found:
            assert found[f"{name}-all"][0].text == f"1 to {N}"
            assert has == ("partial sums" if name == "out" else "all on each")
            continue
        assert has == f"1/{N} on each"
        strips = places(found[f"{name}-strips"])
        numbers = found[f"{name}-numbers"]
        for label in numbers:
            x, y = float(label.attrib["x"]), float(label.attrib["y"]) - 4
            left, top, long, high = strips[int(label.text or 0) - 1]
            assert left < x < left + long
            assert top < y < top + high
        if len(set(shape)) == 1:
            assert len(numbers) == N
        fills = [shape_.attrib["fill"] for shape_ in found[f"{name}-strips"]]
        assert all(a != b for a, b in pairwise(fills))


@pytest.mark.parametrize(("split", "N", "result", "shape"), EVERYWHERE)
def test_the_picture_is_at_most_560_pixels_high_on_a_phone(split, N, result, shape):
    sizes = dict(zip("BDF", shape, strict=True))
    svg = ElementTree.fromstring(picture().svg(width=334, split=split, N=N, result=result, **sizes))
    assert float(svg.attrib["height"]) <= 560
    lowest = [float(each.attrib["y"]) for each in svg.iter() if "y" in each.attrib]
    assert max(lowest) <= float(svg.attrib["height"]) - 3


def test_every_number_of_chips_divides_every_size():
    assert all(size % (8 * ELEMENT) == 0 for size in SIZES)
