"""The labels of the intensity figure: none crosses another, the ridge, a curve or the line at n."""

import itertools
import re
from xml.etree import ElementTree

import pytest
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from roofkit import live
from roofkit.figure.own_chip import OWN
from roofkit.live.chart import Chart

SVG = "{http://www.w3.org/2000/svg}"
LABELS = ("ridge ", "dot product", "addition", "matmul")
NUMBER = r"(-?[\d.]+)"
FIGURE = live.intensity()
# A chip that has its ridge at 10 FLOP/byte, as a CPU may.
CPU = FIGURE.with_own(peak=1e12, bandwidth=1e11)


def place(shape: ElementTree.Element) -> tuple[float, float]:
    found = re.match(rf"translate\({NUMBER},{NUMBER}\)", shape.attrib["transform"])
    assert found is not None
    return float(found[1]), float(found[2])


def box(text: ElementTree.Element) -> Path:
    """The frame of a label, as wide as in a wide font."""
    (x, y), words = place(text), text.text or ""
    wide = float(TextPath((0, 0), words, size=12).get_extents().width)
    left = x - wide if text.attrib["text-anchor"] == "end" else x
    return Path([(left, y - 9), (left + wide, y - 9), (left + wide, y + 1), (left, y + 1)])


def drawn(figure: Chart, **settings: float | str) -> tuple[dict[str, Path], list[Path]]:
    """The frames of the labels, and the two rules and three curves."""
    svg = ElementTree.fromstring(figure.svg(**settings))
    texts = {t.text or "": box(t) for t in svg.iter(f"{SVG}text")}
    labels = {words: frame for words, frame in texts.items() if words.startswith(LABELS)}
    lines = []
    for rule in svg.iter(f"{SVG}line"):
        if rule.get("stroke-width") == "2" or rule.get("stroke-dasharray"):
            x, y = place(rule)
            end = x + float(rule.get("x2", 0)), y + float(rule.get("y2", 0))
            lines.append(Path([(x, y), end]))
    for curve in svg.iter(f"{SVG}path"):
        if curve.get("stroke-width") == "2" and "L" in curve.attrib["d"]:
            points = re.findall(rf"{NUMBER},{NUMBER}", curve.attrib["d"])
            lines.append(Path([(float(x), float(y)) for x, y in points]))
    return labels, lines


@pytest.mark.parametrize(
    ("figure", "chip"),
    [
        (FIGURE, "TPU v5e"),
        pytest.param(FIGURE, "TPU v6e", marks=pytest.mark.long),
        pytest.param(CPU, OWN, marks=pytest.mark.long),
    ],
)
def test_no_label_crosses_another_or_a_line(
    monkeypatch: pytest.MonkeyPatch, figure: Chart, chip: str
) -> None:
    # As wide as the plot is on a phone; elsewhere there is more room.
    monkeypatch.setattr("roofkit.live.chart.STATIC_WIDTH", 230)
    (sizes,) = (control.options for control in figure.controls if control.name == "n")
    for n in sizes:
        labels, lines = drawn(figure, n=n, chip=chip)
        assert len(labels) == len(LABELS)
        assert len(lines) == 5
        for (one, a), (two, b) in itertools.combinations(labels.items(), 2):
            assert not a.intersects_path(b), (n, one, two)
        for (words, frame), line in itertools.product(labels.items(), lines):
            crosses = frame.intersects_path(line, filled=False)
            assert not crosses, (n, words, line.vertices[[0, -1]])
