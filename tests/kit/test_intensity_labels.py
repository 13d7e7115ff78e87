"""Labels of the intensity figure: they overlap no other label and no line."""

import itertools
import re
from xml.etree import ElementTree

import pytest
from live_pages import drawn
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine.own_chip import OWN

PHONE = 320
"""Pixels of the picture on a phone; elsewhere there is more room."""
LABELS = 4
FIGURE = figures.intensity()
# A chip with a ridge at 10 FLOP/byte, as low as a CPU's.
CPU = FIGURE.with_own(peak=1e12, bandwidth=1e11)


def box(text: dict[str, str]) -> Path:
    """Return a label's bounding box, assuming a wide font."""
    x, y, words = float(text["x"]), float(text["y"]), text["text"]
    wide = float(TextPath((0, 0), words, size=12).get_extents().width)
    left = x - wide if text.get("text-anchor") == "end" else x
    return Path([(left, y - 9), (left + wide, y - 9), (left + wide, y + 1), (left, y + 1)])


def places(picture: str) -> tuple[dict[str, Path], list[Path]]:
    """Return bounding boxes by label, and a list of the straight lines and curves."""
    labels = {text["text"]: box(text) for text in drawn(picture, "names")}
    lines = []
    for rule in drawn(picture, "ridge") + drawn(picture, "here"):
        ends = [(float(rule[f"x{end}"]), float(rule[f"y{end}"])) for end in "12"]
        lines.append(Path(ends))
    for path in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}path"):
        points = re.findall(r"[ML](\S+) ([^ML]+)", path.attrib["d"])
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
def test_labels_do_not_overlap_labels_or_lines(figure: Figure, chip: str) -> None:
    (sizes,) = (control.options for control in figure.controls if control.name == "n")
    for n in sizes:
        labels, lines = places(figure.svg(width=PHONE, n=n, chip=chip))
        assert len(labels) == LABELS
        assert len(lines) == 5
        for (one, a), (two, b) in itertools.combinations(labels.items(), 2):
            assert not a.intersects_path(b), (n, one, two)
        for (words, frame), line in itertools.product(labels.items(), lines):
            crosses = frame.intersects_path(line, filled=False)
            assert not crosses, (n, words, line.vertices[[0, -1]])
