"""Points, curves and bars of the plots match rooflib, at several widths."""

import dataclasses
import functools
import itertools
import math
import random
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from live_pages import SVG, chip_of, drawn
from matplotlib.textpath import TextPath
from series import in_part

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure, attention_figure, chips_figure, intensity_figure, matmul_figure
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.expressions import FUNCTIONS, value
from roofkit.figures.engine.own_chip import OWN
from roofkit.figures.roofs import RooflinePlot
from rooflib.sharding import sharded_matmul

WIDTHS = (320, 400, 720)
NEAR = 0.02
"""Pixels: what is drawn is rounded to a hundredth."""
Place = tuple[float, float]
Settings = dict[str, Any]


def choices(figure: Figure) -> Iterator[Settings]:
    """Yield random settings that the figure accepts."""
    draw = random.Random(figure.name)
    for _ in range(25):
        chosen = {control.name: draw.choice(control.options) for control in figure.controls}
        if not figure.values(**chosen).get("problem"):
            yield chosen


def settings(figure: Figure) -> Iterator[tuple[Settings, str, float]]:
    """Yield settings, the picture at them, and its width."""
    for chosen, width in zip(choices(figure), itertools.cycle(WIDTHS), strict=False):
        yield chosen, figure.svg(width=width, **chosen), width


def centers(picture: str, mark: str) -> list[Place]:
    """Return the centers of circles, including those inside a clipping box."""
    groups = ElementTree.fromstring(picture).iter(f"{SVG}g")
    found = [c for g in groups if g.get("data-mark") == mark for c in g.iter(f"{SVG}circle")]
    return [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in found]


def points(picture: str, mark: str) -> list[Place]:
    """Return the points of a curve."""
    groups = ElementTree.fromstring(picture).iter(f"{SVG}g")
    (path,) = [p for g in groups if g.get("data-mark") == mark for p in g.iter(f"{SVG}path")]
    pairs = re.findall(r"[ML](\S+) ([^ML]+)", path.attrib["d"])
    return [(float(x), float(y)) for x, y in pairs]


@dataclasses.dataclass(frozen=True)
class Scales:
    """The logarithmic axes of a plot, as defined for a picture of one width."""

    x: LogScale
    y: LogScale
    names: dict[str, Any]

    def place(self, x: float, y: float) -> Place:
        """Return the position of a point, in pixels from the top left corner."""
        found = []
        for scale, number in ((self.x, x), (self.y, y)):
            low, high = (float(value(end, self.names)) for end in (scale.low, scale.high))
            start, end = (float(value(side, self.names)) for side in (scale.start, scale.end))
            found.append(start + (end - start) * math.log(number / low) / math.log(high / low))
        return found[0], found[1]

    def reads(self, x: float) -> float:
        """Return the number on the x axis at `x`, a position in pixels."""
        low, high = (float(value(end, self.names)) for end in (self.x.low, self.x.high))
        start, end = (float(value(side, self.names)) for side in (self.x.start, self.x.end))
        return float(low * (high / low) ** ((x - start) / (end - start)))


def scales(plot: Any, figure: Figure, width: float, chosen: Settings) -> Scales:
    names = {**FUNCTIONS, "wide": width, **figure.values(**chosen)}
    return Scales(plot.x, plot.y, names)


def near(found: Place, expected: Place, by: float = NEAR) -> bool:
    return all(abs(a - b) <= by for a, b in zip(found, expected, strict=True))


def test_bars_of_the_time_figure_are_proportional_to_the_times() -> None:
    figure = figures.time()
    for chosen, picture, _ in settings(figure):
        op = rl.operation(flops=chosen["flops"], bytes=chosen["bytes"])
        bound = rl.bound(op, chip_of(chosen["chip"]))
        bars = {name: drawn(picture, f"bar-{name}")[0] for name in ("t_math", "t_comms")}
        (between,) = drawn(picture, "between")
        left = float(bars["t_math"]["x"])
        scale = (float(between["x2"]) - left) / bound.upper
        expected = {"t_math": bound.times["compute"], "t_comms": bound.times["HBM"]}
        for name, bar in bars.items():
            assert float(bar["width"]) == pytest.approx(scale * expected[name], abs=NEAR)
        assert float(between["x1"]) - left == pytest.approx(scale * bound.lower, abs=NEAR)
        rows = dict(zip(("t_math", "t_comms"), drawn(picture, "rows"), strict=False))
        for name, row in rows.items():
            top, high = float(bars[name]["y"]), float(bars[name]["height"])
            assert top < float(row["y"]) < top + high
        (words,) = drawn(picture, "words-bounds")
        lower, upper = rl.text(bound.lower, "s"), rl.text(bound.upper, "s")
        assert words["text"] == f"{lower} to {upper}"


def test_the_time_axis_has_round_numbers_at_their_positions() -> None:
    figure = figures.time()
    for chosen, picture, width in settings(figure):
        upper = figure.values(**chosen)["upper"]
        ticks = drawn(picture, "ticks")
        left = float(drawn(picture, "bar-t_math")[0]["x"])
        scale = (width - left - 14) / (1.1 * upper)
        step = (float(ticks[1]["x"]) - left) / scale
        digits = f"{step:.3e}".split("e")[0]
        assert round(float(digits)) in (1, 2, 4, 5, 10)
        assert 2 <= len(ticks) <= 7
        for i, tick in enumerate(ticks):
            assert float(tick["x"]) - left == pytest.approx(i * step * scale, abs=0.1)
            near_texts = {rl.text(i * step * (1 + e), "s") for e in (-1e-3, 0, 1e-3)}
            exact = float(f"{step:.1g}") * i
            assert tick["text"] in near_texts | {rl.text(exact, "s")}


def test_points_of_the_intensity_figure_match_rooflib() -> None:
    figure = figures.intensity()
    for chosen, picture, width in settings(figure):
        at = scales(intensity_figure.PLOT, figure, width, chosen)
        operations = {
            "dot": lambda n: rl.dot(n).intensity,
            "add": lambda n: rl.elementwise(n, inputs=2).intensity,
            "matmul": lambda n: rl.matmul(n, n, n).intensity,
        }
        for name, intensity in operations.items():
            (here,) = centers(picture, f"at-{name}")
            assert near(here, at.place(chosen["n"], intensity(chosen["n"])))
            curve = points(picture, f"curve-{name}")
            assert len(curve) > 40
            assert near(curve[0], at.place(1, intensity(1)))
            assert near(curve[-1], at.place(2**14, intensity(2**14)))
            for x, y in curve:
                n = at.reads(x)
                assert near((x, y), at.place(n, intensity(n)), by=0.1)
        ridge = chip_of(chosen["chip"]).ridge()
        (rule,) = drawn(picture, "ridge")
        assert float(rule["y1"]) == pytest.approx(at.place(1, ridge)[1], abs=NEAR)
        assert rule["y1"] == rule["y2"]


def sharded_times(chosen: Settings, D: int) -> dict[str, float]:
    """Return the times of the chips figure at this D, by formula name."""
    on, link = chip_and_link(chosen)
    op = sharded_matmul(chosen["B"], D, chosen["F"], chosen["N"], split=chosen["split"])
    times = rl.bound(op, on, link).times
    return {"t_math": times["compute"], "t_comms": times["HBM"], "t_link": times[link.name]}


def chip_and_link(chosen: Settings) -> tuple[rl.Chip, rl.Link]:
    name, _, link = chosen["over"].partition(", ")
    on = chip_of(name)
    return on, on.link(link) if link else on.links[0]


def test_points_of_the_chips_figure_match_rooflib() -> None:
    figure = figures.chips()
    for chosen, picture, width in settings(figure):
        at = scales(chips_figure.plot(), figure, width, chosen)
        D, (on, link) = chosen["D"], chip_and_link(chosen)
        for time, here in sharded_times(chosen, D).items():
            assert near(centers(picture, f"at-{time}")[0], at.place(D, here))
            curve = points(picture, f"curve-{time}")
            for found, other in ((curve[0], 2**9), (curve[16], 2**13), (curve[-1], 2**17)):
                assert near(found, at.place(other, sharded_times(chosen, other)[time]))
        threshold = rl.critical_depth(on, link, chosen["N"], split=chosen["split"])
        rings = centers(picture, "crossing")
        assert len(rings) == (2**9 <= threshold <= 2**17)
        words = [mark["text"] for mark in drawn(picture, "threshold")]
        for ring in rings:
            assert near(ring, at.place(threshold, sharded_times(chosen, D)["t_link"]))
            assert words == [f"D = {rl.text(rl.first_whole_from(threshold))}"]


def matmul_place(at: Scales, chosen: Settings, B: int) -> Place:
    """Return the position of the matmul figure's operation at this B."""
    op = rl.matmul(B, chosen["D"], chosen["F"], chosen["x"], w=chosen["w"], out=chosen["out"])
    return at.place(op.intensity, rl.bound(op, chip_of(chosen["chip"])).attainable)


def test_points_of_the_matmul_figure_match_rooflib() -> None:
    figure = figures.matmul()
    for chosen, picture, width in settings(figure):
        at = scales(RooflinePlot(matmul_figure.X, matmul_figure.Y), figure, width, chosen)
        chip = chip_of(chosen["chip"])
        assert near(centers(picture, "here")[0], matmul_place(at, chosen, chosen["B"]))
        batches = centers(picture, "batches")
        assert len(batches) == 17
        assert all(near(dot, matmul_place(at, chosen, 2**i)) for i, dot in enumerate(batches))
        assert f"B = {chosen['B']:,}" in [mark["text"] for mark in drawn(picture, "names")]
        (roof,) = drawn(picture, "ceiling")
        op = rl.matmul(1, 1, 1, chosen["x"], w=chosen["w"], out=chosen["out"])
        corner = at.place(chip.ridge(op.compute), chip.peak(op.compute))
        assert near((float(roof["x1"]), float(roof["y1"])), corner)


def decode_bounds(chosen: Settings, B: int) -> rl.Bounds:
    """Return the bounds of the attention figure's decode step at this B."""
    on, chips = chip_of(chosen["chip"]), int(chosen["chips"])
    types = {"w": chosen["w"], "kv": chosen["kv"]}
    step = rl.model(chosen["model"]).decode(B, int(chosen["S"]), chips, **types)
    return rl.bound(step, on, on.links[0])


def decode_place(at: Scales, chosen: Settings, B: int) -> Place:
    lower = decode_bounds(chosen, B).lower
    return at.place(B / lower, lower)


def test_curves_of_the_attention_figure_match_decode_steps() -> None:
    figure = figures.attention()
    for chosen, picture, width in settings(figure):
        at = scales(attention_figure.plot(), figure, width, chosen)
        here = decode_place(at, chosen, int(chosen["B"]))
        assert near(centers(picture, "here")[0], here)
        # The dotted part goes from the largest batch that fits into memory to a batch of 2**18.
        beyond = points(picture, "beyond")
        assert near(beyond[-1], decode_place(at, chosen, 2**18))
        largest = centers(picture, "largest")
        assert bool(largest) is decode_bounds(chosen, 1).fits
        for ring in largest:
            (words,) = re.findall(r">([\d,]+) fit<", picture)
            batch = int(words.replace(",", ""))
            assert decode_bounds(chosen, batch).fits
            assert not decode_bounds(chosen, batch + 1).fits
            assert near(ring, decode_place(at, chosen, batch))
            solid = points(picture, "fits")
            assert near(solid[0], decode_place(at, chosen, 1))
            assert near(solid[-1], ring)
            assert near(beyond[0], ring)


@pytest.mark.parametrize("name", ["attention", "chips", "intensity", "matmul"])
def test_curves_end_at_the_edges_of_the_plot(name: str) -> None:
    """Check that the curves of a chip beyond every axis are clipped to the plot."""
    figure = getattr(figures, name)().with_own(peak=1e22, bandwidth=1e20, link=1e20)
    choice = next(c.name for c in figure.controls if OWN in c.options)
    root = ElementTree.fromstring(figure.svg(**{choice: OWN}))
    clipped = [path for inner in root.iter(f"{SVG}svg") if inner is not root for path in inner]
    paths = list(root.iter(f"{SVG}path"))
    assert len(paths) == len([shape for shape in clipped if shape.tag == f"{SVG}path"])
    boxes = {inner.get("viewBox") for inner in root.iter(f"{SVG}svg") if inner is not root}
    assert len(boxes) == 1


@pytest.mark.parametrize("width", in_part([320, 360, 720]))
@pytest.mark.parametrize("name", ["attention", "chips", "intensity", "matmul", "time"])
def test_texts_stay_inside_the_picture_and_axis_numbers_do_not_overlap(
    name: str, width: int
) -> None:
    figure = getattr(figures, name)()
    for chosen in choices(figure):
        root = ElementTree.fromstring(figure.svg(width=width, **chosen))
        clipped = {text for box in root.iterfind(f".//{SVG}svg") for text in box}
        rows: dict[str, list[tuple[float, float]]] = {}
        for text in root.iter(f"{SVG}text"):
            left, right = ends(text)
            if text not in clipped:
                assert -2 <= left < right <= width + 2, (text.text, chosen)
                assert 0 < float(text.attrib["y"]) < float(root.attrib["height"])
            if re.fullmatch(r"[\d.,]+(\N{NO-BREAK SPACE}\w+)?", text.text or ""):
                rows.setdefault(text.attrib["y"], []).append((left, right))
        for row in rows.values():
            assert all(a[1] < b[0] for a, b in itertools.pairwise(sorted(row))), (row, chosen)


@functools.cache
def width_of(text: str) -> float:
    return float(TextPath((0, 0), text, size=12).get_extents().x1)


def ends(text: ElementTree.Element) -> tuple[float, float]:
    """Return the left and right end of a text, in pixels."""
    wide = width_of(text.text or "")
    x, anchor = float(text.attrib["x"]), text.get("text-anchor", "start")
    left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
    return left, left + wide


def test_curves_of_the_chips_figure_fill_their_plot() -> None:
    figure = figures.chips()
    for chosen, picture, _ in settings(figure):
        high = float(ElementTree.fromstring(picture).attrib["height"])
        places = [
            y for time in chips_figure.curve_names() for _, y in points(picture, f"curve-{time}")
        ]
        assert 28 < min(places) < 60, chosen
        assert high - 75 < max(places) < high - 42, chosen
