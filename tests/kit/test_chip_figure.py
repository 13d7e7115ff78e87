"""The chip figure: widths, areas and texts match the catalog's chips."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

import rooflib as rl
from roofkit.figures.chip_figure import chip
from roofkit.figures.chip_marks import CHIP_BOTTOM, CHIP_TOP
from roofkit.figures.engine.expressions import FUNCTIONS, doubles, value
from roofkit.figures.options import OWN
from rooflib.units import text

CHIPS = [c.name for c in rl.chips()]
HUNDREDTH = 0.006
"""Pixels: coordinates are rounded to a hundredth."""
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = chip()
Box = tuple[float, float, float, float]


def boxes(svg: str, name: str) -> list[Box]:
    """Return x, y, width and height of the rectangles of a mark."""
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
    """Return the pixels per byte/s, from the legend's bar for 1 TB/s."""
    ((_, _, wide, _),) = boxes(svg, "key-road")
    return wide / 1e12


@pytest.mark.parametrize("name", CHIPS)
def test_numbers_match_rooflib(name: str) -> None:
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
def test_widths_are_proportional_to_bandwidths(name: str, wide: float) -> None:
    at, svg = rl.chip(name), PICTURE.svg(width=wide, chip=name)
    widest = max(c.bandwidth for c in rl.chips())
    # All chips are drawn to one scale, so that their pictures can be compared.
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
        # Only a connection narrower than a pixel is drawn as a dotted line.
        assert (f'data-mark="thin-{j}"' in svg) == (link.to_one_peer * per < 1)
        shown = words(svg)
        assert link.name in shown
        assert text(at.ridge(link=link)) in shown
        assert any(text(link.to_one_peer, "B/s") in each for each in shown)
    drawn = re.findall(r'data-mark="road-(\d)"', svg)
    assert drawn == [str(j) for j in range(len(at.links))]


@pytest.mark.parametrize("name", CHIPS)
def test_areas_are_proportional_to_memories_and_peaks(name: str) -> None:
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
    # All chips are drawn to one scale.
    assert area(gigabyte) == pytest.approx(720 / 6, rel=5e-3)


@pytest.mark.parametrize("name", CHIPS)
def test_the_picture_fits_on_a_phone_and_its_text_is_legible(name: str) -> None:
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
def test_the_readers_own_chip_is_drawn_to_the_scale_of_the_legend(
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
    # Everything stays inside the picture for any typed numbers.
    assert memory[1] >= 0
    assert max(x + w for x, _, w, _ in (hbm, link, memory)) <= 400
    # Parts of the reader's chip without known numbers are not drawn.
    assert "on-chip-" not in svg
    assert "memory on the chip: no figure" in words(svg)
    assert "road-1" not in svg
    assert "on the chip hold" not in picture.texts(chip=OWN)["says"]


@pytest.mark.parametrize("name", CHIPS)
def test_dragging_the_edge_of_the_hbm_connection_changes_only_the_bandwidth(name: str) -> None:
    (handle,) = PICTURE.handles
    known = PICTURE.tables | PICTURE.values(chip=name) | {"wide": 400, "chip": name}
    names = {**FUNCTIONS} | {key: doubles(entry) for key, entry in known.items()}
    (road,) = boxes(PICTURE.svg(width=400, chip=name), "road-hbm")
    edge = value(handle.x, names)
    assert edge == pytest.approx(road[0] + road[2], abs=2 * HUNDREDTH)
    # The edge stays where it was dropped; the rest of the chip is unchanged.
    to = 16 + 100.0
    moved = {q: value(f, names | {"to_x": to, "to_y": 0.0}) for q, f in handle.moves.items()}
    at = rl.chip(name)
    assert moved["peak"] == at.peak()
    assert moved["memory"] == at.capacity
    assert moved["link"] == at.links[0].to_one_peer
    (road,) = boxes(PICTURE.with_own(**moved).svg(width=400, chip=OWN), "road-hbm")
    assert road[0] + road[2] == pytest.approx(to, abs=2 * HUNDREDTH)
