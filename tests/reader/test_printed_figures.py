"""Drawings that cells print: their points, words and numbers."""

import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import Tag
from site_links import parsed

import rooflib as rl

H100, V5E = rl.chip("H100 SXM"), rl.chip("TPU v5e")
SLOWER = min((H100, rl.chip("H200 SXM")), key=lambda chip: chip["HBM"])
# Llama 3 8B: its parameters, and bytes of the keys and values of a token in 32 layers.
WEIGHTS, KEPT = 8_030_261_248, 2 * 32 * 8 * 128 * 2
# What a drawing says.
SAID = {
    "fig-roofline-zones": [SLOWER.name.split()[0]],
    # An SM of an H100 has 256 KiB of shared memory, and as much in registers.
    "fig-matmul-inside": [
        *("262 kB", "132", "52.4 MB", "134 MB"),
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


def test_a_drawing_says_what_a_count_by_hand_gives(site: Path) -> None:
    told = {
        name: " | ".join(" ".join(text.get_text().split()) for text in svg.select("text"))
        for name, svg in drawings(site)
    }
    for name, words in SAID.items():
        assert {*words} - {*NUMBER.findall(told[name])} == set(), told[name]


def test_filled_points_of_a_plot_are_the_batches_that_fit(site: Path) -> None:
    plot = dict(drawings(site))["fig-step-throughput"]
    styles = [look(plot, mark) for mark in plot.select("use")]
    for color, S in (("blue", 512), ("rust", 8192), ("green", 65_536)):
        points = [style for style in styles if f"stroke:var(--{color})" in style]
        filled = sum(f"fill:var(--{color})" in style for style in points)
        fit = [2**i for i in range(13) if 2 * WEIGHTS + 2**i * S * KEPT <= H100.memory]
        assert (filled, len(points)) == (len(fit), 13), S
