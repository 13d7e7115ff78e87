"""Tests of plots: positions, labels, and free space between labels."""

from __future__ import annotations

import itertools
import random
import re
import sys
import types
from fractions import Fraction

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv, to_hex, to_rgb
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D
from series import in_part

import rooflib as rl
from rooflib import plots

V5E = rl.chip("TPU v5e")
NO_BREAK = "\N{NO-BREAK SPACE}"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def draw_roofline(ax):
    return plots.roofline(
        ax,
        {"bf16": V5E.peak()},
        {"HBM": V5E.bandwidth},
        {"dot product": 0.5, "add": 1 / 6, "RMS norm": 1.0, "B = 64": 63, "B = 512": 450},
    )


def draw_zones(ax):
    return plots.roofline(
        ax,
        {"peak": V5E.peak()},
        {"slow": V5E.bandwidth / 4, "fast": V5E.bandwidth},
        {"one": 20, "two": 2000},
        regions=["bound at both", "bound at slow", "compute-bound"],
    )


def draw_throughput(ax):
    B = np.arange(1, 513)
    curves = {
        f"D = F = {d}": rl.bound(rl.matmul(B, d, d, w="int8"), V5E).attainable
        for d in (4096, 2048, 1024)
    }
    return plots.throughput(ax, B, curves, ceiling=V5E.peak(), marks={"critical": (136, 1.97e14)})


def draw_bars(ax):
    return plots.time_bars(
        ax,
        {
            "one chip": rl.bound(rl.matmul(64, 4096, 16384), V5E),
            "two chips": rl.bound(rl.sharded_matmul(512, 4096, 4096, 2), V5E, link="ICI"),
        },
    )


DRAWINGS = [draw_roofline, draw_zones, draw_throughput, draw_bars]


def texts(ax):
    ax.figure.canvas.draw()
    found = [*ax.texts, ax.xaxis.label, ax.yaxis.label]
    return [text for text in found if text.get_visible() and text.get_text()]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_plots_draw_on_the_given_axes_and_return_them(draw):
    figure, (left, right) = plt.subplots(1, 2)
    assert draw(right) is right
    assert not left.lines
    assert figure.axes == [left, right]


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("size", [(5.4, 3.6), (7.0, 4.5)])
def test_labels_neither_overlap_nor_leave_the_figure(draw, size):
    ax = draw(plots.axes(*size))
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts(ax)]
    level = [(name, box) for name, box in boxes if not name.startswith(("HBM", "slow", "fast"))]
    for (one, a), (two, b) in itertools.combinations(level, 2):
        assert not a.padded(-1).overlaps(b.padded(-1)), f"{one!r} covers {two!r}"
    for name, box in boxes:
        assert box.x0 > -1, name
        assert box.x1 < ax.figure.bbox.x1 + 1, name
        assert box.y0 > -1, name
        assert box.y1 < ax.figure.bbox.y1 + 1, name


NAMES = ["x", "add", "B = 512", "RMS norm", "dot product", "prompt of 2,048", "four heads share"]


def drawn(seed):
    """Draw a random but realistic roofline."""
    draw = random.Random(seed)
    chip = draw.choice([chip for chip in rl.chips() if "bf16" in chip.peaks])
    ceilings, slopes = {"bf16": chip.peak()}, {"HBM": chip.bandwidth}
    if draw.random() < 0.4:
        ceilings["another"] = chip.peak() * draw.choice([2, 1.3, 1 / 16])
    if draw.random() < 0.4:
        slopes["link"] = chip.bandwidth / draw.choice([2, 7.4, 40])
    middle = chip.ridge() * 10 ** draw.uniform(-1, 1)
    names = draw.sample(NAMES, draw.randint(1, 5))
    points = {name: middle * 10 ** draw.uniform(-1.5, 1) for name in names}
    regions = ["bandwidth-bound", "in between", "compute-bound"] if len(slopes) == 2 else []
    size = draw.choice([(5.4, 3.6), (5.4, 4.2), (5.6, 2.65), (7, 4.5)])
    return plots.roofline(plots.axes(*size), ceilings, slopes, points, regions)


def inside(ax):
    """Return labels that matplotlib's layout ignores; they belong inside the axes."""
    return [note for note in ax.texts if not note.get_in_layout() and note.get_text()]


def corners(text):
    """Return the corners of a text in pixels, including its rotation."""
    turn = text.get_rotation()
    text.set_rotation(0)
    box = Text.get_window_extent(text).padded(-1)
    text.set_rotation(turn)
    x, y = text.get_transform().transform((text._x, text._y))
    round_about = [(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)]
    return Path(Affine2D().rotate_deg_around(x, y, turn).transform([*round_about, round_about[0]]))


def places(points):
    """Draw a roofline; return each point's position → the corners of its label."""
    ax = plots.roofline(plots.axes(5.4, 3.6), {"bf16": V5E.peak()}, {"HBM": V5E.bandwidth}, points)
    ax.figure.canvas.draw()
    return {note.xy: corners(note).vertices for note in ax.texts if note.get_text() in points}


def test_label_positions_do_not_depend_on_the_names_of_points():
    values = [share * V5E.ridge() for share in (0.7, 0.75, 0.8, 0.9)]
    expected = places(dict(zip("bdpq", values, strict=True)))  # these letters have the same width
    assert len(expected) == 4
    for order in (values, values[::-1]):
        found = places(dict(zip("qpdb", order, strict=True)))
        assert found.keys() == expected.keys()
        for point, box in found.items():
            assert box == pytest.approx(expected[point], abs=0.01)


@pytest.mark.parametrize("seed", in_part(range(12), 3))
def test_labels_and_leader_lines_cross_no_label(seed):
    ax = drawn(seed)
    ax.figure.canvas.draw()
    labels = {text: corners(text) for text in ax.texts}
    leaders = {
        text: text.arrow_patch.get_transform().transform_path(text.arrow_patch.get_path())
        for text in labels
        if text.arrow_patch
    }
    for (one, a), (two, b) in itertools.combinations(labels.items(), 2):
        assert not a.intersects_path(b), (one, two)
    for (one, a), (two, b) in itertools.product(labels.items(), leaders.items()):
        assert one is two or not a.intersects_path(b), f"the line of {two} crosses {one}"
    for one, box in labels.items():
        low, high = box.vertices.min(axis=0), box.vertices.max(axis=0)
        assert (low > -1).all(), one
        assert (high < ax.figure.bbox.max + 1).all(), one
    # Labels that the layout ignores would cover tick labels if they left the axes.
    for one in inside(ax):
        box, axes = Text.get_window_extent(one), ax.get_window_extent()
        assert axes.padded(2).contains(*box.min), one
        assert axes.padded(2).contains(*box.max), one


@pytest.mark.parametrize("angle", [0, 30, 90, 200])
def test_outlines_of_rotated_labels_match_matplotlibs_extent(angle):
    ax = plt.figure().subplots()
    note = plots._note(ax, "slope", (0.2, 0.7), rotation=angle, rotation_mode="anchor")
    ax.figure.draw_without_rendering()
    found = plots._outline(note).get_extents()
    np.testing.assert_allclose(found, Text.get_window_extent(note), atol=3)


def test_the_overlap_check_detects_crossing_labels():
    ax = plots.axes()
    one = ax.annotate("long words", (0.5, 0.5), rotation=40, rotation_mode="anchor")
    two = ax.annotate("other words", (0.53, 0.56))
    far = ax.annotate("far", (0.5, 0.1))
    ax.figure.canvas.draw()
    assert corners(one).intersects_path(corners(two))
    assert not corners(one).intersects_path(corners(far))


@pytest.mark.parametrize("draw", DRAWINGS)
def test_axes_are_labeled(draw):
    ax = draw(plots.axes())
    assert ax.get_xlabel()
    assert draw is draw_bars or ax.get_ylabel()


def test_the_roof_matches_the_formula():
    ax = draw_roofline(plots.axes())
    slope, ceiling = ax.lines[0], ax.lines[1]
    x = slope.get_xdata()
    np.testing.assert_allclose(slope.get_ydata(), rl.attainable(x, V5E))
    assert x[-1] == pytest.approx(V5E.ridge())
    assert set(ceiling.get_ydata()) == {V5E.peak()}


def test_points_lie_on_the_lowest_roof():
    ax = draw_roofline(plots.axes())
    drawn = sorted((float(p.get_xdata()[0]), float(p.get_ydata()[0])) for p in ax.lines[2:])
    given = sorted([0.5, 1 / 6, 1.0, 63, 450])
    np.testing.assert_allclose([x for x, _ in drawn], given)
    np.testing.assert_allclose([y for _, y in drawn], rl.attainable(np.array(given), V5E))


def test_measured_points_keep_their_position():
    ax = plots.roofline(plots.axes(), {"p": 1e14}, {"b": 1e12}, {"measured": (10, 5e12)})
    point = ax.lines[-1]
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (10, 5e12)


def test_rooflines_accept_any_number_of_roofs():
    peaks = {kind: V5E.peak(kind) for kind in ("bf16", "int8")}
    slopes = {"HBM": V5E.bandwidth, "ICI": 4.5e10, "DCN": 3.125e9}
    ax = plots.roofline(plots.axes(), peaks, slopes)
    assert len(ax.lines) == 5
    shown = {text.get_text().split(":")[0] for text in ax.texts}
    assert shown == {*peaks, *slopes}


def test_labels_with_free_space_keep_their_default_offset():
    ax = plots.roofline(plots.axes(), {"p": 1e14}, {"b": 1e12}, {"measured": (10, 1e12)})
    places = {note.get_text(): note.get_position() for note in ax.texts}
    assert places["measured"] == (8, -12)
    assert places[f"b: 1{NO_BREAK}TB/s"] == (-3, 3)
    assert places[f"p: 100{NO_BREAK}TFLOP/s"] == (-2, 7)


def test_the_right_one_of_two_close_points_keeps_its_default_label_offset():
    points = {"left": 10, "right": 12}
    ax = plots.roofline(plots.axes(), {"p": 1e14}, {"b": 1e12}, points)
    moved = {note.get_text(): note.get_position() != (8, -12) for note in ax.texts[-2:]}
    assert moved == {"right": False, "left": True}


def test_labels_of_slopes_are_anchored_on_their_visible_part():
    slopes = {"HBM": 1e12, "link": 1e10}
    ax = plots.roofline(plots.axes(), {"peak": 1e14}, slopes, span=(10, 1e5))
    for width, note in zip(slopes.values(), ax.texts, strict=False):
        x, y = note.xy
        assert y == pytest.approx(x * width)
        assert 10 < x < 1e14 / width


@pytest.mark.parametrize("seed", [0, 4])
def test_labels_cover_no_point(seed):
    ax = drawn(seed)
    ax.figure.canvas.draw()
    points = [line.get_transform().transform(line.get_xydata()[0])
              for line in ax.lines if len(line.get_xydata()) == 1]  # fmt: skip
    assert points
    for note, point in itertools.product(ax.texts, points):
        assert not corners(note).contains_point(point), note


def test_slopes_begin_at_the_left_edge_or_at_the_bottom():
    ax = plots.roofline(plots.axes(), {"p": 1e14}, {"fast": 1e12, "slow": 1e10}, {"m": (50, 1e11)})
    (left, _), (bottom, _) = ax.get_xlim(), ax.get_ylim()
    starts = [tuple(line.get_xydata()[0]) for line in ax.lines[:2]]
    for (x, y), width in zip(starts, (1e12, 1e10), strict=True):
        assert y == pytest.approx(x * width)
        assert x == pytest.approx(max(left, bottom / width))


def test_the_first_ceiling_and_slope_are_solid():
    slopes, ceilings = {"HBM": 1e12, "link": 1e11}, {"bf16": 2e14, "int8": 4e14}
    lines = plots.roofline(plots.axes(), ceilings, slopes).lines
    assert [line.is_dashed() for line in lines] == [False, True, False, True]
    colors = [line.get_color() for line in lines]
    assert colors == [plots.SERIES[0], plots.SERIES[1], plots.INK, plots.SERIES[3]]


@pytest.mark.parametrize("draw", [draw_roofline, draw_zones])
@pytest.mark.parametrize("height", [3.2, 4.2])
def test_slope_labels_are_parallel_to_their_slope(draw, height):
    ax = draw(plots.axes(height=height))
    ax.figure.draw_without_rendering()
    slopes = [line for line in ax.lines if np.ptp(line.get_ydata()) > 0]
    names = [note for note in ax.texts if note.get_rotation() > 0]
    assert len(slopes) == len(names) > 0
    for line, note in zip(slopes, names, strict=True):
        across, up = np.ptp(ax.transData.transform(line.get_xydata()), axis=0)
        assert note.get_rotation() == pytest.approx(np.degrees(np.arctan2(up, across)), abs=0.5)


def test_rooflines_show_plain_intensities_and_no_minor_ticks():
    ax = draw_roofline(plots.axes())
    ax.figure.canvas.draw()
    assert {"1", "100", "1,000"} <= {label.get_text() for label in ax.get_xticklabels()}
    assert not len(ax.xaxis.get_minorticklocs())
    assert not len(ax.yaxis.get_minorticklocs())


@pytest.mark.parametrize("draw", [draw_roofline, draw_throughput])
def test_tick_labels_have_unit_prefixes(draw):
    labels = [label.get_text() for label in draw(plots.axes()).get_yticklabels()]
    assert any(re.fullmatch(r"\d+(\.\d+)?[GT]", label) for label in labels)
    assert not any(" " in label for label in labels)


def test_throughput_curves_show_the_passed_values():
    ax = draw_throughput(plots.axes())
    B = np.arange(1, 513)
    expected = rl.bound(rl.matmul(B, 1024, 1024, w="int8"), V5E).attainable
    np.testing.assert_allclose(ax.lines[2].get_ydata(), expected)
    assert {"D = F = 4096", "D = F = 2048", "D = F = 1024"} <= {t.get_text() for t in ax.texts}


def test_separate_lines_are_labeled_at_their_ends():
    ax = plots.throughput(plots.axes(), [1, 2, 3], {"low": [1, 2, 3], "high": [10, 20, 30]})
    at = {text.get_text(): text.xy for text in ax.texts}
    assert at["low"] == (1, 3)
    assert at["high"] == (1, 30)
    ax.figure.canvas.draw()
    colors = {line.get_color() for line in ax.lines}
    for note in ax.texts:
        box = Text.get_window_extent(note)
        assert ax.get_window_extent().x1 < box.x0 < box.x1 < ax.figure.bbox.x1
        assert note.get_position()[0] == 6
    assert [note.get_color() for note in ax.texts] == [plots.SERIES[1], plots.SERIES[0]]
    assert colors == set(plots.SERIES[:2])


def test_throughput_curves_accept_fractions():
    x, fall = [Fraction(1), Fraction(3, 2)], [Fraction(7, 3), Fraction(2)]
    ax = plots.throughput(plots.axes(), x, {"fall": fall, "rise": [Fraction(1, 3), Fraction(2)]})
    ax.figure.canvas.draw()
    assert ax.get_xlim() == (1, 1.5)
    assert list(ax.lines[0].get_ydata()) == [7 / 3, 2]


def test_labels_of_close_ceilings_move_to_the_left():
    ceilings = {"one": 1e14, "two": 1.1e14, "three": 1.2e14}
    ax = plots.roofline(plots.axes(), ceilings, {"b": 1e12})
    ax.figure.canvas.draw()
    boxes = [Text.get_window_extent(note) for note in ax.texts[1:]]
    assert len(boxes) == 3
    for one, other in itertools.combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other.padded(-1))
    assert all(box.x1 <= ax.get_window_extent().x1 for box in boxes)
    assert all(note.get_position()[0] <= -2 for note in ax.texts[1:])


def test_labels_of_lines_that_end_near_each_other_do_not_overlap():
    ax = plots.throughput(plots.axes(), [1, 2], {"low": [1, 100], "high": [1, 104]})
    ax.figure.canvas.draw()
    low, high = (Text.get_window_extent(note) for note in ax.texts)
    assert not low.overlaps(high)
    assert {note.get_position()[0] for note in ax.texts} == {6}


def test_bar_lengths_match_the_times():
    b = rl.bound(rl.matmul(64, 4096, 16384), V5E)
    ax = plots.time_bars(plots.axes(), {"one": b})
    assert [bar.get_width() for bar in ax.patches] == list(b.times.values())
    bracket = ax.lines[-1]
    assert tuple(bracket.get_xdata()) == (b.lower, b.upper)


def words(ax):
    return [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in ax.texts]


def test_default_limits_include_all_ridges_and_points():
    # Ridge points are at 10 and 100, and a point at 3000: the x limits are the next whole decades
    # that are at least a factor of 2.5 away.
    ax = plots.roofline(plots.axes(), {"a": 1e12, "b": 1e11}, {"w": 1e10}, {"p": 3000})
    assert ax.get_xlim() == pytest.approx((1, 1e4))
    assert ax.get_ylim() == pytest.approx((1e10, 2.5e12))
    wide = plots.roofline(plots.axes(), {"a": 1e12}, {"w": 1e10, "v": 1e9}, span=(0.5, 4000))
    assert wide.get_xlim() == pytest.approx((0.5, 4000))
    assert wide.get_ylim()[0] == pytest.approx(0.5 * 1e9)
    low = plots.roofline(plots.axes(), {"a": 1e12}, {"w": 1e10}, {"measured": (100, 1e8)})
    assert low.get_ylim()[0] == pytest.approx(5e7)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_roof_labels_show_values_and_points_use_the_lowest_roof():
    ax = plots.roofline(
        plots.axes(), {"a": 1e12, "b": 1e11}, {"w": 1e10, "v": 1e9}, {"low": 5, "high": 500}
    )
    assert {"a: 1 TFLOP/s", "b: 100 GFLOP/s", "w: 10 GB/s", "v: 1 GB/s"} <= set(words(ax))
    spots = {(float(p.get_xdata()[0]), float(p.get_ydata()[0])) for p in ax.lines[4:]}
    assert spots == {(5, 5e9), (500, 1e11)}
    # A ceiling begins where the steepest slope meets it; a slope ends at the highest ceiling.
    assert [line.get_xdata()[0] for line in ax.lines[2:4]] == [100, 10]
    assert [line.get_xdata()[1] for line in ax.lines[:2]] == [100, 1000]


def test_zones_start_at_the_ridge_points_of_the_first_ceiling():
    ax = plots.roofline(
        plots.axes(), {"a": 1e12, "b": 1e11}, {"w": 1e10, "v": 1e9}, regions=["x", "y", "z"]
    )
    low, high = ax.get_xlim()
    edges = [(zone.get_x(), zone.get_x() + zone.get_width()) for zone in ax.patches]
    np.testing.assert_allclose(edges, [(low, 100), (100, 1000), (1000, high)])
    assert {"x", "y", "z"} <= set(words(ax))


def test_labels_of_zones_are_inside_their_zone():
    labels = ["x", "y", "z"]
    ax = plots.roofline(plots.axes(), {"a": 1e12}, {"w": 1e10, "v": 1e9}, regions=labels)
    for zone, note in zip(ax.patches, ax.texts, strict=False):
        assert zone.get_x() < note.xy[0] < zone.get_x() + zone.get_width()
        # The label is in the middle of the zone on the logarithmic axis.
        assert note.xy[0] ** 2 == pytest.approx(zone.get_x() * (zone.get_x() + zone.get_width()))


def test_narrow_zones_wrap_their_label():
    labels = ["bound at both bandwidths", "bound-at one of them", "compute-bound"]
    ax = plots.roofline(plots.axes(), {"a": 1e12}, {"w": 1e10, "v": 5e9}, regions=labels)
    shown = words(ax)
    assert labels[0] in shown
    assert "bound-\nat\none\nof\nthem" in shown
    assert labels[2] in shown


def test_invalid_plot_values_are_named_in_the_error():
    for ceilings, slopes, points, name in [
        ({"a": 0}, {"w": 1}, {}, r"ceilings\['a'\]"),
        ({"a": 1}, {"w": -1}, {}, r"slopes\['w'\]"),
        ({"a": 1}, {"w": 1}, {"p": 0}, r"points\['p'\]"),
    ]:
        with pytest.raises(ValueError, match=name):
            plots.roofline(plots.axes(), ceilings, slopes, points)


def test_throughput_without_values_leaves_the_axes_empty():
    ax = plots.throughput(plots.axes(), [], {"none": []}, ceiling=V5E.peak(), xlabel="D")
    assert ax.get_xlabel() == "D"
    assert not ax.lines
    ax.figure.canvas.draw()


def test_throughput_leaves_space_above_the_highest_value():
    ax = plots.throughput(
        plots.axes(), [1, 5], {"c": [1e9, 2e9]}, 4e9, "rows", "speed", {"here": (2, 3e9)}
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rows", "speed")
    assert ax.get_xlim() == (1, 5)
    assert ax.get_ylim() == pytest.approx((0, 4.48e9))
    assert {"peak: 4 GFLOP/s", "here", "c"} == set(words(ax))
    mark = ax.lines[2]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (2, 3e9)
    free = plots.throughput(plots.axes(), [1, 5], {"c": [3e9, 2e9]})
    assert free.get_ylim() == pytest.approx((0, 3.36e9))
    assert words(free) == ["c"]
    ax = plots.axes()
    ax.set_yscale("log")
    assert plots.throughput(ax, [1, 5], {"c": [1e9, 2e9]}).get_ylim()[0] > 0


def test_converging_lines_are_labeled_where_they_rise():
    x = np.linspace(0, 1, 101)
    ax = plots.throughput(plots.axes(), x, {"slow": x, "steep": np.minimum(1, 2 * x)})
    at = {text.get_text(): text.xy for text in ax.texts}
    assert at["steep"] == pytest.approx((0.36, 0.72))
    assert at["slow"] == pytest.approx((0.3, 0.3))
    dots = {tuple(line.get_xydata()[0]) for line in ax.lines if len(line.get_xydata()) == 1}
    assert dots == {at["steep"], at["slow"]}
    assert all(note.arrow_patch for note in ax.texts)


def test_bars_are_labeled_with_roofs_and_bounds():
    alone = rl.bound(rl.operation(flops=1.97e12), V5E)
    sent = rl.bound(rl.operation(flops=1.97e12, bytes=8.19e8, sent=4.5e8), V5E, "ICI")
    ax = plots.time_bars(plots.axes(), {"alone": alone, "sent": sent})
    ticks = dict(zip(ax.get_yticks(), [t.get_text() for t in ax.get_yticklabels()], strict=True))
    names = ["compute", "HBM", "bounds", "compute", "HBM", "ICI", "bounds"]
    assert ticks == dict(zip([0, 1, 2, 4, 5, 6, 7], names, strict=True))
    assert ax.get_ylim() == pytest.approx((7.7, -1.1))
    assert ax.get_xlim() == pytest.approx((0, 1.55 * 0.021))
    shown = ["alone", "10 ms", "0 s", "10 ms", "sent", "10 ms", "1 ms", "10 ms", "10 ms to 21 ms"]
    assert words(ax) == shown
    hatches = [bar.get_hatch() for bar in ax.patches]
    assert hatches[:2] == hatches[2:4]
    assert len(set(hatches)) == 3
    assert len({bar.get_edgecolor() for bar in ax.patches}) == 3
    assert len({bar.get_facecolor() for bar in ax.patches}) == 3
    assert {tick.tick1line.get_markersize() for tick in ax.yaxis.get_major_ticks()} == {0}
    assert 0 not in {tick.tick1line.get_markersize() for tick in ax.xaxis.get_major_ticks()}
    names = {note.get_text(): note.xy[1] for note in ax.texts}
    assert -1 < names["alone"] < 0
    assert 3 < names["sent"] < 4


def test_bar_plots_have_few_time_ticks_and_only_vertical_grid_lines():
    with mpl.rc_context(plots.STYLE):
        ax = draw_bars(plots.axes())
    ax.figure.canvas.draw()
    times = [label.get_text() for label in ax.get_xticklabels()]
    assert 2 <= len(times) <= 6
    assert all(re.fullmatch(r"[\d.]+ [µm]?s", time) for time in times)
    assert all(line.get_visible() for line in ax.get_xgridlines())
    assert not any(line.get_visible() for line in ax.get_ygridlines())


def test_use_style_applies_the_style():
    with mpl.rc_context():
        plots.use_style()
        assert mpl.rcParams["svg.fonttype"] == "none"
        assert mpl.rcParams["axes.grid"]


def test_use_style_selects_svg_in_notebooks(monkeypatch):
    asked = []
    formats = "matplotlib_inline.backend_inline.set_matplotlib_formats"
    monkeypatch.setattr(formats, lambda *names: asked.append(names))
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    with plt.rc_context():
        plots.use_style()
        assert asked == [("svg",)]
        monkeypatch.delitem(sys.modules, "IPython")
        plots.use_style()
    assert asked == [("svg",)]


def test_lines_differ_in_more_than_color():
    ax = draw_throughput(plots.axes())
    patterns = {str(line._dash_pattern) for line in ax.lines[:3]}
    assert len(patterns) == 3


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("color", [plots.INK, plots.MUTED, *plots.SERIES])
def test_text_colors_are_legible_on_white(color):
    # The Web Content Accessibility Guidelines require a contrast of 4.5 to 1.
    assert 1.05 / (luminance(color) + 0.05) >= 4.5


def hue(color):
    return rgb_to_hsv(to_rgb(color))[0]


@pytest.mark.parametrize(("line", "tint"), [*zip(plots.SERIES, plots.TINTS, strict=True)])
def test_fills_are_tints_of_their_line_color(line, tint):
    assert tint in plots.ZONES
    assert abs(hue(line) - hue(tint)) < 0.05


def test_bar_fills_are_tints_of_their_edges():
    ax = draw_bars(plots.axes())
    pairs = {(to_hex(bar.get_edgecolor()), to_hex(bar.get_facecolor())) for bar in ax.patches}
    assert pairs == set(zip(plots.SERIES[:3], plots.TINTS[:3], strict=True))


def test_plots_do_not_change_matplotlib_settings():
    before = dict(mpl.rcParams)
    draw_roofline(plots.axes())
    assert dict(mpl.rcParams) == before
