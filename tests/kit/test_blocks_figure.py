"""The blocks figure: numbers match rooflib, and all sides are drawn to one scale."""

import math
import random
from xml.etree import ElementTree

import numpy as np
import pytest

import rooflib as rl
from roofkit.figures import matmul_blocks
from roofkit.figures.options import OWN

FIGURE = matmul_blocks()
DRAW = random.Random("blocks")
SIZES = {control.name: control.options for control in FIGURE.controls[:3]}
CHIPS = [name for name in FIGURE.controls[-1].options if name != OWN]
SETTINGS = [
    {"B": 64, "D": 4096, "F": 16384, "one": "w", "chip": "TPU v5e"},
    {"B": 1, "D": 16384, "F": 16384, "one": "out", "chip": "H100 SXM"},
    {"B": 16384, "D": 128, "F": 128, "one": "x", "chip": "H100 SXM"},
    {"B": 16384, "D": 16384, "F": 16384, "one": "w", "chip": "TPU v5e"},
    *(
        {name: DRAW.choice(options) for name, options in SIZES.items()}
        | {"one": DRAW.choice(["x", "w", "out"]), "chip": DRAW.choice(CHIPS)}
        for _ in range(10)
    ),
]


def marks(width: float, **settings: object) -> dict[str, list[ElementTree.Element]]:
    """Return the shapes drawn at these settings, by the name of their mark."""
    svg = FIGURE.svg(width=width, **settings)
    groups = ElementTree.fromstring(svg).findall("{*}g[@data-mark]")
    return {group.attrib["data-mark"]: list(group) for group in groups}


def number(shape: ElementTree.Element, key: str) -> float:
    return float(shape.attrib[key])


def length(shape: ElementTree.Element) -> float:
    return math.hypot(
        number(shape, "x2") - number(shape, "x1"), number(shape, "y2") - number(shape, "y1")
    )


@pytest.mark.parametrize("at", SETTINGS)
def test_numbers_match_rooflib(at: dict[str, object]) -> None:
    B, D, F, chip = at["B"], at["D"], at["F"], rl.chip(at["chip"])
    op = rl.matmul(B, D, F)
    bound = rl.bound(op, chip)
    values, texts = FIGURE.values(**at), FIGURE.texts(**at)
    assert values["flops"] == op.flops
    assert values["bytes"] == op.bytes
    assert values["x_bytes"] + values["w_bytes"] == op.loaded
    assert values["out_bytes"] == op.written
    assert values["intensity"] == pytest.approx(op.intensity, rel=1e-12)
    assert values["ridge"] == pytest.approx(chip.ridge(), rel=1e-12)
    assert values["share"] == pytest.approx(bound.fraction_of_peak, rel=1e-12)
    assert values["largest_share"] == max(B * D, D * F, B * F) / (B * D + D * F + B * F)
    verdict = "compute-bound" if bound.binding == "compute" else "memory-bound"
    assert texts["says"].endswith(f"the multiplication is {verdict}.")
    assert texts["intensity"] == rl.text(op.intensity, "FLOP/byte")
    of_w = "once" if B == 1 else f"{rl.text(B)} times"
    uses = f"of x is used {rl.text(F)} times, of w {of_w}, of out {rl.text(D)} times"
    assert uses in texts["says"]


def test_flops_per_byte_of_each_array_equal_its_elements_uses_in_a_loop() -> None:
    B, D, F = 2, 3, 4
    uses = {"x": np.zeros((B, D)), "w": np.zeros((D, F)), "out": np.zeros((B, F))}
    for b, d, f in np.ndindex(B, D, F):
        uses["x"][b, d] += 1
        uses["w"][d, f] += 1
        uses["out"][b, f] += 1
    # A multiply-add is two FLOPs and an element two bytes, so the FLOPs per byte of one array equal
    # the uses of each of its elements.
    for name, counted in uses.items():
        alone = 2 * B * D * F / (2 * counted.size)
        assert (counted == alone).all()
        scaled = FIGURE.values(B=256 * B, D=256 * D, F=256 * F)[f"{name}_alone"]
        assert scaled == 256 * alone


@pytest.mark.parametrize("width", [300, 700])
@pytest.mark.parametrize("at", SETTINGS[:10])
def test_all_matrix_sides_are_drawn_to_one_scale(at: dict[str, float], width: float) -> None:
    found = marks(width, **at)
    bar = length(found["bar"][0])
    (words,) = [w for w in words_drawn(width, at) if "to scale" in w]
    pixel = bar / float(words.split()[0].replace(",", ""))
    true = {"x": ("D", "B"), "w": ("F", "D"), "out": ("F", "B")}
    for name, (across, down) in true.items():
        (drawn,) = found[name]
        # Positions and the bar's length are rounded to a hundredth of a pixel.
        for key, side in (("width", across), ("height", down)):
            assert number(drawn, key) == pytest.approx(at[side] * pixel, rel=2e-3, abs=0.011)
        assert number(drawn, "x") + number(drawn, "width") <= width
    x, w, out = (found[name][0] for name in true)
    assert number(x, "y") == number(out, "y")
    assert number(w, "x") == number(out, "x")
    assert x.attrib["height"] == out.attrib["height"]
    assert w.attrib["width"] == out.attrib["width"]
    assert x.attrib["width"] == w.attrib["height"]


def words_drawn(width: float, at: dict[str, float]) -> list[str]:
    tree = ElementTree.fromstring(FIGURE.svg(width=width, **at))
    return [element.text or "" for element in tree.iter() if element.tag.endswith("text")]


@pytest.mark.parametrize(
    ("one", "meets", "adds"),
    [
        ("x", {"w": "F"}, {"out": "F"}),
        ("w", {"x": "B"}, {"out": "B"}),
        ("out", {"x": "D", "w": "D"}, {}),
    ],
)
def test_marked_rows_and_columns_have_one_element_per_use_of_the_highlighted_one(
    one: str, meets: dict[str, str], adds: dict[str, str]
) -> None:
    at = {"B": 1024, "D": 2048, "F": 4096}
    found = marks(400, one=one, **at)
    pixel = number(found["w"][0], "width") / at["F"]
    wanted = {f"meets-{name}": side for name, side in meets.items()}
    wanted |= {f"adds-{name}": side for name, side in adds.items()}
    lines = {name: shapes for name, shapes in found.items() if name.startswith(("meets", "adds"))}
    assert lines.keys() == wanted.keys()
    for name, side in wanted.items():
        assert length(lines[name][0]) == pytest.approx(at[side] * pixel, abs=0.03)
    assert [name for name in found if name.startswith("one-")] == [f"one-{one}"]


@pytest.mark.parametrize("at", SETTINGS)
def test_dots_and_ridge_share_one_intensity_axis(
    at: dict[str, object],
) -> None:
    found = marks(400, **at)
    op = rl.matmul(at["B"], at["D"], at["F"])
    true = {"x_alone": at["F"], "w_alone": at["B"], "out_alone": at["D"]}
    true |= {"intensity": op.intensity}
    places = {name: number(found[f"row-{name}"][0], "cx") for name in true}
    places["ridge"] = number(found["ridge"][0], "x1")
    true["ridge"] = rl.chip(at["chip"]).ridge()
    # Compute pixels per decade and the position of intensity 1 from the two ends of the axis.
    each, one = 380 / 5, 10 + 380 * math.log10(2) / 5
    for name, place in places.items():
        assert place == pytest.approx(one + each * math.log10(true[name]), abs=0.02), name
    # Compute-bound if the dot is right of the ridge.
    compute = rl.bound(op, rl.chip(at["chip"])).binding == "compute"
    assert (places["intensity"] >= places["ridge"]) is compute


def test_the_readers_own_chip_sets_the_ridge() -> None:
    own = FIGURE.with_own(peak=3e14, bandwidth=1e12)
    assert own.values(chip=OWN)["ridge"] == 300
    assert "memory-bound" in own.texts(chip=OWN, B=256, D=4096, F=4096)["says"]
    assert "compute-bound" in own.texts(chip=OWN, B=512, D=4096, F=4096)["says"]
