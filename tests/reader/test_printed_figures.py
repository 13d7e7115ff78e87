"""Drawings that cells print: their marks, and the words and numbers beside them."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from bs4 import Tag
from site_links import parsed

import rooflib as rl

H100, V5E = rl.chip("H100 SXM"), rl.chip("TPU v5e")
SLOWER = min((H100, rl.chip("H200 SXM")), key=lambda chip: chip["HBM"])
# Llama 3 8B: its parameters, and bytes of the keys and values of a token in 32 layers.
WEIGHTS, KEPT = 8_030_261_248, 2 * 32 * 8 * 128 * 2
# Marks that lie on no line: measured ones, whose lines are roofs, and those of a diagram.
APART = {"fig-machine-dots", "fig-machine-elsewhere", "fig-machine-reached"}
APART |= {"fig-roofline-measured", "fig-step-layer"}
# Drawings in which each mark has its name beside it, at most so far away.
NAMED, NEAR = {"fig-chips-latency", "fig-matmul-roofline", "fig-roofline-log"}, 18
# What a drawing says, as often as it stands here.
SAID = {
    "fig-roofline-zones": [SLOWER.name.split()[0]],
    # An SM of an H100 has 256 KiB of shared memory, and as much in registers.
    "fig-matmul-inside": [
        *("262 kB", "262 kB", "132", "52.4 MB", "134 MB"),
        *(" ".join(f"{one}".split()) for c in (H100, V5E) for one in (c.memory, c["HBM"])),
    ],
    "fig-time-sheet": ["1,979 TFLOP/s", "989.5 TFLOP/s", "900 GB/s", "450 GB/s"],
}
NUMBER = re.compile(r"\b[A-Z]\w*(?= \||$)|\d[\d.,]*(?: [kMGT]\w+(?:/s)?)?")


def drawings(site: Path) -> Iterator[tuple[str, Tag]]:
    for path in sorted((site / "chapters").glob("*.html")):
        for svg in parsed(path).select("[id^=fig-] svg.figure"):
            yield str(svg.find_parent(id=re.compile("^fig-"))["id"]), svg


def look(svg: Tag, shape: Tag) -> str:
    styles = dict(re.findall(r"\.(\w+)\{(.*?)\}", svg.style.get_text()))
    return "".join(styles.get(name, "") for name in shape.get("class", ())) + shape.get("style", "")


def places(shapes: list[Tag]) -> list[complex]:
    return [complex(float(one["x"]), float(one["y"])) for one in shapes if one.get("x")]


def marks(svg: Tag) -> list[complex]:
    """Return where a drawing has round marks."""
    round_ones = {f"#{one['id']}" for one in svg.select("defs path[id]") if "C" in one["d"]}
    return places([one for one in svg.select("use") if one["href"] in round_ones])


def lines(svg: Tag) -> Iterator[tuple[complex, complex]]:
    """Yield the pieces of lines, without those of the grid and the axes."""
    for path in svg.select("path:not(defs *)"):
        style = look(svg, path)
        if "fill:none" in style and "var(--line)" not in style and "miter" not in style:
            points = re.findall(r"(-?[\d.]+) (-?[\d.]+)", str(path["d"]))
            yield from pairwise([complex(float(x), float(y)) for x, y in points])


def distance(mark: complex, begin: complex, end: complex) -> float:
    along = ((mark - begin) * (end - begin).conjugate()).real / (abs(end - begin) ** 2 or 1)
    return abs(mark - begin - min(1, max(0, along)) * (end - begin))


def test_marks_lie_on_lines_and_beside_their_names(site: Path) -> None:
    seen, wrong = 0, []
    for name, svg in drawings(site):
        pieces, texts = [*lines(svg)], places(svg.select("text"))
        for mark in marks(svg):
            seen += 1
            if name not in APART and min((distance(mark, *one) for one in pieces), default=0) > 2:
                wrong.append(f"{name}: {mark} lies on no line")
            if name in NAMED and min(abs(mark - one) for one in texts) > NEAR:
                wrong.append(f"{name}: {mark} has no name")
    assert wrong == []
    assert seen


def test_a_drawing_says_what_a_count_by_hand_gives(site: Path) -> None:
    told = {
        name: " | ".join(" ".join(text.get_text().split()) for text in svg.select("text"))
        for name, svg in drawings(site)
    }
    for name, words in SAID.items():
        missing = Counter(words) - Counter(NUMBER.findall(told[name]))
        assert missing == Counter(), (name, told[name])


def test_filled_points_of_a_plot_are_the_batches_that_fit(site: Path) -> None:
    plot = dict(drawings(site))["fig-step-throughput"]
    styles = [look(plot, mark) for mark in plot.select("use")]
    for color, S in (("blue", 512), ("rust", 8192), ("green", 65_536)):
        points = [style for style in styles if f"stroke:var(--{color})" in style]
        filled = sum(f"fill:var(--{color})" in style for style in points)
        fit = [2**i for i in range(13) if 2 * WEIGHTS + 2**i * S * KEPT <= H100.memory]
        assert (filled, len(points)) == (len(fit), 13), S
