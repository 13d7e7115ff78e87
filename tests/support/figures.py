"""Figures for the last part of exercise 3: right ones, and known mistakes."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
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


# ---- axes: scales, limits, ticks, further axes, and invisible labels


@right
def right_base_two(ax, **case):
    """Show batches on a logarithmic axis of base 2, and values on one of base 10."""
    draw(ax, **case)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")


@right
def right_hidden_offset(ax, **case):
    """Move the power of ten from the axis's corner into the label."""
    draw(ax, **case, xlabel="batch", ylabel=r"attainable ($\times 10^{14}$ FLOP/s)")
    ax.ticklabel_format(axis="y", scilimits=(14, 14))
    ax.yaxis.get_offset_text().set_visible(False)


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


@right
def right_second_scale(ax, peak, **case):
    """Show the share of the peak on a second scale, with batches from right to left."""
    draw(ax, peak=peak, **case, unit=TERA, label="{}²", ylabel="attainable TFLOP/s")
    other = ax.secondary_yaxis("right", functions=(lambda y: y * 1e12 / peak, lambda y: y * peak))
    other.set_ylabel("share of the peak")
    ax.invert_xaxis()


@wrong("figure-empty")
def wrong_other_figure(ax, **case):
    """Draw in a new figure instead of the given axes."""
    _, ax = plt.subplots()
    draw(ax, **case)


# ---- the curves' look


@right
def right_areas(ax, sizes, batches, peak, bandwidth):
    """Draw lines and the area below them; the legend shows the areas."""
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=f"C{number}")
        ax.fill_between(batches, rates, color=f"C{number}", alpha=0.3, label=f"{size:,}")
    ax.legend(title="D = F")
    ax.set(xlabel="batch (rows)", ylabel="attainable FLOP per second", ylim=(0, None))


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


# ---- how curves are named


@right
def right_figure_legend(ax, **case):
    """Put one legend for the whole figure outside the axes."""
    draw(ax, **case)
    ax.get_legend().remove()
    ax.figure.legend(loc="outside upper center", ncols=3)


@right
def right_proxies(ax, sizes, batches, peak, bandwidth):
    """Build the legend from patches in the curves' colors."""
    patches = []
    for size, color in zip(sizes, ("tab:red", "tab:green", "tab:blue"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color)
        patches.append(Patch(color=color, label=f"D = F = {size}"))
    ax.legend(handles=patches)
    ax.set(xlabel=BATCH, ylabel=RATE)


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


@right
def right_spaced_sizes(ax, sizes, **case):
    """Pass sizes written as 4 096 to the legend."""
    draw(ax, sizes, **case, label="_{}")
    ax.legend(ax.lines, [f"{size:,}".replace(",", " ") for size in sizes], loc="lower right")


@wrong("figure-legend")
def wrong_texts_in_color(ax, sizes, batches, peak, bandwidth):
    """List the sizes in a corner, each in the color of its curve."""
    for row, size in enumerate(sizes):
        (line,) = ax.plot(batches, throughput(size, batches, peak, bandwidth))
        name, color = f"{size} x {size}", line.get_color()
        ax.text(0.95, 0.05 + row / 10, name, color=color, ha="right", transform=ax.transAxes)
    ax.set(xlabel=BATCH, ylabel=RATE)


@wrong(None)
def wrong_sorted_legend(ax, sizes, **case):
    """Sort the legend's texts by size, but not the curves."""
    draw(ax, sizes, **case)
    ax.legend([f"D = F = {size}" for size in sorted(sizes)])


# ---- which values are drawn


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
    ("right_cyrillic_words", "размер пакета B", "достижимая производительность, TFLOP/s", TERA),
    ("right_flops_in_capitals", "B", "attainable FLOPS", 1),
    ("right_japanese_labels", "バッチサイズ (B)", "達成可能な演算性能 [GFLOP/秒]", GIGA),
    ("right_peak_in_label", BATCH, "attainable FLOP/s (of 197 TFLOP/s)", 1),
    ("right_per_second_in_words", "tokens multiplied at a time", "FLOPs per second", 1),
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
    ("wrong_count_label", "figure-rate", BATCH, "FLOP", 1),
    ("wrong_cyrillic_unit", "figure-unit", BATCH, "достижимая производительность, ТФЛОП/с", TERA),
    ("wrong_intensity_label", "figure-rate", BATCH, "intensity (FLOP/byte)", 1),
    ("wrong_kilo", None, BATCH, "GFLOP/s", TERA),
    ("wrong_no_unit", "figure-unit", BATCH, "attainable throughput", 1),
    ("wrong_per_token", "figure-rate", BATCH, "FLOP per token", 1),
    ("wrong_tera_operations", "figure-unit", BATCH, "throughput in TOP/s", TERA),
    ("wrong_time_per_batch", "figure-batch", "time per batch (ms)", RATE, 1),
    ("wrong_trillion", None, BATCH, "trillion FLOP/s", TERA),
    ("wrong_x", "figure-batch", "x", RATE, 1),
]


def in_tera(value, _):
    return f"{value / 1e12:.0f}"


# The usual figure in another style, or of other values.
# (name, problem that the check must name, arguments of `draw`)
STYLES = [
    ("right_error_bars", None, {"by": "errorbar", "yerr": 0, "errorevery": 20, "capsize": 2}),
    ("right_line_styles", None,
     {"color": "black", "each": [{"linestyle": one} for one in ("-", "--", ":")]}),
    ("right_points", None, {"by": "scatter", "s": 4, "each": [{"marker": one} for one in "ox+"]}),
    ("right_shades", None, {"color": "C0", "each": [{"alpha": one} for one in (1, 0.5, 0.2)]}),
    ("right_steps", None, {"by": "step"}),
    ("right_widths", None, {"color": "C3", "each": [{"linewidth": one} for one in (1, 2.5, 6)]}),
    ("wrong_alike", "figure-alike", {"color": "C0"}),
    ("wrong_almost_alike", "figure-alike",
     {"each": [{"color": (0.1, 0.2, blue)} for blue in (0.801, 0.804, 0.808)]}),
    ("wrong_faint", "figure-unseen", {"color": "whitesmoke"}),
    ("wrong_no_line", "figure-unseen", {"linestyle": "none"}),
    ("wrong_one_of_two", "figure-unseen", {"each": [{"alpha": 0}, {}]}),
    ("wrong_thin", "figure-unseen", {"linewidth": 0.01}),
    ("wrong_white_points", "figure-unseen",
     {"color": "white", "linestyle": "none", "each": [{"marker": one} for one in "osD^v"]}),
    ("wrong_one_name_for_all", "figure-curve", {"label": "matrix"}),
    ("wrong_prefix_too_much", None, {"ylabel": "attainable throughput (TFLOP/s)"}),
]  # fmt: skip
# What is done to the usual figure.
# (name, problem that the check must name, arguments of `draw`, what is done then)
EDITED = [
    ("right_prefix_at_ticks", None, {"ylabel": "attainable FLOP/s"},
     lambda ax, **case: ax.yaxis.set_major_formatter(EngFormatter())),
    ("right_prefix_twice", None, {"ylabel": "attainable TFLOP/s"},
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
    ("wrong_invisible_axis", "figure-empty", {}, lambda ax, **case: ax.set_visible(False)),
    ("wrong_moved_out", "figure-unseen", {}, lambda ax, **case: ax.set_position([2, 2, 1, 1])),
    ("wrong_no_axes", "figure-xlabel", {}, lambda ax, **case: ax.axis("off")),
    ("wrong_white_label", "figure-ylabel", {},
     lambda ax, **case: ax.yaxis.label.set_color("white")),
    ("wrong_hidden_legend", "figure-legend", {},
     lambda ax, **case: ax.get_legend().set_visible(False)),
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
