"""The roofline figure of the first page: texts and marks agree with rooflib."""

import itertools
import re
from math import log

import pytest
from live_pages import drawn

import rooflib as rl
from roofkit.figures.one_roof_figure import KNOWN, one_roof

SETTINGS = list(itertools.product((0.1, 5.0, 200.0, 300.0, 1e4), ("TPU v5e", "H100 SXM", "B200")))


@pytest.mark.parametrize(("intensity", "chip"), SETTINGS)
def test_words_and_numbers_agree_with_rooflib(intensity: float, chip: str) -> None:
    figure, at = one_roof(), rl.chip(chip)
    values = figure.values(intensity=intensity, chip=chip)
    reached = rl.attainable(intensity, at)
    assert values["reached"] == pytest.approx(reached)
    assert values["share"] == pytest.approx(reached / at.peak())
    assert values["idle"] == pytest.approx(1 - reached / at.peak())
    assert values["ridge"] == pytest.approx(at.ridge())
    says = figure.texts(intensity=intensity, chip=chip)["says"]
    holds = "Arithmetic" if intensity >= at.ridge() else "Memory"
    assert f"{holds} holds it back" in says
    assert rl.text(reached, "FLOP/s") in says


def decades(picture: str) -> tuple[dict[float, float], dict[float, float]]:
    """Return the positions of the numbers on the x axis and on the y axis."""
    x, y = {}, {}
    for match in re.finditer(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', picture):
        words = match[3].replace(",", "")
        if re.fullmatch(r"[\d.]+", words):
            x[float(words)] = float(match[1])
        elif number := re.fullmatch(r"(\d+)\s([GTP])", words):
            y[float(number[1]) * {"G": 1e9, "T": 1e12, "P": 1e15}[number[2]]] = float(match[2]) - 4
    return x, y


@pytest.mark.parametrize(("intensity", "chip"), SETTINGS)
@pytest.mark.parametrize("width", [310, 640])
def test_points_match_the_axis_numbers(intensity: float, chip: str, width: int) -> None:
    picture = one_roof().svg(width=width, intensity=intensity, chip=chip)
    x, y = decades(picture)
    at = rl.chip(chip)

    def place(along: dict[float, float], number: float) -> float:
        (low, a), (high, b) = min(along.items()), max(along.items())
        return a + (b - a) * log(number / low) / log(high / low)

    dots = drawn(picture, "reached")
    assert float(dots[0]["cx"]) == pytest.approx(place(x, intensity), abs=0.1)
    assert float(dots[0]["cy"]) == pytest.approx(
        place(y, max(1e11, rl.attainable(intensity, at))), abs=0.1
    )
    (slope,), (ceiling,) = drawn(picture, "slope"), drawn(picture, "ceiling")
    assert (
        float(slope["x2"]) == float(ceiling["x1"]) == pytest.approx(place(x, at.ridge()), abs=0.1)
    )
    assert float(ceiling["y1"]) == pytest.approx(place(y, at.peak()), abs=0.1)
    for row, known in enumerate(KNOWN.values()):
        (mark,) = drawn(picture, f"known-{row}")
        assert float(mark["cx"]) == pytest.approx(place(x, known), abs=0.1)
        assert float(mark["cy"]) == pytest.approx(place(y, rl.attainable(known, at)), abs=0.1)


def test_intensities_of_known_operations_match_rooflib() -> None:
    assert list(KNOWN.values()) == [
        rl.dot(10**6).intensity,
        rl.matmul(32, 4096, 16384).intensity,
        rl.matmul(1024, 4096, 16384).intensity,
    ]
