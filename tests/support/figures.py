"""Figures for the last part of exercise 3: right ones, and known mistakes."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter

BATCH = "batch (tokens)"
RATE = "attainable (FLOP/s)"
TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True)
class LibraryFigure:
    """A learner's plot function, and the expected verdict on its figure.

    expected: the key of the problem or misconception to be named; None if no name is known, or if
    the figure is right, as the name says.
    """

    name: str
    function: Callable[..., object]
    expected: str | None

    @property
    def is_right(self) -> bool:
        return self.name.startswith("right_")


library: list[LibraryFigure] = []


def right(function):
    """Add a figure that must be accepted."""
    library.append(LibraryFigure(function.__name__, function, None))
    return function


def wrong(expected):
    """Add a figure that must be rejected, and the problem that must be named."""

    def add(function):
        library.append(LibraryFigure(function.__name__, function, expected))
        return function

    return add


def throughput(size, batches, peak, bandwidth):
    """Return attainable FLOP/s of bf16[B, size] · int8[size, size] at each batch B."""
    batches = np.asarray(batches, dtype=float)
    flops = 2 * batches * size**2
    return flops / np.maximum(flops / peak, (4 * batches * size + size**2) / bandwidth)


def draw(
    ax,
    sizes,
    batches,
    peak,
    bandwidth,
    xlabel=BATCH,
    ylabel=RATE,
    unit=1,
    label="D = F = {}",
    each=({},),
    by="plot",
    **style,
):
    """Plot a curve for each size, named in a legend, on labeled axes.

    each: the style of one curve after the other. by: the axes' method.
    """
    for size, own in zip(sizes, itertools.cycle(each)):
        rates = throughput(size, batches, peak, bandwidth) / unit
        getattr(ax, by)(batches, rates, label=label.format(size), **style, **own)
    ax.legend()
    ax.set(xlabel=xlabel, ylabel=ylabel)


@right
def right_pyplot(ax, sizes, batches, peak, bandwidth):
    """Use pyplot's functions after `sca`, and change the scale after drawing."""
    plt.sca(ax)
    for size in sizes:
        plt.plot(batches, throughput(size, batches, peak, bandwidth) / 1e12, label=str(size))
    plt.semilogx()
    plt.xlabel("Batch size")
    plt.ylabel("Attainable performance [TFLOPS]")
    plt.title("Roofline")
    plt.legend(title="D = F")
    plt.tight_layout()


@wrong("figure-empty")
def wrong_other_figure(ax, **case):
    """Draw in a new figure instead of the given axes."""
    _, ax = plt.subplots()
    draw(ax, **case)


@right
def right_dark(ax, **case):
    """Draw in white, yellow and cyan on black."""
    ax.figure.set_facecolor("black")
    ax.set_facecolor("black")
    draw(ax, **case, label="{}", each=[{"color": c} for c in ("white", "yellow", "cyan")])
    ax.legend(facecolor="black", labelcolor="white")
    for text in (ax.xaxis.label, ax.yaxis.label):
        text.set_color("white")
    ax.tick_params(colors="white")


@right
def right_with_peak(ax, sizes, batches, peak, bandwidth):
    """Draw the peak as a line with a legend entry that names no size."""
    ax.plot(batches, [peak] * len(batches), color="gray", label="peak")
    draw(ax, sizes, batches, peak, bandwidth)


@right
def right_sizes_in_words_and_numbers(ax, sizes, batches, peak, bandwidth):
    """Add a word and the share of the peak to the size in each legend entry."""
    for size in sorted(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        share = rates.max() / peak
        kind = "small" if size == min(sizes) else "larger"
        ax.loglog(batches, rates, label=f"{kind} matrix, D = F = {size}: up to {share:.0%}")
    ax.axhline(peak, ls=":", c="k", label=f"peak: {peak:.3g} FLOP/s")
    ax.legend()
    ax.set(xlabel="batch B (number of tokens)", ylabel="attainable FLOP/s (log scale)")


@wrong("figure-legend")
def wrong_legend_first(ax, sizes, batches, peak, bandwidth):
    """Make the legend before any curve is drawn."""
    ax.set(xlabel=BATCH, ylabel=RATE)
    ax.legend()
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")


@wrong(None)
def wrong_sorted_legend(ax, sizes, **case):
    """Sort the legend's texts by size, but not the curves."""
    draw(ax, sizes, **case)
    ax.legend([f"D = F = {size}" for size in sorted(sizes)])


@wrong("figure-swapped")
def wrong_swapped_axes(ax, sizes, batches, peak, bandwidth):
    """Swap the axes, and their labels with them."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(rates, batches, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="attainable (FLOP/s)", ylabel="batch (tokens)")


# ---- labels of the axes, in other languages, units and prefixes, and with mistakes

LABELS = ("xlabel", "ylabel", "unit")
# (name, x label, y label, size of the plotted values' unit in FLOP/s)
RIGHT = [
    ("right_chinese_labels", "批量大小", "可达性能FLOP/s", 1),
    ("right_flops_in_capitals", "B", "attainable FLOPS", 1),
    ("right_german_labels", "Batchgröße (Zeilen)", "Erreichbare Leistung in TFLOP/s", TERA),
    ("right_per_second_in_words", "tokens multiplied at a time", "FLOPs per second", 1),
    ("right_power_of_ten", "$B$", "attainable [10^12 FLOP/s]", TERA),
    ("right_tera_with_s", BATCH, "TFLOPs", TERA),
    ("right_tex_power", "rows of X", r"attainable ($\times 10^{12}$ FLOP/s)", TERA),
    ("right_tex_unit", "batch size $B$", r"$\mathrm{TFLOP \cdot s^{-1}}$", TERA),
    ("right_top_speed", BATCH, "Top speed (FLOP/s)", 1),
]

# Each of these says what the question does not ask for, or says it in other words.
# (name, problem that the check must name, x label, y label, size of the values' unit in FLOP/s)
WRONG = [
    ("wrong_batch_in_other_words", "figure-batch", "Taille du lot", RATE, 1),
    ("wrong_bytes_per_second", "figure-unit", BATCH, "attainable (bytes/s)", 1),
    ("wrong_count_of_flops", "figure-rate", BATCH, "FLOPs", 1),
    ("wrong_intensity_on_x", "figure-batch", "arithmetic intensity (FLOP/byte)", RATE, 1),
    ("wrong_kilo", None, BATCH, "GFLOP/s", TERA),
    ("wrong_no_unit", "figure-unit", BATCH, "attainable throughput", 1),
    ("wrong_number_of_flops", "figure-rate", BATCH, "number of FLOPs", 1),
    ("wrong_per_token", "figure-rate", BATCH, "FLOP per token", 1),
    ("wrong_time_in_chinese", "figure-batch", "时间", RATE, 1),
    ("wrong_time_label", "figure-batch", "time (s)", RATE, 1),
    ("wrong_time_per_batch", "figure-batch", "time per batch (ms)", RATE, 1),
    ("wrong_trillion", None, BATCH, "trillion FLOP/s", TERA),
    ("wrong_words_for_the_unit", "figure-unit", BATCH, "opérations par seconde", 1),
    ("wrong_x", "figure-batch", "x", RATE, 1),
]


def in_tera(value, _):
    return f"{value / 1e12:.0f}"


# The usual figure in another style, or of other values.
# (name, problem that the check must name, arguments of `draw`)
STYLES = [
    ("right_line_styles", None,
     {"color": "black", "each": [{"linestyle": one} for one in ("-", "--", ":")]}),
    ("right_markers", None,
     {"color": "navy", "markevery": 25, "each": [{"marker": one} for one in "os^"]}),
    ("right_points", None, {"by": "scatter", "s": 4, "each": [{"marker": one} for one in "ox+"]}),
    ("wrong_alike", "figure-alike", {"color": "C0"}),
    ("wrong_faint", "figure-unseen", {"color": "whitesmoke"}),
    ("wrong_no_labels", "figure-xlabel", {"xlabel": "", "ylabel": ""}),
    ("wrong_one_name_for_all", "figure-curve", {"label": "matrix"}),
    ("wrong_prefix_too_much", None, {"ylabel": "attainable throughput (TFLOP/s)"}),
]  # fmt: skip
# What is done to the usual figure.
# (name, problem that the check must name, arguments of `draw`, what is done then)
EDITED = [
    ("right_prefix_at_ticks", None, {"ylabel": "attainable FLOP/s"},
     lambda ax, **case: ax.yaxis.set_major_formatter(EngFormatter())),
    ("right_scaled_ticks", None, {"ylabel": "attainable TFLOP/s"},
     lambda ax, **case: ax.yaxis.set_major_formatter(in_tera)),
    ("wrong_ticks_in_tera", None, {}, lambda ax, **case: ax.yaxis.set_major_formatter(in_tera)),
    ("right_right_axis", None, {}, lambda ax, **case: ax.yaxis.set_label_position("right")),
    ("right_tight_limits", None, {}, lambda ax, batches, peak, **case: ax.set(
        xlim=(batches[0], batches[-1]), ylim=(0, peak))),
    ("wrong_first_batches", "figure-outside", {},
     lambda ax, batches, **case: ax.set_xlim(0, batches[-1] / 2)),
    ("wrong_top_cut_off", "figure-outside", {},
     lambda ax, peak, **case: ax.set_ylim(0, 0.9 * peak)),
    ("wrong_white_label", "figure-ylabel", {},
     lambda ax, **case: ax.yaxis.label.set_color("white")),
    ("wrong_white_legend", "figure-legend", {}, lambda ax, **case: ax.legend(labelcolor="white")),
]  # fmt: skip
# What is drawn instead of the given sizes and batches.
# (name, problem that the check must name, what is changed in a case)
CASES = [
    ("wrong_each_eighth", "figure-range", lambda batches, **case: {"batches": batches[::8]}),
    ("wrong_first_only", "figure-curve", lambda sizes, **case: {"sizes": sizes[:1]}),
    ("wrong_other_batches", "figure-range",
     lambda batches, **case: {"batches": range(1, len(batches) + 1)}),
    ("wrong_percent", "figure-unit",
     lambda peak, **case: {"unit": peak / 100, "ylabel": "attainable (% of the peak)"}),
]  # fmt: skip


def drawn(style, then=lambda ax, **case: None, change=lambda **case: {}):
    """Return a function that draws the usual figure in a style, and then does something to it."""

    def plot(ax, **case):
        draw(ax, **case | change(**case), **style)
        then(ax, **case)

    return plot


for name, said, style in STYLES:
    library.append(LibraryFigure(name, drawn(style), said))
for name, said, style, then in EDITED:
    library.append(LibraryFigure(name, drawn(style, then), said))
for name, said, change in CASES:
    library.append(LibraryFigure(name, drawn({}, change=change), said))
for name, *labels in RIGHT:
    library.append(LibraryFigure(name, drawn(dict(zip(LABELS, labels, strict=True))), None))
for name, said, *labels in WRONG:
    library.append(LibraryFigure(name, drawn(dict(zip(LABELS, labels, strict=True))), said))
