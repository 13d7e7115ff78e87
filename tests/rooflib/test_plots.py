"""Plots show the numbers that they are given, and their labels can be read."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

import rooflib as rl

V5E = rl.chip("TPU v5e")
NAMES = ["x", "add", "B = 512", "RMS norm", "dot product", "prompt of 2,048", "four heads share"]


def random_roofs(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    peak, bandwidth = 10 ** draw.uniform(13, 16), 10 ** draw.uniform(11, 13)
    ceilings, slopes = {"bf16": peak}, {"HBM": bandwidth}
    if draw.random() < 0.4:
        ceilings["another"] = peak * draw.choice([2, 1.3, 1 / 16])
    if draw.random() < 0.4:
        slopes["link"] = bandwidth / draw.choice([2, 7.4, 40])
    middle = peak / bandwidth * 10 ** draw.uniform(-1, 1)
    names = draw.sample(NAMES, draw.randint(1, 5))
    points = {name: middle * 10 ** draw.uniform(-1.5, 1) for name in names}
    regions = ["bandwidth-bound", "in between", "compute-bound"] if len(slopes) == 2 else []
    return {"ceilings": ceilings, "slopes": slopes, "points": points, "regions": regions}


def corners(text: Text) -> Path:
    """Return the outline of a text in pixels, with its rotation."""
    turn = text.get_rotation()
    text.set_rotation(0)
    box = Text.get_window_extent(text).padded(-1)
    text.set_rotation(turn)
    x, y = text.get_transform().transform((text._x, text._y))
    around = [(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)]
    return Path(Affine2D().rotate_deg_around(x, y, turn).transform([*around, around[0]]))


def single_points(ax: Axes) -> Iterator[tuple[float, float]]:
    for line in ax.lines:
        if len(line.get_xdata()) == 1:
            yield float(line.get_xdata()[0]), float(line.get_ydata()[0])


def assert_readable(ax: Axes, points: bool = True) -> None:
    ax.figure.canvas.draw()
    labels = {text: corners(text) for text in ax.texts if text.get_text()}
    for (one, a), (two, b) in itertools.combinations(labels.items(), 2):
        assert not a.intersects_path(b), f"{one} and {two} overlap"
    for text, box in labels.items():
        assert (box.vertices.min(axis=0) > -1).all(), f"{text} leaves the figure"
        assert (box.vertices.max(axis=0) < ax.figure.bbox.max + 1).all(), f"{text} leaves it"
        for other in labels:
            if other is not text and other.arrow_patch:
                arrow = other.arrow_patch
                leader = arrow.get_transform().transform_path(arrow.get_path())
                assert not box.intersects_path(leader), f"the line of {other} crosses {text}"
        for point in ax.transData.transform([*single_points(ax)]) if points else []:
            assert not box.contains_point(point), f"{text} covers a point"


@pytest.mark.parametrize("seed", range(4))
def test_labels_of_a_roofline_can_be_read_and_roofs_are_the_formula(seed):
    roofs = random_roofs(seed)
    size = random.Random(seed).choice([(5.4, 3.6), (5.4, 4.2), (5.6, 2.65), (7, 4.5)])
    ax = rl.plots.roofline(rl.plots.axes(*size), **roofs)
    assert_readable(ax)
    slowest, lowest = min(roofs["slopes"].values()), min(roofs["ceilings"].values())
    wanted = [(x, min(x * slowest, lowest)) for x in roofs["points"].values()]
    np.testing.assert_allclose(sorted(single_points(ax)), sorted(wanted))
    lines = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) > 1]
    rising = [line for line in lines if np.ptp(line[:, 1]) > 0]
    level = [line for line in lines if np.ptp(line[:, 1]) == 0]
    for line, slope in zip(rising, roofs["slopes"].values(), strict=True):
        np.testing.assert_allclose(line[:, 1], line[:, 0] * slope)
        assert line[-1, 1] == pytest.approx(max(roofs["ceilings"].values()))
    for line, ceiling in zip(level, roofs["ceilings"].values(), strict=True):
        np.testing.assert_allclose(line[:, 1], ceiling)
        assert line[0, 0] == pytest.approx(ceiling / max(roofs["slopes"].values()))
    left, right = ax.get_xlim()
    assert all(left <= x <= right for x, _ in wanted)
    shown = {text.get_text() for text in ax.texts}
    assert {f"HBM: {rl.Quantity(roofs['slopes']['HBM'], 'B/s')}",
            f"bf16: {rl.Quantity(roofs['ceilings']['bf16'], 'FLOP/s')}"} <= shown  # fmt: skip
    assert set(roofs["points"]) <= shown


def test_a_measured_point_keeps_its_place_and_stays_in_the_plot():
    ax = rl.plots.roofline(rl.plots.axes(), {"p": 1e14}, {"b": 1e12}, {"measured": (10, 1e9)})
    assert (10, 1e9) in set(single_points(ax))
    assert ax.get_ylim()[0] < 1e9


def test_a_curve_shows_its_values_and_its_name():
    B = np.arange(1, 513)
    curves = {f"D = {D}": rl.matmul(B, D, D).on(V5E).attained for D in (1024, 4096)}
    ax = rl.plots.throughput(rl.plots.axes(), B, curves, ceiling=V5E["bf16"])
    assert_readable(ax, points=False)
    drawn = [line.get_ydata() for line in ax.lines]
    for values in curves.values():
        assert any(len(y) == len(values) and np.allclose(y, values) for y in drawn)
    labels = {text.get_text(): text.get_color() for text in ax.texts}
    for name, line in zip(curves, ax.lines, strict=False):
        assert labels[name] == line.get_color()
    assert ax.get_ylim()[1] > V5E["bf16"]


def test_bars_are_as_long_as_times_and_the_bracket_as_the_bounds():
    alone = rl.matmul(64, 4096, 16384).on(V5E)
    sent = rl.split("D", 2, 512, 4096, 4096).on(V5E, "ICI")
    ax = rl.plots.time_bars(rl.plots.axes(), {"one chip": alone, "two chips": sent})
    assert_readable(ax, points=False)
    times = [*alone.times.values(), *sent.times.values()]
    assert [bar.get_width() for bar in ax.patches] == times
    brackets = {tuple(line.get_xdata()) for line in ax.lines}
    assert {(alone.lower, alone.upper), (sent.lower, sent.upper)} <= brackets
    shown = {text.get_text() for text in ax.texts}
    assert {"one chip", "two chips", *(str(time) for time in times)} <= shown
    names = {label.get_text() for label in ax.get_yticklabels()}
    assert {*alone.times, *sent.times} <= names


def test_lines_and_bars_differ_in_more_than_color():
    ax = rl.plots.axes()
    rl.plots.throughput(ax, [1, 2], {"one": [1, 2], "two": [1, 3], "three": [1, 4]})
    patterns = {str(line._dash_pattern) for line in ax.lines if len(line.get_xdata()) > 1}
    assert len(patterns) == 3
    bounds = rl.work("work", 1e9, loaded=1e9, sent=1e8).on(V5E, "ICI")
    bars = rl.plots.time_bars(rl.plots.axes(), {"one": bounds}).patches
    assert len({bar.get_hatch() for bar in bars}) == len(bars)


def luminance(color: Any) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
              for c in mpl.colors.to_rgb(color)]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_labels_have_enough_contrast_on_white():
    # The Web Content Accessibility Guidelines require 4.5 to 1.
    roofs = random_roofs(1)
    with mpl.rc_context():
        rl.plots.use_style()
        ax = rl.plots.roofline(rl.plots.axes(), **roofs)
        ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
        for text in [*ax.texts, ax.xaxis.label, ax.yaxis.label, *ticks]:
            assert 1.05 / (luminance(text.get_color()) + 0.05) >= 4.5, text
    plt.close("all")


def test_plots_draw_where_they_are_told_and_leave_settings_alone():
    before = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    assert rl.plots.roofline(right, {"p": 1e14}, {"b": 1e12}) is right
    assert not left.lines
    assert right.get_xlabel()
    assert right.get_ylabel()
    assert figure.axes == [left, right]
    assert dict(mpl.rcParams) == before
