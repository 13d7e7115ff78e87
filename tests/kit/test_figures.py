"""Reading of figures: right and wrong ones, single labels, and hostile facts."""

import contextlib
import copy
import functools
import json
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from figures import LibraryFigure, figures
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnchoredText
from matplotlib.patches import Patch
from matplotlib.transforms import IdentityTransform

from grading.release.cases import Cases, hidden, published
from grading.release.exercises import load
from roofkit.check.answers import ask
from roofkit.check.compare import Verdict, judge
from roofkit.check.messages import PROBLEMS
from roofkit.check.plot_reading import curve_names, facts, owners, reading
from roofkit.check.plot_reading.axis_words import names_batch, vertical
from roofkit.check.plot_reading.looks import Look, background_of, blended, look, similarity
from roofkit.check.plot_reading.plain_text import plain_text
from roofkit.check.plot_reading.size_words import named_size
from roofkit.check.plot_reading.tick_words import shown_scale

matplotlib.use("agg")

EXERCISE = "roofline-plot"
WHITE = (1.0, 1.0, 1.0)
(PART,) = [part for part in load(EXERCISE).parts if part.kind == "figure"]
LIBRARY = figures()
# Exceptions that grading reports as "The values could not be read."
READ_AS_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
each = pytest.mark.parametrize("drawn", [pytest.param(f, id=f.name) for f in LIBRARY])


@functools.cache
def cases(seed: int | None) -> Cases:
    """Return the published case, or the hidden cases of the course with this seed."""
    return published(EXERCISE, PART) if seed is None else hidden(EXERCISE, PART, str(seed))


def verdict(drawn: LibraryFigure, known: Cases) -> Verdict:
    answers = [ask(drawn.function, case, "figure") for case in known.inputs]
    return judge(
        answers, known.expected, known.misconceptions, PART.tolerance, known.inputs, private=True
    )


def test_the_collection_has_at_least_25_right_and_25_wrong_figures() -> None:
    assert sum(figure.is_right for figure in LIBRARY) >= 25
    assert sum(not figure.is_right for figure in LIBRARY) >= 25


# Every sixth figure runs with the published case, and every ninth with the hidden cases of one
# course. The long tests try all figures, and each in 60 courses.
SEEDS = [
    pytest.param(
        seed,
        drawn,
        id=f"{seed}-{drawn.name}",
        marks=pytest.mark.long if seed is None and number % 6 else (),
    )
    for seed, library in ((None, LIBRARY), (1, LIBRARY[::9]))
    for number, drawn in enumerate(library)
]


@pytest.mark.parametrize(("seed", "drawn"), SEEDS)
def test_right_figures_pass_and_wrong_ones_fail_for_the_expected_reason(
    drawn: LibraryFigure, seed: int | None
) -> None:
    found = verdict(drawn, cases(seed))
    assert found.passed == drawn.is_right, found
    if not drawn.is_right:
        assert found.cause == (drawn.expected or ""), found
        if drawn.expected in PROBLEMS:
            assert PROBLEMS[drawn.expected].removesuffix(".") in found.sentences[0]


@pytest.mark.long
@each
def test_a_figure_passes_or_fails_alike_with_the_cases_of_60_courses(
    drawn: LibraryFigure,
) -> None:
    for seed in range(60):
        found = verdict(drawn, cases(seed))
        assert (found.passed, found.cause) == (drawn.is_right, drawn.expected or ""), seed


# --- labels and ticks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "factor"),
    [
        ("FLOP/s", 1),
        ("FLOPS", 1),
        ("FLOP / s", 1),
        ("FLOP/sec", 1),
        ("FLOPs per second", 1),
        ("FLOP per sec.", 1),
        ("attainable FLOPs", 1),
        ("attainable [FLOPs/s]", 1),
        ("flop/s", 1),
        ("Top speed (FLOP/s)", 1),
        ("top throughput, FLOPs per second", 1),
        ("可达性能FLOP/s", 1),
        ("可达性能\uff08FLOP/s\uff09", 1),
        ("每秒浮点运算次数", 1),
        ("operações por segundo", 1),
        ("opérations par seconde", 1),
        ("Rechenoperationen pro Sekunde", 1),
        ("floating-point operations done each second", 1),
        ("operations (per second)", 1),
        ("FLOP s^-1", 1),
        ("FLOP·s⁻¹", 1),
        (r"$\mathrm{FLOP}\,\mathrm{s}^{-1}$", 1),
        (r"$\frac{\mathrm{FLOP}}{s}$", 1),
        (r"$\mathrm{FLOP}\!/\!s$", 1),
        ("FLOP/s per chip", 1),
        ("FLOP/s, up to 197 TFLOP/s", 1),
        ("FLOP/s (roof at 2×10^14 FLOP/s)", 1),
        ("kFLOP/s", 1e3),
        ("MFLOPS", 1e6),
        ("GFlops", 1e9),
        ("billions of FLOP/s", 1e9),
        ("Milliarden FLOP/s", 1e9),
        ("TFLOP/s", 1e12),
        ("TFLOPs", 1e12),
        ("T FLOP/s", 1e12),
        ("tera-FLOP/s", 1e12),
        ("TOPS", 1e12),
        ("TOP/s", 1e12),
        ("Top/s", 1e12),
        ("trillion FLOP/s", 1e12),
        ("trillions of operations per second", 1e12),
        ("Billionen FLOP/s", 1e12),
        ("万亿 FLOP/s", 1e12),
        ("10^12 FLOP/s", 1e12),
        ("10**12 FLOP/s", 1e12),
        ("FLOP/s / 1e12", 1e12),
        (r"FLOP/s ($\times 10^{12}$)", 1e12),
        ("10¹² FLOP/s", 1e12),
        ("PFLOP/s", 1e15),
        ("EFLOP/s", 1e18),
        # The lowercase of each of these letters has two characters.
        ("İİİİ (TFLOPS)", 1e12),
    ],
)
def test_common_spellings_of_flop_rates_are_parsed(label: str, factor: float) -> None:
    assert vertical(label) == (factor, "")


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("intensity (FLOP/byte)", "figure-rate"),
        ("intensity (FLOP per byte)", "figure-rate"),
        ("intensity (FLOPs/B)", "figure-rate"),
        ("FLOP", "figure-rate"),
        ("FLOPs", "figure-rate"),
        ("(FLOPs)", "figure-rate"),
        ("total FLOPs", "figure-rate"),
        ("TFLOP", "figure-rate"),
        ("operations", "figure-rate"),
        ("FLOP/byte at 810 GB/s", "figure-rate"),
        ("FLOP/step", "figure-rate"),
        ("", "figure-unit"),
        ("throughput", "figure-unit"),
        ("Top speed", "figure-unit"),
        ("tops", "figure-unit"),
        ("speed (m/s)", "figure-unit"),
        ("floppy disks per second", "figure-unit"),
    ],
)
def test_other_quantities_are_not_accepted_as_flop_rates(label: str, problem: str) -> None:
    assert vertical(label) == (1, problem)


@pytest.mark.parametrize(
    "label",
    [
        *("batch", "Batch (tokens)", "B", "$B$", "batch size $B$", "BS", "minibatch", "tokens"),
        *("rows", "number of rows of X", "B (rows)", "tokens multiplied at the same time"),
        *(
            "批量大小",
            "批次",
            "バッチサイズ",
            "배치 크기",
            "Batchgröße",
            "taille du lot",
            "размер батча",
        ),
        *(
            "tamaño del lote",
            "token nel batch",
            "examples at once",
            "N",
            "n",
            "Losgröße",
            "batch D",
        ),
        *("batch (log scale)", "batch size of the matrix multiplication", "حجم الدفعة"),
    ],
)
def test_batch_labels_are_accepted_in_several_languages(label: str) -> None:
    assert names_batch(label)


@pytest.mark.parametrize(
    "label",
    [
        *("x", "X", "$x$", "x axis", "x-axis", "label", "?", "1", "time (s)", "time", "t", "Zeit"),
        *("时间", "seconds", "intensity", "arithmetic intensity (FLOP/byte)", "bytes", "FLOP/s"),
        *("tokens per second", "tokens/s", "D", "D = F", "matrix size", "batch time (ms)"),
        *("bandwidth (GB/s)", "batch (bytes)"),
    ],
)
def test_labels_of_other_quantities_are_not_accepted_as_the_batch(label: str) -> None:
    assert names_batch(label) is False


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *((text, 4096) for text in ("4096", "$4096$", "D = F = 4096", "4,096", "4 096", "4_096")),
        *((text, 4096) for text in ("4.096", "4'096", "4’096", "4\u2009096", "4\u00a0096")),
        *((text, 4096) for text in ("$4{,}096$", r"$4\,096$", "4k", "4K", "4 Ki", "4.0k", "4.1k")),
        *((text, 4096) for text in ("$2^{12}$", "2^12", "2**12", "2¹²", "4096×4096", "4096²")),
        *((text, 4096) for text in ("\uff14\uff10\uff19\uff16", "٤٠٩٦", "4096, not 1024")),
        *((text, 1024) for text in ("1k", "1.02k", "2^{10}", "1024 (4096 is faster)")),
        *((text, 1536) for text in ("1.5k", "1536", "1.536 k")),
        *(
            (text, None)
            for text in ("14096", "40960", "4096.5", "14,096", "1.4k", "2^123", "4", "")
        ),
        *((text, None) for text in ("2^4096", "0.4096", "4096,5", "", "large")),
    ],
)
def test_common_spellings_of_a_matrix_size_are_parsed(text: str, size: int | None) -> None:
    assert named_size(text, [1536, 1024, 4096]) == size


def axis(*ticks: tuple[float, str], offset: str = "") -> dict[str, Any]:
    return {"ticks": list(ticks), "offset": offset}


@pytest.mark.parametrize(
    ("seen", "scale"),
    [
        (axis(), (1, 1, False)),
        (axis((1e14, "1.0"), (2e14, "2.0"), offset="1e14"), (1, 1, False)),
        (
            axis((1e14, "1.0"), (2e14, "2.0"), offset=r"$\times\mathdefault{10^{14}}$"),
            (1, 1, False),
        ),
        (axis((1e14, "1.0"), (2e14, "2.0")), (1e-14, 1, False)),
        (axis((1e14, "100"), (1.5e14, "150")), (1e-12, 1, False)),
        (axis((1e14, "100 T"), (0, "0")), (1, 1e12, False)),
        (axis((1e14, "100 TFLOP/s")), (1, 1e12, True)),
        (
            axis((1e14, "$\\mathdefault{10^{14}}$"), (1e13, "$\\mathdefault{10^{13}}$")),
            (1, 1, False),
        ),
        (axis((2e14, r"$\mathdefault{2\times10^{14}}$")), (1, 1, False)),
        (axis((2.0**40, r"$\mathdefault{2^{40}}$")), (1, 1, False)),
        (axis((-5, "−5"), (5, "5")), (1, 1, False)),
        (axis((1500, "1,500"), (500, "0,5 k")), (1, 1e3, False)),
        (axis((1e14, "a third"), (2e14, "peak")), (1, 1, False)),
        (axis((1e14, "100.000.000"), (2e14, "200.000.000,0")), (1e-6, 1, False)),
        (axis((1e3, "1.000")), (1e-3, 1, False)),
        (axis((1e6, "1 000"), (2e6, "2'000"), (3e6, "3_000")), (1e-3, 1, False)),
        (axis((1.5e6, "1,500"), (2.5e6, "2,500.5")), (1e-3, 1, False)),
        (axis((1.25e11, "0.1"), (1e12, "1")), (1e-12, 1, False)),
        (axis((1e14, "1"), (2e14, "3.2"), (4e14, "4")), (1, 1, False)),
        (axis((1e14, ""), (2e14, "TFLOP/s")), (1, 1, False)),
        (axis((1e14, "1"), offset="1.2.3"), (1e-14, 1, False)),
        (axis((1e14, "1.2.3"), (2e14, "9" * 300), (3e14, "2^999"), (0, "1")), (1, 1, False)),
        (axis((1e14, "1"), (2e14, "7"), (3e14, "2000")), (1, 1, False)),
    ],
)
def test_the_data_scale_is_read_from_the_ticks(
    seen: dict[str, Any], scale: tuple[float, float, bool]
) -> None:
    with np.errstate(all="raise"):
        assert shown_scale(seen) == pytest.approx(scale)


# --- facts about figures, and malformed facts -------------------------------------------------


def seen(draw: Callable[..., None], **case: Any) -> dict[str, Any]:
    return facts(draw, {"sizes": [1024, 4096], "batches": [1, 2, 3], **case})


@pytest.mark.parametrize(
    "hide",
    [
        lambda ax: ax.yaxis.set_visible(False),
        lambda ax: ax.set_axis_off(),
        lambda ax: ax.tick_params(axis="y", labelleft=False),
        lambda ax: ax.tick_params(axis="y", labelcolor="white"),
        lambda ax: [tick.set_visible(False) for tick in ax.yaxis.get_major_ticks()],
        lambda ax: ax.set_ylim(1, 2),
    ],
)
def test_only_ticks_that_can_be_seen_are_read(hide: Callable[[Any], object]) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot([1, 2, 3], [4, 5, 6])
        ax.set_yticks([4, 5, 6], ["4 T", "5 T", "6 T"])
        ax.set_ylim(4, 6)
        if hidden:
            hide(ax)

    hidden = False
    ticks = [[4.0, "4 T"], [5.0, "5 T"], [6.0, "6 T"]]
    assert seen(draw)["axes"][0]["y"]["ticks"] == ticks
    hidden = True
    assert seen(draw)["axes"][0]["y"]["ticks"] == []


def test_ticks_on_the_right_are_read_too_but_only_the_first_thirty() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot([0, 100], [0, 100])
        ax.set_yticks(range(100))
        ax.tick_params(axis="y", labelleft=False, labelright=True)

    ticks = seen(draw)["axes"][0]["y"]["ticks"]
    assert ticks == [[float(tick), str(tick)] for tick in range(30)]


@pytest.mark.parametrize(
    ("place", "visible"),
    [
        ((0.1, 0.1, 0.8, 0.06), True),
        ((0.1, 0.1, 0.8, 0.04), False),
        ((0.1, 0.1, 0.04, 0.8), False),
        ((0.95, 0.95, 0.5, 0.5), True),
        ((-0.4, -0.4, 0.5, 0.5), True),
        ((1, 0.1, 0.5, 0.5), False),
        ((0.1, 1, 0.5, 0.5), False),
        ((-0.5, 0.1, 0.5, 0.5), False),
        ((0.1, -0.5, 0.5, 0.5), False),
    ],
)
def test_axes_must_be_large_enough_and_at_least_partly_on_the_page(
    place: tuple[float, float, float, float], visible: bool
) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, batches)
        ax.set_position(place)

    assert seen(draw)["curves"][0]["seen"] == visible


@pytest.mark.parametrize("color", ["black", "white"])
def test_labels_of_the_whole_figure_are_read_if_they_can_be_seen(color: str) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.figure.set_facecolor("none")  # the page is white
        ax.figure.supxlabel("B", color=color)
        ax.figure.supylabel("FLOP/s", color=color)
        ax.figure.text(0, 0, "1024")

    found = seen(draw)
    assert (found["xlabel"], found["ylabel"]) == (("B", "FLOP/s") if color == "black" else ("", ""))


@pytest.mark.parametrize(
    ("hide", "offset"),
    [
        (lambda ax: None, "1e14"),
        (lambda ax: ax.yaxis.set_visible(False), ""),
        (lambda ax: ax.yaxis.get_offset_text().set_visible(False), ""),
    ],
)
def test_an_axis_offset_text_such_as_1e14_is_read_only_if_visible(
    hide: Callable[[Any], object], offset: str
) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [1e14, 2e14, 4e14])
        ax.set_ylabel("FLOP/s")
        hide(ax)

    axis = seen(draw)["axes"][0]["y"]
    assert axis["offset"] == offset
    assert axis["label"] == ("" if not offset and not axis["ticks"] else "FLOP/s")


def test_only_finite_points_of_visible_lines_in_data_coordinates_are_read() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [1, math.nan, 3], label="1024")
        ax.plot(batches, [2, 3, 4], "--", color="C0")
        ax.plot(batches, batches, visible=False)
        ax.plot(batches[:1], [9], "o")
        ax.axhline(1)
        ax.scatter(batches, [5, 6, 8])
        ax.legend()

    whole, dashed, points = seen(draw)["curves"]
    assert (points["x"], points["y"]) == ([1, 2, 3], [5, 6, 8])
    assert (whole["x"], whole["y"]) == ([1, 3], [1, 3])
    assert (whole["legend"], whole["same_look"]) == (["1024"], True)
    assert (dashed["legend"], dashed["same_look"]) == (["1024"], False)


def test_categories_on_an_axis_are_read_as_their_positions() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(["10", "20", "40"], [1, 2, 4])

    assert seen(draw)["curves"][0]["x"] == [0, 1, 2]


def test_joined_segments_are_a_curve_and_separate_ones_are_not() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.add_collection(LineCollection([[(1, 1), (2, 2)], [(2, 2), (3, 4)]]))
        ax.add_collection(LineCollection([[(1, 0), (1, 1)], [(2, 0), (2, 2)]]))
        ax.add_collection(LineCollection([[(1, 5), (3, 7)]]))
        ax.add_collection(LineCollection([[(1, 8), (2, 9)], [(2, 9), (3, 9), (4, 8)]]))
        ax.add_collection(LineCollection([]))
        ax.autoscale()

    found = [(curve["x"], curve["y"]) for curve in seen(draw)["curves"]]
    assert found == [
        ([1, 2, 3], [1, 2, 4]),
        ([1, 3], [5, 7]),
        ([1, 2], [8, 9]),
        ([2, 3, 4], [9, 9, 8]),
    ]


def test_segments_whose_ends_agree_within_rounding_are_one_curve() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.add_collection(LineCollection([[(1, 0), (2, 0.1 + 0.2)], [(2, 0.3), (3, 1)]]))
        ax.autoscale()

    assert [curve["x"] for curve in seen(draw)["curves"]] == [[1, 2, 3]]


def test_a_text_at_a_corner_of_a_step_curve_names_that_curve() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.step([0, 10], [0, 10], where="post")
        ax.plot([0, 10], [2, 2.1])
        ax.text(9, 0.3, "1024")

    steps, flat = seen(draw)["curves"]
    assert (steps["texts"], flat["texts"]) == (["1024"], [])


def test_all_legends_are_read_and_the_scale_of_their_markers_undone() -> None:
    figure, ax = plt.subplots()
    first, second = (ax.plot([1, 2], [1, size], "o", label=str(size))[0] for size in (1024, 4096))
    ax.add_artist(ax.legend(handles=[first], markerscale=3))
    ax.legend(handles=[second], markerscale=0.5)
    ax.add_artist(AnchoredText("no legend", "upper left"))
    found = curve_names.entries(figure, WHITE)
    assert sorted(text for _, text in found) == ["1024", "4096"]
    assert [handle.size for handle, _ in found] == [first.get_markersize()] * 2
    ax.get_legend().get_texts()[0].set_color("white")
    assert [text for _, text in curve_names.entries(figure, WHITE)] == ["1024"]
    plt.close(figure)


@pytest.mark.parametrize(
    ("style", "visible"),
    [
        ({}, True),
        ({"color": "white"}, False),
        ({"alpha": 0.05}, False),
        ({"visible": False}, False),
        ({"color": "white", "bbox": {"facecolor": "black"}}, True),
        ({"color": "white", "bbox": {"facecolor": "black", "visible": False}}, False),
        ({"bbox": {"facecolor": "black"}}, False),
    ],
)
def test_a_text_must_stand_out_from_its_background(style: dict[str, Any], visible: bool) -> None:
    figure, ax = plt.subplots()
    assert curve_names.shown(ax.text(0, 0, "1024", **style), WHITE) == visible
    assert not curve_names.shown(ax.text(0, 0, " ", **style), WHITE)
    plt.close(figure)


def test_a_text_in_the_color_of_a_curve_names_it_wherever_it_is() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [9, 9, 9.1], color=(0.8, 0.2, 0.2))
        ax.plot(batches, [1, 1, 1.1], color=(0.4, 0.4, 0.1))
        ax.text(2, 9, "16", color="black")
        ax.text(2, 1, "1024", color=(0.8, 0.2, 0.2))
        ax.text(2, 9, "4096", color=(0.4, 0.4, 0.1))
        ax.text(2, 9, "no number", color="black")

    high, low = seen(draw)["curves"]
    assert (high["texts"], low["texts"]) == (["1024", "16"], ["4096"])


def test_a_gray_text_names_the_nearest_curve_not_one_of_the_same_gray() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [9, 9, 9.1], color=(0.4, 0.4, 0.5))
        ax.plot(batches, [1, 1, 1.1], color="black")
        ax.text(2, 1, "1024", color=(0.4, 0.4, 0.5))

    high, low = seen(draw)["curves"]
    assert (high["texts"], low["texts"]) == ([], ["1024"])


@pytest.mark.parametrize(("pixels", "tie"), [(0.5, True), (1.2, False)])
def test_a_text_names_two_curves_only_if_both_are_equally_near(pixels: float, tie: bool) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        for height in (4, 6):
            ax.plot([0, 10], [height, height])
        ax.set(xlim=(0, 10), ylim=(0, 10))
        x, y = ax.transData.transform((5, 5))
        ax.text(x, y + pixels, "1024", transform=IdentityTransform())

    low, high = seen(draw)["curves"]
    assert (low["between"], high["between"]) == ((["1024"],) * 2 if tie else ([], []))
    assert (low["texts"], high["texts"]) == ([], [] if tie else ["1024"])


@pytest.mark.parametrize("style", ["-", "o"], ids=["level", "points"])
def test_a_text_at_a_crossing_names_the_sloped_line(style: str) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot([0, 5, 10], [5, 5, 5] if style == "-" else [9, 5, 1], style, color="black")
        ax.plot([0, 0, 5, 10], [0, 0, 5, 10], color="black")
        ax.text(5, 5, "1024")

    other, sloped = seen(draw)["curves"]
    assert (other["texts"], sloped["texts"]) == ([], ["1024"])


def test_an_arrow_tip_names_a_curve_only_if_it_is_in_data_coordinates() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot([0, 10], [1, 1.1])
        ax.plot([0, 10], [9, 9.1])
        ax.set(xlim=(0, 10), ylim=(0, 10))
        arrow = {"arrowprops": {"arrowstyle": "->"}, "textcoords": "data"}
        ax.annotate("1024", (5, 1), (5, 8), **arrow)
        ax.annotate("16", (0.5, 0.1), (5, 8), xycoords="axes fraction", **arrow)
        ax.annotate("4096", (5, 9), (5, 2), textcoords="data")

    low, high = seen(draw)["curves"]
    assert (low["texts"], high["texts"]) == (["1024", "4096"], ["16"])


def test_a_text_names_the_nearest_line_not_the_nearest_vertex() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot([0, 100], [0, 100])
        ax.plot([0, 49, 100], [100, 60, 100])
        ax.text(50, 50, "1024")
        ax.text(25, 78, "4096")

    low, high = seen(draw)["curves"]
    assert (low["texts"], high["texts"]) == (["1024"], ["4096"])


@pytest.mark.parametrize("texts", [1, 2])
def test_a_text_between_two_curves_names_the_one_that_no_other_text_names(texts: int) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [1, 2, 3], "k")
        ax.plot(batches, [1, 4, 6], "k")
        ax.plot(batches, [1, 4, 6], "k.")
        ax.text(1, 1.001, "1024")
        if texts == 2:
            ax.text(2.5, 5, "4096")
        ax.set(xlabel="B", ylabel="FLOP/s")

    values, problem = reading(seen(draw), {"sizes": [1024, 4096], "batches": [1, 2, 3]})
    if texts == 1:
        assert problem == "figure-legend"
    else:
        assert (values, problem) == ({"1024": [1, 2, 3], "4096": [1, 4, 6]}, "")


@pytest.mark.parametrize("direction", [1, -1], ids=["left to right", "right to left"])
def test_at_a_vertical_step_the_value_drawn_last_is_read(direction: int) -> None:
    batches = list(range(1, 41))

    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        x = np.repeat(batches, 2)[::direction]
        y = (np.repeat(batches, 2) * 10 + np.tile([0, 1], len(batches)))[::direction]
        ax.plot(x, y, label="1024")
        ax.legend()
        ax.set(xlabel="B", ylabel="FLOP/s")

    case = {"sizes": [1024], "batches": batches}
    values, problem = reading(facts(draw, case), case)
    assert problem == ""
    assert {value % 10 for value in values["1024"]} == {1 if direction == 1 else 0}


def test_labeled_points_name_the_line_they_lie_on() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        for size, heights in zip(sizes, ([1, 2, 3], [4, 8, 15]), strict=True):
            ax.plot(batches, heights, "k")
            ax.plot(batches[:2], heights[:2], "o", label=str(size))
        ax.legend()
        ax.set(xlabel="B", ylabel="FLOP/s")

    case = {"sizes": [1024, 4096], "batches": [1, 2, 3]}
    assert reading(seen(draw), case) == ({"1024": [1, 2, 3], "4096": [4, 8, 15]}, "")


def test_a_text_on_a_line_names_it_even_far_from_its_points() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        for heights in ([0, 10, 0], [6.5, 6.5, 6.6]):
            ax.plot(batches, heights)
        # Each text lies on its own line, halfway between two points and near the other line.
        for x, y, size in ((1.5, 5, sizes[0]), (2.5, 6.55, sizes[1])):
            ax.text(x, y, str(size), ha="center", va="center")
        ax.set(xlabel="B", ylabel="FLOP/s")

    case = {"sizes": [1024, 4096], "batches": [1, 2, 3]}
    expected = {"1024": [0, 10, 0], "4096": [6.5, 6.5, 6.6]}
    assert reading(seen(draw), case) == (expected, "")


@pytest.mark.parametrize(
    ("label", "heights", "expected"),
    [
        ("FLOP/s (log10)", [12, 13, 14], [1e12, 1e13, 1e14]),
        ("log\u2081\u2080 of FLOP/s", [12, 13, 14], [1e12, 1e13, 1e14]),
        (r"$\log_2$ of FLOP/s", [40, 41, 59], [2.0**40, 2.0**41, 2.0**59]),
        ("TFLOP/s, on a log10 scale", [1, 50, 60], [1e12, 5e13, 6e13]),
    ],
)
def test_values_are_read_as_logarithms_only_if_they_are_small(
    label: str, heights: list[float], expected: list[float]
) -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, heights, label="1024")
        ax.legend()
        ax.set(xlabel="B", ylabel=label)

    case = {"sizes": [1024], "batches": [1, 2, 3]}
    values, problem = reading(facts(draw, case), case)
    assert problem == ""
    assert values["1024"] == pytest.approx(expected)


def test_lines_below_a_logarithmic_axis_are_named_by_no_text() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [-1, -2, -3])
        ax.plot(batches, [-1, -2, 50])
        for size, height in zip(sizes, (1, 2), strict=True):
            ax.plot(batches, [height] * 3)
            ax.text(2, height, str(size))
        ax.set(xlabel="B", ylabel="FLOP/s")
        ax.set_yscale("log", nonpositive="mask")

    case = {"sizes": [1024, 4096], "batches": [1, 2, 3]}
    expected = {"1024": [1, 1, 1], "4096": [2, 2, 2]}
    assert reading(seen(draw), case) == (expected, "")


def test_text_without_a_curve_counts_as_an_empty_figure() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.text(1, 1, "1024")

    assert reading(seen(draw), {"sizes": [1024], "batches": [1, 2]})[1] == "figure-empty"


def looked(artist: Any) -> Look:
    found = look(artist, WHITE)
    assert found is not None
    return found


def line(**style: Any) -> Look:
    return looked(Line2D([0, 1], [0, 1], **style))


def lines(**style: Any) -> Look:
    """Return the look of a `LineCollection`."""
    return looked(LineCollection([[(0, 0), (1, 1)]], **style))


USUAL = {"color": "#808080", "marker": "o", "markersize": 5, "linestyle": "-", "linewidth": 2}
DASHED = {"linestyle": (0, (4, 2)), "marker": ""}


@pytest.mark.parametrize(
    ("usual", "handle", "similar"),
    [
        ({}, {}, 2),
        ({}, {"markersize": 7}, 2),
        ({}, {"markersize": 10}, 1),
        ({}, {"markerfacecolor": "yellow"}, 1),
        ({}, {"marker": "s"}, 1),
        ({}, {"linestyle": "--"}, 1),
        ({}, {"linestyle": ""}, 1),
        ({}, {"linewidth": 3}, 2),
        ({}, {"linewidth": 4}, 1),
        ({}, {"linewidth": 1}, 1),
        ({}, {"color": "#888888"}, 2),
        ({}, {"color": "#9a9a9a"}, 0),
        ({}, {"color": "tab:red"}, 0),
        (DASHED, {"linestyle": (0, (4.5, 2))}, 2),
        (DASHED, {"linestyle": (0, (5.7, 2))}, 1),
        (DASHED, {"linestyle": (0, (4, 2, 1, 2))}, 1),
        ({"linestyle": ""}, {"linewidth": 9}, 2),
        ({"marker": ""}, {"markersize": 30, "markerfacecolor": "yellow"}, 2),
    ],
)
def test_similarity_of_looks_depends_on_color_first_and_then_on_details(
    usual: dict[str, Any], handle: dict[str, Any], similar: int
) -> None:
    usual = USUAL | usual
    curve, other = line(**usual), line(**(usual | handle))
    assert similarity(other, curve, WHITE) == similar


@pytest.mark.parametrize("style", [{}, {"linestyle": "--"}, {"linestyle": "-", "alpha": 0.5}])
def test_a_line_collection_looks_like_a_plain_line(style: dict[str, Any]) -> None:
    style |= {"color": "tab:blue", "linewidth": 3}
    one, other = lines(**style), line(**style)
    assert one.line == other.line
    assert similarity(one, other, WHITE) == similarity(other, one, WHITE) == 2


@pytest.mark.parametrize(
    ("patch", "similar"),
    [
        ({"color": "tab:blue"}, 1),
        ({"facecolor": "none", "edgecolor": "tab:blue"}, 1),
        ({"color": "tab:blue", "alpha": 0.3}, 1),
        ({"color": "tab:red"}, 0),
        ({"facecolor": (1, 1, 1, 0.5), "edgecolor": "tab:red"}, 0),
    ],
)
def test_a_patch_matches_a_line_by_its_color_only(patch: dict[str, Any], similar: int) -> None:
    curve = line(color="tab:blue", linewidth=1)
    assert similarity(looked(Patch(**patch)), curve, WHITE) == similar


def test_a_transparent_patch_matches_both_its_own_color_and_the_one_it_shows() -> None:
    pale = looked(Patch(facecolor=(0, 0, 1, 0.3), edgecolor="none"))
    for color, similar in (("blue", 1), ((0.7, 0.7, 1), 1), ((0.4, 0.4, 1), 0)):
        assert similarity(pale, line(color=color), WHITE) == similar


def test_points_look_like_a_line_with_markers_and_may_have_only_an_edge() -> None:
    ax = plt.figure().add_subplot()
    hollow = looked(ax.scatter([1], [1], facecolors="none", edgecolors="red"))
    assert (hollow.dashes, hollow.face, hollow.edge) == (None, WHITE, (1, 0, 0))
    assert hollow.seen(WHITE)
    assert hollow.main(WHITE) == (1, 0, 0)
    filled = looked(ax.scatter([1], [1], s=49, facecolors="blue", edgecolors="none"))
    assert (filled.size, filled.face, filled.edge) == (7, (0, 0, 1), WHITE)
    assert filled.seen(WHITE)
    assert filled.main(WHITE) == (0, 0, 1)
    assert similarity(hollow, filled, WHITE) == 0


def test_artists_without_the_usual_methods_have_no_look() -> None:
    class Odd:
        def get_marker(self) -> None:
            raise AttributeError("get_marker")

    assert look(Odd(), WHITE) is None
    assert look(object(), WHITE) is None


@pytest.mark.parametrize(("gray", "visible"), [("0.95", False), ("0.87", True)])
def test_colors_close_to_the_background_are_invisible(gray: str, visible: bool) -> None:
    assert line(color=gray).seen(WHITE) == visible
    points = {"linestyle": "", "marker": "o"}
    for colors in (("white", gray), (gray, "white")):
        sides = dict(zip(("markerfacecolor", "markeredgecolor"), colors, strict=True))
        assert line(**points, **sides).seen(WHITE) == visible
    assert not lines(color="black", linestyle="--", linewidth=0).seen(WHITE)
    assert not lines(colors="none").seen(WHITE)


def test_colors_are_blended_with_their_background() -> None:
    blue = (0.0, 0.25, 1.0)
    assert blended((1, 0.5, 0, 0.25), blue) == pytest.approx((0.25, 0.3125, 0.75))
    assert blended("white", blue, 0.5) == pytest.approx((0.5, 0.625, 1))
    assert blended("white", blue, [0.5]) == (1, 1, 1)
    assert blended("no such color", blue) == blue


@pytest.mark.parametrize(
    ("figure", "axes", "expected"),
    [
        ("none", "none", (1, 1, 1)),  # both are transparent: the white page shows
        ("black", "none", (0, 0, 0)),
        ("black", (1, 1, 1, 0.5), (0.5, 0.5, 0.5)),
    ],
)
def test_transparent_backgrounds_show_what_is_behind_them(
    figure: Any, axes: Any, expected: tuple[float, ...]
) -> None:
    ax = plt.figure(facecolor=figure).add_subplot(facecolor=axes)
    assert background_of(ax) == pytest.approx(expected)
    ax.set_facecolor("red")
    assert background_of(ax) == (1, 0, 0)
    ax.patch.set_visible(False)
    assert background_of(ax) == blended(figure, (1, 1, 1))
    ax.patch.set_visible(True)
    ax.set_axis_off()
    assert background_of(ax) == blended(figure, (1, 1, 1))


@pytest.mark.parametrize(("points", "visible"), [(0, False), (0.1, False), (0.2, True), (1, True)])
def test_lines_and_markers_under_a_fifth_of_a_point_are_invisible(
    points: float, visible: bool
) -> None:
    assert line(color="black", linewidth=points).seen(WHITE) == visible
    assert line(color="black", linestyle="", marker="o", markersize=points).seen(WHITE) == visible


def test_points_labeled_with_two_matrix_sizes_do_not_name_a_line() -> None:
    def draw(ax: Any, sizes: list[int], batches: Any) -> None:
        ax.plot(batches, [1, 2, 3], "k")
        for size in sizes:
            ax.plot(batches[:2], [1, 2], "o", label=str(size))
        ax.legend()
        ax.set(xlabel="B", ylabel="FLOP/s")

    case = {"sizes": [1024, 4096], "batches": [1, 2, 3]}
    assert reading(seen(draw), case)[1] == "figure-range"


# Inputs that slow down regular expressions: long runs, many possible starts, characters that NFKC
# expands to many others; and random text.
PIECES = ("x", " ", "10", "10 ", "10^", "(", "{", "\\frac{", "\\mathrm{", "/ (", "per ", "flop")
RUNS = st.builds(
    operator.mul,
    st.sampled_from(
        [*PIECES, "\ufdfa", "1 ", "1.", "1,", "e1", "-", "\u2074", "\u0130", "op\u00e9rat"]
    ),
    st.sampled_from([1, 10, 300, 60_000, 2_000_000]),
)
TEXTS = st.lists(RUNS | st.text(max_size=40), max_size=4).map("".join)
LABELS = TEXTS | st.none() | st.floats() | st.lists(st.text(), max_size=3)


@given(LABELS)
@settings(deadline=None)
def test_long_texts_are_truncated(text: object) -> None:
    assert len(plain_text(text)) <= 300


@given(LABELS, st.lists(st.tuples(st.floats(allow_nan=False), LABELS), max_size=3))
@settings(deadline=None)
def test_long_and_meaningless_texts_are_parsed_without_errors(
    text: object, ticks: list[tuple[float, object]]
) -> None:
    factor, problem = vertical(text)
    assert factor > 0
    assert problem in {"", "figure-rate", "figure-unit"}
    assert names_batch(text) in {True, False}
    assert named_size(text, [1024, 4096]) in {None, 1024, 4096}
    shown, prefix, _ = shown_scale({"ticks": [*ticks, (1.0, text)], "offset": text})
    assert 0 < shown < math.inf
    assert prefix >= 1


def test_the_number_of_parsed_texts_is_bounded() -> None:
    """Read a figure with 1,000 curves, each with 3,000 texts."""
    read = []
    many = {"x": [1, 2], "y": [1, 2], "axes": 0, "seen": True, "same_look": True}
    many |= {
        kind: [f"text {number}" for number in range(100, 1100)]
        for kind in ("legend", "texts", "between")
    }
    figure = WHOLE | {"curves": [many] * 1000}

    def counted(text: object, sizes: list[int]) -> int | None:
        read.append(text)
        return named_size(text, sizes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owners, "named_size", counted)
        assert reading(figure, {"sizes": [99, 98, 97], "batches": [1, 2]})[1] == "figure-curve"
    assert 0 < len(read) <= 10_000


def test_figure_facts_are_json_data() -> None:
    for drawn in LIBRARY:
        if drawn.name in {"right_twin", "right_line_collection", "right_points", "right_arrows"}:
            found = facts(drawn.function, cases(None).inputs[0])
            assert json.loads(json.dumps(found)) == found


WHOLE = {
    "curves": [{"x": [1, 2], "y": [1, 2], "axes": 0, "seen": True, "legend": ["9"], "texts": []}],
    "legend": True,
    "axes": [
        {
            "x": {"label": "B", "limits": [1, 2], "scale": "linear", "ticks": [[1, "1"]]},
            "y": {"label": "FLOP/s", "limits": [1, 2], "scale": "log", "ticks": [], "offset": ""},
        }
    ],
    "xlabel": "B",
    "ylabel": "FLOP/s",
}
ODD = (
    *(None, 0, -1, math.nan, math.inf, 1e400, True, "", "1", "x" * 10**6, " " * 10**6),
    *("(" * 10**5, "1 " * 10**5, "10^" * 10**5, "/ (" * 10**5, "9" * 10**5, "\ud800"),
    *([], [[]], [None], [[1, 2]], ["1"] * 10**5, [math.nan] * 9, [{}], {}, {"x": {}}),
)


def places(whole: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all values inside nested dictionaries and lists."""
    keys = (
        whole if isinstance(whole, dict) else range(len(whole)) if isinstance(whole, list) else ()
    )
    for key in keys:
        yield (*path, key)
        yield from places(whole[key], (*path, key))


@pytest.mark.parametrize("path", list(places(WHOLE)), ids=lambda path: "-".join(map(str, path)))
def test_malformed_figure_facts_raise_only_expected_errors(path: tuple[Any, ...]) -> None:
    assert reading(WHOLE, {"sizes": [9], "batches": [1, 2]}) == ({"9": [1, 2]}, "")
    for odd in ODD:
        changed = copy.deepcopy(WHOLE)
        *most, last = path
        functools.reduce(operator.getitem, most, changed)[last] = odd
        with contextlib.suppress(*READ_AS_UNREADABLE), np.errstate(all="ignore"):
            values, problem = reading(changed, {"sizes": [9], "batches": [1, 2]})
            assert problem in {"", *PROBLEMS}
            assert isinstance(values, dict)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("name", ["x", "y"])
@pytest.mark.parametrize(
    ("low", "high", "problem"),
    [
        *((0.004, 1, ""), (0, 0.996, "")),
        *((0.008, 1, "figure-outside"), (0, 0.992, "figure-outside")),
    ],
)
def test_a_curve_may_overhang_its_axis_by_half_a_percent(
    scale: str, name: str, low: float, high: float, problem: str
) -> None:
    def value(share: float) -> float:
        return float(1000**share if scale == "log" else 1 + 999 * share)

    changed = copy.deepcopy(WHOLE)
    changed["curves"][0][name] = [1, 1000]
    changed["axes"][0][name] |= {"limits": [value(low), value(high)], "scale": scale}
    batches = [1, 1000] if name == "x" else [1, 2]
    assert reading(changed, {"sizes": [9], "batches": batches})[1] == problem


def curve(x: list[float], y: list[float], *legend: str, **more: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "axes": 0, "seen": True, "legend": legend, "texts": [], **more}


X = [1.0, 2.0, 3.0]
ALIKE: dict[str, Any] = {"same_look": True}
UNSEEN: dict[str, Any] = {"seen": False}
EIGHT = curve(X, [7, 8, 9], "8")


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        # Ignore curves that no label names, whether they are visible or not.
        ([curve(X, [1, 2, 3], "9"), curve(X, [7, 8, 9]), curve(X, [7, 8, 9], **UNSEEN)], [1, 2, 3]),
        # It is an error if the curve of a size, or every curve, is invisible.
        ([curve(X, [1, 2, 3], "9", **UNSEEN), curve(X, [7, 8, 9])], "figure-unseen"),
        ([curve(X, [1, 2, 3], **UNSEEN)], "figure-unseen"),
        # If several curves are labeled with the same matrix size, prefer a sloped one, then the one
        # with the most points.
        ([curve([*X, 4], [5, 5, 5, 5], "9"), curve(X, [1, 2, 3], "9")], [1, 2, 3]),
        ([curve(X[::2], [1, 2], "9"), curve(X, [1, 2, 3], "9")], [1, 2, 3]),
        # With equally many points, prefer the curve that looks just like its legend entry.
        ([curve(X, [4, 5, 6], "9"), curve(X, [1, 2, 3], "9", **ALIKE)], [1, 2, 3]),
        # Labeled points name a line if all of them lie on it and the line has more points.
        ([curve(X, [1, 2, 3]), curve([1, 1.5], [1, 1.5], "9")], [1, 2, 3]),
        ([curve(X[::-1], [3, 2, 1]), curve([1.5, 1], [1.5, 1], "9")], [1, 2, 3]),
        ([curve(X, [1, 2, 3]), curve([1, 1.5, 2], [1, 1.5, 2], "9")], "figure-range"),
        ([curve(X, [1, 2, 2]), curve([2, 4], [2, 2], "9")], "figure-range"),
        ([curve(X, [2, 2, 3]), curve([0, 2], [2, 2], "9")], "figure-range"),
        ([curve(X, [1e-9, 2e-9, 3e-9]), curve([1, 2], [2e-9, 3e-9], "9")], "figure-range"),
        ([curve(X, [1, 2, 3], axes=1), curve([1, 2], [1, 2], "9")], "figure-range"),
        ([curve(X, [1, 2, 3], **UNSEEN), curve([1, 2], [1, 2], "9")], "figure-range"),
        # The legend takes precedence over texts, unless it names no size or several.
        ([curve(X, [1, 2, 3], "9", texts=["8"])], [1, 2, 3]),
        ([curve(X, [1, 2, 3], "none", texts=["high", "9", "8"]), EIGHT], [1, 2, 3]),
        ([curve(X, [1, 2, 3], "9", "8", texts=["9"]), EIGHT], [1, 2, 3]),
        # A legend that gives one curve two sizes is an error if no text names the size.
        ([curve(X, [1, 2, 3], "9", "8", **ALIKE)], "figure-alike"),
        ([curve(X, [1, 2, 3], "9", "8")], "figure-curve"),
        # The axes are swapped if the batches are on the y axis only.
        ([curve([7, 5, 6], [1, 3, 2], "9")], "figure-swapped"),
        ([curve(X[::-1], X[::-1], "9")], X),
        *(([curve(x, x, "9")], "figure-range") for x in ([2.0, 3.0], [1.0, 2.0])),
        # A text between curves names the only curve that nothing else names.
        ([curve(X, [1, 2, 3], between=["9"]), EIGHT | {"between": ["9"]}], [1, 2, 3]),
        (
            [curve(X, [1, 2, 3], between=["9"]), curve(X, [7, 8, 9], **UNSEEN, between=["9"])],
            [1, 2, 3],
        ),
        ([curve(X, [1, 2, 3], between=["9"]), curve(X, [7, 8, 9], between=["9"])], "figure-curve"),
    ],
)
def test_values_of_a_matrix_size_are_read_from_the_curve_named_by_it(
    curves: list[dict[str, Any]], expected: list[float] | str
) -> None:
    figure = {"curves": curves, "legend": True, "xlabel": "B", "ylabel": "FLOP/s"}
    figure |= {"axes": [{}, {}]}
    sizes = [9, 8] if any("8" in one["legend"] for one in curves) else [9]
    case = {"sizes": sizes, "batches": X}
    values, problem = reading(figure, case)
    assert (values.get("9") or problem) == expected


def test_the_highest_value_of_all_curves_decides_about_an_ambiguous_unit() -> None:
    """The word "bilyon" means 1e12 in some languages, and 1e9 in others."""
    figure = {"curves": [curve(X, [1, 2, 2e5], "9"), EIGHT], "legend": True, "axes": [{}]}
    figure |= {"xlabel": "B", "ylabel": "bilyon FLOP/s"}
    values, _ = reading(figure, {"sizes": [8, 9], "batches": X, "peak": 2e14})
    assert values == {"9": [1e9, 2e9, 2e14], "8": [7e9, 8e9, 9e9]}


@pytest.mark.parametrize("height", [0, -1])
def test_values_without_a_logarithm_are_outside_a_logarithmic_axis(height: int) -> None:
    changed = copy.deepcopy(WHOLE)
    changed["curves"][0]["y"] = [height, 2]
    with np.errstate(all="raise"):
        assert reading(changed, {"sizes": [9], "batches": [1, 2]})[1] == "figure-outside"
