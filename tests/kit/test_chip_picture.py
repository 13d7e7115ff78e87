"""The picture of the chip: its roads, areas and words are those of the catalogue's chips."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

import rooflib as rl
from roofkit.figure.expressions import doubles
from roofkit.figure.options import OWN
from roofkit.pictures.chip_marks import CHIP_BOTTOM, CHIP_TOP
from roofkit.pictures.chip_picture import chip
from roofkit.pictures.scene import SCENE_FUNCTIONS, value
from rooflib.units import text

CHIPS = [c.name for c in rl.chips()]
HUNDREDTH = 0.006
"""Pixels: the picture is written to a hundredth of one."""
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = chip()
Box = tuple[float, float, float, float]


def boxes(svg: str, name: str) -> list[Box]:
    """x, y, width and height of the rectangles of a mark."""
    groups = [g for g in ET.fromstring(svg) if g.get("data-mark") == name]
    return [
        (
            float(r.attrib["x"]),
            float(r.attrib["y"]),
            float(r.attrib["width"]),
            float(r.attrib["height"]),
        )
        for g in groups
        for r in g.iter(f"{SVG}rect")
    ]


def words(svg: str) -> list[str]:
    return [t.text or "" for t in ET.fromstring(svg).iter(f"{SVG}text")]


def area(box: Box) -> float:
    return box[2] * box[3]


def scale(svg: str) -> float:
    """Pixels per byte/s, from the key."""
    ((_, _, wide, _),) = boxes(svg, "key-road")
    return wide / 1e12


@pytest.mark.parametrize("name", CHIPS)
def test_its_numbers_are_those_of_rooflib(name: str) -> None:
    at, values, texts = rl.chip(name), PICTURE.values(chip=name), PICTURE.texts(chip=name)
    peer = at.links[0]
    assert values["ceiling"] == at.peak("bf16")
    assert values["bandwidth"] == at.bandwidth
    assert values["capacity"] == at.capacity
    assert math.isclose(values["ridge"], at.ridge())
    assert math.isclose(values["rate_0"], peer.to_one_peer)
    assert math.isclose(values["total_0"], peer.total)
    assert math.isclose(values["ridge_0"], at.ridge(link=peer))
    assert math.isclose(values["ratio"], at.bandwidth / peer.to_one_peer)
    held = sum(at.on_chip.values())
    stated = (at.bandwidth, "B/s"), (peer.to_one_peer, "B/s"), (at.peak(), "FLOP/s"), (held, "B")
    for number, unit in stated:
        assert text(number, unit) in texts["says"]
    for link in (None, peer):
        assert text(at.ridge(link=link), "FLOPs") in texts["says"]
    one = len(at.on_chip) == 1
    assert ("The memory on the chip" if one else "The memories on the chip") in texts["says"]


@pytest.mark.parametrize("wide", [300, 400, 700])
@pytest.mark.parametrize("name", CHIPS)
def test_a_road_is_as_wide_as_its_bandwidth(name: str, wide: float) -> None:
    at, svg = rl.chip(name), PICTURE.svg(width=wide, chip=name)
    widest = max(c.bandwidth for c in rl.chips())
    # One scale for all chips, so that the picture of one can be held against that of another.
    per = 0.55 * wide / widest
    assert math.isclose(scale(svg), per, rel_tol=1e-3)
    (hbm,) = boxes(svg, "road-hbm")
    assert hbm[2] == pytest.approx(at.bandwidth * per, abs=HUNDREDTH)
    for j, link in enumerate(at.links):
        roads = boxes(svg, f"road-{j}")
        lanes = link.axes * link.links_per_axis
        assert len(roads) == (lanes if link.topology == "torus" else 1)
        for road in roads:
            assert road[2] == pytest.approx(link.to_one_peer * per, abs=HUNDREDTH)
        assert sum(r[2] for r in roads) == pytest.approx(link.total * per, abs=lanes * HUNDREDTH)
        # A road that a screen cannot show is hinted at, and no other.
        assert (f'data-mark="thin-{j}"' in svg) == (link.to_one_peer * per < 1)
        shown = words(svg)
        assert link.name in shown
        assert text(at.ridge(link=link)) in shown
        assert any(text(link.to_one_peer, "B/s") in each for each in shown)
    drawn = re.findall(r'data-mark="road-(\d)"', svg)
    assert drawn == [str(j) for j in range(len(at.links))]


@pytest.mark.parametrize("name", CHIPS)
def test_areas_are_in_the_ratio_of_what_they_stand_for(name: str) -> None:
    at, svg = rl.chip(name), PICTURE.svg(width=720, chip=name)
    (hbm,), (gigabyte,) = boxes(svg, "hbm"), boxes(svg, "key-memory")
    assert area(hbm) / area(gigabyte) == pytest.approx(at.capacity / 1e9, rel=5e-3)
    assert hbm[1] > 0
    for j, size in enumerate(at.on_chip.values()):
        (memory,) = boxes(svg, f"on-chip-{j}")
        assert area(memory) / area(hbm) == pytest.approx(size / at.capacity, rel=2e-2)
    assert len(re.findall(r'data-mark="on-chip-', svg)) == len(at.on_chip)
    (compute,), (unit,) = boxes(svg, "compute"), boxes(svg, "key-compute")
    assert area(compute) / area(unit) == pytest.approx(at.peak() / 1e14, rel=5e-3)
    # One scale for all chips.
    assert area(gigabyte) == pytest.approx(720 / 6, rel=5e-3)


@pytest.mark.parametrize("name", CHIPS)
def test_a_phone_shows_it_with_its_controls_and_its_numbers(name: str) -> None:
    svg = ET.fromstring(PICTURE.svg(width=334, chip=name))
    high = float(svg.attrib["height"])
    assert high <= 480
    texts = list(svg.iter(f"{SVG}text"))
    assert max(float(t.attrib["y"]) for t in texts) <= high - 3
    assert min(float(t.attrib["font-size"]) for t in texts) >= 11
    (compute,) = boxes(PICTURE.svg(width=334, chip=name), "compute")
    assert CHIP_TOP < compute[1] < compute[1] + compute[3] < CHIP_BOTTOM


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"bandwidth": 1e11, "link": 4e11},
        {"peak": 2e16, "bandwidth": 4e13, "memory": 2e12, "link": 1e12},
        {"peak": 1e12, "bandwidth": 1e10, "memory": 1e12, "link": 1e9},
        {"link": 5e13},
    ],
)
def test_a_chip_of_ones_own_is_drawn_to_the_scale_that_its_key_states(
    own: dict[str, float],
) -> None:
    numbers = {"peak": 1e14, "bandwidth": 1e12, "memory": 32e9, "link": 5e10} | own
    picture = PICTURE.with_own(**numbers)
    made = rl.Chip(
        OWN,
        peaks={"bf16": numbers["peak"]},
        bandwidth=numbers["bandwidth"],
        capacity=numbers["memory"],
        links=(rl.Link("own", numbers["link"]),),
    )
    values, svg = picture.values(chip=OWN), picture.svg(width=400, chip=OWN)
    assert math.isclose(values["ridge"], made.ridge())
    assert math.isclose(values["ridge_0"], made.ridge(link="own"))
    (hbm,), (link,), (memory,) = (boxes(svg, m) for m in ("road-hbm", "road-0", "hbm"))
    widest = max(numbers["bandwidth"], numbers["link"], max(c.bandwidth for c in rl.chips()))
    per = 220 / widest
    assert hbm[2] == pytest.approx(made.bandwidth * per, abs=HUNDREDTH)
    assert link[2] == pytest.approx(made.links[0].bandwidth * per, abs=HUNDREDTH)
    assert scale(svg) == pytest.approx(per, abs=HUNDREDTH / 1e12)
    # Nothing leaves the picture, whatever is typed.
    assert memory[1] >= 0
    assert max(x + w for x, _, w, _ in (hbm, link, memory)) <= 400
    # What is not known is not drawn.
    assert "on-chip-" not in svg
    assert "memory on the chip: no figure" in words(svg)
    assert "road-1" not in svg
    assert "on the chip hold" not in picture.texts(chip=OWN)["says"]


@pytest.mark.parametrize("name", CHIPS)
def test_the_edge_of_the_road_can_be_taken_hold_of(name: str) -> None:
    (handle,) = PICTURE.handles
    known = PICTURE.tables | PICTURE.values(chip=name) | {"wide": 400, "chip": name}
    names = {**SCENE_FUNCTIONS} | {key: doubles(entry) for key, entry in known.items()}
    (road,) = boxes(PICTURE.svg(width=400, chip=name), "road-hbm")
    edge = value(handle.x, names)
    assert edge == pytest.approx(road[0] + road[2], abs=2 * HUNDREDTH)
    # Where it is let go, there is the edge; the rest of the chip stays as it is.
    to = 16 + 100.0
    moved = {q: value(f, names | {"to_x": to, "to_y": 0.0}) for q, f in handle.moves.items()}
    at = rl.chip(name)
    assert moved["peak"] == at.peak()
    assert moved["memory"] == at.capacity
    assert moved["link"] == at.links[0].to_one_peer
    (road,) = boxes(PICTURE.with_own(**moved).svg(width=400, chip=OWN), "road-hbm")
    assert road[0] + road[2] == pytest.approx(to, abs=2 * HUNDREDTH)
