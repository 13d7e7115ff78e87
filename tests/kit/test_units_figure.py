"""The units figure: areas, ridges and shares match rooflib."""

import itertools
import math
import xml.etree.ElementTree as ET

import pytest

import rooflib as rl
from roofkit.figures.units_figure import units
from rooflib.operations import Operation
from rooflib.units import percent, text

SVG = "{http://www.w3.org/2000/svg}"
PICTURE = units()
CHIPS = [c.name for c in rl.chips() if "fp32" in c.vector]
N = 2**24
# Each operation with its unit, computed with rooflib for the chapter's sizes.
WORKS: dict[str, tuple[str, Operation]] = {
    "dot product": ("vector", rl.dot(N, compute="fp32")),
    "addition": ("vector", rl.elementwise(N, inputs=2, compute="fp32")),
    "ReLU": ("vector", rl.elementwise(N, compute="fp32")),
    "GELU": ("vector", rl.elementwise(N, flops_per_element=9, compute="fp32")),
    "matmul, 1 row": ("matrix", rl.matmul(1, 4096, 16384)),
    "matmul, 32 rows": ("matrix", rl.matmul(32, 4096, 16384)),
    "matmul, 4,096 rows": ("matrix", rl.matmul(4096, 4096, 16384)),
}
EVERY = [*itertools.product(WORKS, CHIPS)]
KINDS = {"matrix": "bf16", "vector": "fp32"}


def group(svg: str, name: str) -> list[dict[str, str]]:
    groups = [g for g in ET.fromstring(svg) if g.get("data-mark") == name]
    return [dict(shape.attrib) for g in groups for shape in g]


def place(svg: str, intensity: float) -> float:
    """Return the x position of an intensity, according to the axis ticks."""
    ticks = {
        t.text: float(t.attrib["x"])
        for t in ET.fromstring(svg).iter(f"{SVG}text")
        if t.text in ("0.1", "1,000") and t.get("text-anchor") == "middle"
    }
    return ticks["0.1"] + (ticks["1,000"] - ticks["0.1"]) * math.log10(intensity / 0.1) / 4


def test_all_chips_with_a_vector_peak_and_all_operations_are_offered() -> None:
    work, chip = PICTURE.controls
    assert list(work.options) == list(WORKS)
    assert list(chip.options) == CHIPS
    assert len(CHIPS) >= 2


@pytest.mark.parametrize(("work", "name"), EVERY)
def test_numbers_match_rooflib(work: str, name: str) -> None:
    at, (unit, op) = rl.chip(name), WORKS[work]
    bound = rl.bound(op, at, unit=unit)
    values, says = PICTURE.values(work=work, chip=name), PICTURE.texts(work=work, chip=name)["says"]
    assert values["matrix"] == at.peak("bf16")
    assert values["vector"] == at.peak("fp32", "vector")
    assert math.isclose(values["ratio"], at.peak("bf16") / at.peak("fp32", "vector"))
    assert math.isclose(values["matrix_ridge"], at.ridge("bf16"))
    assert math.isclose(values["vector_ridge"], at.ridge("fp32", "vector"))
    assert (values["flops"], values["bytes"]) == (op.flops, op.bytes)
    assert math.isclose(values["intensity"], op.intensity)
    other = {"matrix": "vector", "vector": "matrix"}[unit]
    assert math.isclose(values[f"{unit}_busy"], bound.fraction_of_peak)
    assert values[f"{other}_busy"] == 0
    assert math.isclose(values["lower"], bound.lower)
    assert says.startswith(f"The {unit} unit of {name} does this work ({work})")
    assert text(float(op.intensity), "FLOP/byte") in says
    assert text(at.ridge(KINDS[unit], unit), "FLOP/byte") in says
    if bound.binding == "HBM":
        assert f"busy {percent(float(bound.fraction_of_peak))} of the time" in says
    else:
        assert "above the ridge" in says


@pytest.mark.parametrize("wide", [300, 400, 700])
@pytest.mark.parametrize(("work", "name"), EVERY)
def test_areas_match_peaks_and_fills_match_attained_rates(
    work: str, name: str, wide: float
) -> None:
    at, (unit, op) = rl.chip(name), WORKS[work]
    svg = PICTURE.svg(width=wide, work=work, chip=name)
    area = {}
    for each in KINDS:
        (square,) = group(svg, f"peak-{each}")
        assert square["width"] == square["height"]
        assert float(square["x"]) + float(square["width"]) < wide
        area[each] = float(square["width"]) ** 2
    peaks = {each: at.peak(kind, each) for each, kind in KINDS.items()}
    assert area["matrix"] / area["vector"] == pytest.approx(
        peaks["matrix"] / peaks["vector"], rel=2e-3
    )
    (filled,) = group(svg, f"busy-{unit}")
    reached = float(filled["width"]) * float(filled["height"]) / area[unit] * peaks[unit]
    attained = rl.bound(op, at, unit=unit).attainable
    # The SVG rounds heights of boxes to a hundredth of a pixel.
    lost = 0.006 / float(filled["width"]) * peaks[unit]
    assert reached == pytest.approx(attained, abs=lost, rel=1e-3)
    (whole,) = group(svg, f"peak-{unit}")
    feet = [float(each["y"]) + float(each["height"]) for each in (whole, filled)]
    assert feet[0] == pytest.approx(feet[1], abs=0.02)
    assert not group(svg, f"busy-{'matrix' if unit == 'vector' else 'vector'}")


@pytest.mark.parametrize(("work", "name"), EVERY)
def test_ridges_and_operation_are_at_their_intensities(work: str, name: str) -> None:
    at, (unit, op) = rl.chip(name), WORKS[work]
    svg = PICTURE.svg(work=work, chip=name)
    for each, kind in KINDS.items():
        (waits,), (kept,) = group(svg, f"waits-{each}"), group(svg, f"kept-{each}")
        corner = float(waits["x"]) + float(waits["width"])
        assert corner == pytest.approx(place(svg, at.ridge(kind, each)), abs=0.03)
        assert float(kept["x"]) == pytest.approx(corner, abs=0.02)
    (dot,) = group(svg, "dot")
    assert float(dot["cx"]) == pytest.approx(place(svg, float(op.intensity)), abs=0.03)
    (row,) = group(svg, f"waits-{unit}")
    middle = float(row["y"]) + float(row["height"]) / 2
    assert float(dot["cy"]) == pytest.approx(middle, abs=0.02)
    above = float(group(svg, f"kept-{unit}")[0]["x"]) <= float(dot["cx"])
    assert above == (rl.bound(op, at, unit=unit).binding == "compute")
