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
    return {"ceilings": ceilings, "slopes": slopes, "points": points}


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
    drawn = [line for line in ax.lines if len(line.get_xdata()) > 1]
    lines = [line.get_xydata() for line in drawn]
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
    # Each label stands on its own line, in its color, or leads to its own point.
    shown = {text.get_text(): text for text in ax.texts}
    rates = [f"{name}: {rl.Quantity(rate, 'B/s')}" for name, rate in roofs["slopes"].items()]
    rates += [f"{name}: {rl.Quantity(rate, 'FLOP/s')}" for name, rate in roofs["ceilings"].items()]
    for label, line in zip(map(shown.get, rates), drawn, strict=True):
        assert label.get_color() == line.get_color()
        x, y = label.xy
        rise = np.interp(np.log(x), *np.log(line.get_data()))
        assert np.log(y) == pytest.approx(rise)
    assert len({line.get_color() for line in drawn}) == len(drawn)
    assert [shown[name].xy for name in roofs["points"]] == pytest.approx(np.array(wanted))


def test_a_chip_and_work_are_drawn_where_they_lie():
    points = {"bf16": rl.matmul(64, 4096, 4096), "int8": rl.matmul(64, 4096, 4096, x="int8")}
    slopes = {"HBM": V5E["HBM"], "ICI": V5E["ICI"]}
    ax = rl.plots.roofline(rl.plots.axes(7, 4), V5E, slopes, points, span=(0.5, 1e4))
    assert list(ax.figure.get_size_inches()) == [7, 4]
    assert ax.get_xlim() == (0.5, 1e4)
    shown = {text.get_text(): text.xy for text in ax.texts}
    rates = ["HBM: 819 GB/s", "ICI: 45 GB/s", "bf16: 197 TFLOP/s", "int8: 394 TOP/s"]
    assert {*rates, *points} == {name.replace("\N{NO-BREAK SPACE}", " ") for name in shown}
    for name, op in points.items():
        assert shown[name] == pytest.approx((op.intensity, op.intensity * V5E["ICI"]))
    alone = rl.plots.roofline(rl.plots.axes(), V5E)
    words = [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in alone.texts]
    assert words == ["HBM: 819 GB/s", "bf16: 197 TFLOP/s"]
    assert alone.get_xlim()[0] < V5E.ridge() < alone.get_xlim()[1]
    large = {x: rl.matmul(8192, 8192, 8192, x=x) for x in ("bf16", "int8")}
    under = rl.plots.roofline(rl.plots.axes(), V5E, points=large)
    assert sorted(y for _, y in single_points(under)) == [V5E["bf16"], V5E["int8"]]
    assert "FLOP/byte" in ax.get_xlabel()
    assert "FLOP/s" in ax.get_ylabel()
    powers = {"": 1, "G": 1e9, "T": 1e12, "P": 1e15}
    for axis in (ax.xaxis, ax.yaxis):
        for tick, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True):
            number = label.get_text().rstrip("GTP")
            factor = powers[label.get_text().removeprefix(number)]
            assert float(number.replace(",", "")) * factor == pytest.approx(tick)


def test_a_measured_point_keeps_its_place_and_stays_in_the_plot():
    ax = rl.plots.roofline(rl.plots.axes(), {"p": 1e14}, {"b": 1e12}, {"measured": (10, 1e9)})
    assert (10, 1e9) in set(single_points(ax))
    assert ax.get_ylim()[0] < 1e9


def test_a_curve_shows_its_values_and_its_name():
    B = np.arange(1, 513)
    curves = {f"D = {D}": rl.matmul(B, D, D).on(V5E).attained for D in (1024, 4096)}
    ax = rl.plots.throughput(rl.plots.axes(), B, curves, ceiling=V5E["bf16"])
    assert ax.get_xlim() == (1, 512)
    (peak,) = (text for text in ax.texts if str(V5E["bf16"]) in text.get_text())
    assert peak.xy[1] == V5E["bf16"]
    assert [V5E["bf16"]] * 2 in [list(line.get_ydata()) for line in ax.lines]
    assert_readable(ax, points=False)
    drawn = [line.get_ydata() for line in ax.lines]
    for values in curves.values():
        assert any(len(y) == len(values) and np.allclose(y, values) for y in drawn)
    labels = {text.get_text(): text.get_color() for text in ax.texts}
    for name, line in zip(curves, ax.lines, strict=False):
        assert labels[name] == line.get_color()
    far = rl.plots.throughput(rl.plots.axes(), [1, 2], {"low": [1, 2]}, ceiling=9)
    assert far.get_ylim()[1] > 9


def test_bars_are_as_long_as_times_and_the_bracket_as_the_bounds():
    alone = rl.matmul(64, 4096, 16384).on(V5E)
    sent = rl.split("D", 2, 512, 8192, 4096).on(V5E, "ICI")
    ax = rl.plots.time_bars(rl.plots.axes(), {"one chip": alone, "two chips": sent})
    assert_readable(ax, points=False)
    times = [*alone.times.values(), *sent.times.values()]
    assert [bar.get_width() for bar in ax.patches] == times
    brackets = {tuple(line.get_xdata()) for line in ax.lines}
    assert {(alone.lower, alone.upper), (sent.lower, sent.upper)} <= brackets
    # Beside each bar stand its roof and its time; bars of a roof look alike, and no others.
    height = {text.get_text(): text.xy[1] for text in ax.texts}
    heights = [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    assert [height[str(time)] for time in times] == pytest.approx(heights)
    roofs = dict(zip(ax.get_yticks(), map(Text.get_text, ax.get_yticklabels()), strict=True))
    assert [roofs[round(at)] for at in heights] == [*alone.times, *sent.times]
    assert height["one chip"] < heights[0] < heights[1] < height["two chips"] < heights[2]
    for each in (alone, sent):
        assert roofs[height[f"{each.lower} to {each.upper}"]] == "bounds"
    zones = {rl.plots.PALETTE[name]: rl.plots.PALETTE[f"{name}-zone"]
             for name in ("blue", "rust", "green", "violet", "ochre")}  # fmt: skip
    looks = {}
    for bar, at in zip(ax.patches, heights, strict=True):
        edge = mpl.colors.to_hex(bar.get_edgecolor())
        assert mpl.colors.to_hex(bar.get_facecolor()) == zones[edge]
        looks.setdefault(roofs[round(at)], set()).add((edge, bar.get_hatch()))
    assert all(len(look) == 1 for look in looks.values())
    assert len({hatch for look in looks.values() for _, hatch in look}) == len(looks) == 3
    assert ax.get_xlabel()
    for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True):
        number, unit = label.get_text().replace("\N{MICRO SIGN}", "u").split()
        assert float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit] == pytest.approx(tick)


def test_lines_differ_in_more_than_color():
    ax = rl.plots.axes()
    rl.plots.throughput(ax, [1, 2], {"one": [1, 2], "two": [1, 3], "three": [1, 4]})
    patterns = {str(line._dash_pattern) for line in ax.lines if len(line.get_xdata()) > 1}
    assert len(patterns) == 3
    ax = rl.plots.roofline(rl.plots.axes(), {"a": 1e14, "b": 2e14}, {"c": 1e12})
    assert len({str(line._dash_pattern) for line in ax.lines if np.ptp(line.get_ydata()) == 0}) == 2


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
            assert text.get_fontsize() >= 8, text
        # The page, which may be dark, shows through.
        assert [part.get_facecolor()[3] for part in (ax, ax.figure)] == [0, 0]
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
