"""Figures for the last part of exercise 3: right ones, and known mistakes."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter


@dataclass(frozen=True)
class LibraryFigure:
    """A learner's plot function, and the expected verdict on its figure.

    expected: the key of the problem or misconception to be named; None if no name is known, or if
    the figure is right.
    """

    name: str
    function: Callable[..., None]
    is_right: bool
    expected: str | None


library: list[LibraryFigure] = []


def right(function):
    """Add a figure that must be accepted."""
    library.append(LibraryFigure(function.__name__, function, True, None))
    return function


def wrong(expected):
    """Add a figure that must be rejected, and the problem that must be named."""

    def add(function):
        library.append(LibraryFigure(function.__name__, function, False, expected))
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
    xlabel="batch (tokens)",
    ylabel="attainable (FLOP/s)",
    unit=1,
    label="D = F = {}",
    **style,
):
    """Plot a curve for each size, named in a legend, on labeled axes."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth) / unit
        ax.plot(batches, rates, label=label.format(size), **style)
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
def right_inset(ax, sizes, batches, peak, bandwidth):
    """Show the first batches again in an inset."""
    near = ax.inset_axes([0.55, 0.1, 0.4, 0.3])
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        for place in (ax, near):
            place.plot(batches, rates, label=f"D = F = {size}")
    near.set(xlim=(batches[0], batches[len(batches) // 8]))
    ax.indicate_inset_zoom(near)
    ax.legend(loc="center right")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")


@right
def right_on_twin(ax, sizes, batches, peak, bandwidth):
    """Draw the curves on the right-hand axis, which has the label."""
    right_hand = ax.twinx()
    ax.yaxis.set_visible(False)
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        right_hand.plot(batches, rates, label=f"D = F = {size}")
    right_hand.legend()
    ax.set_xlabel("batch (tokens)")
    right_hand.set_ylabel("attainable (FLOP/s)")


@right
def right_prefix_at_ticks(ax, **case):
    """Put the prefix at the ticks and the unit in the label."""
    draw(ax, **case, xlabel="batch", ylabel="attainable FLOP/s")
    ax.yaxis.set_major_formatter(EngFormatter())


@right
def right_prefix_twice(ax, **case):
    """Put the prefix at the ticks and in the label."""
    draw(ax, **case, xlabel="batch", ylabel="attainable TFLOP/s")
    ax.yaxis.set_major_formatter(EngFormatter())


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
def right_right_axis(ax, **case):
    """Put the axis of the values on the right."""
    draw(ax, **case)
    ax.yaxis.tick_right()
    ax.yaxis.set_label_position("right")


@right
def right_scaled_ticks(ax, **case):
    """Draw values in FLOP/s, with ticks and a label in TFLOP/s."""
    draw(ax, **case, xlabel="batch", ylabel="attainable TFLOP/s")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value / 1e12:.0f}")


@right
def right_second_scale(ax, sizes, batches, peak, bandwidth):
    """Show the share of the peak on a second scale, with batches from right to left."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth) / 1e12, label=f"{size}²")
    other = ax.secondary_yaxis("right", functions=(lambda y: y * 1e12 / peak, lambda y: y * peak))
    other.set_ylabel("share of the peak")
    ax.invert_xaxis()
    ax.legend()
    ax.set(xlabel="tokens in a batch", ylabel="attainable TFLOP/s")


@right
def right_tight_limits(ax, batches, peak, **case):
    """Set limits exactly at the first and last batch, and at the peak."""
    draw(ax, batches=batches, peak=peak, **case)
    ax.set_xlim(batches[0], batches[-1])
    ax.set_ylim(0, peak)


@wrong("figure-xlabel")
def wrong_assigned_labels(ax, sizes, batches, peak, bandwidth):
    """Assign texts to `set_xlabel` and `set_ylabel` instead of calling them."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel = "batch (tokens)"
    ax.set_ylabel = "attainable FLOP/s"


@wrong("figure-outside")
def wrong_bottom_cut_off_log(ax, sizes, batches, peak, bandwidth):
    """Cut off the smallest values on logarithmic axes.

    The cut is small compared with the peak.
    """
    draw(ax, sizes, batches, peak, bandwidth)
    ax.set(xscale="log", yscale="log")
    smallest = min(throughput(size, batches, peak, bandwidth).min() for size in sizes)
    ax.set_ylim(bottom=1.1 * smallest)


@wrong("figure-outside")
def wrong_first_batches(ax, batches, **case):
    """Set limits that show only the first half of the batches."""
    draw(ax, batches=batches, **case)
    ax.set_xlim(0, batches[-1] / 2)


@wrong("figure-empty")
def wrong_invisible_axis(ax, **case):
    """Hide the whole axes."""
    draw(ax, **case)
    ax.set_visible(False)


@wrong("figure-unseen")
def wrong_moved_out(ax, **case):
    """Move the axes out of the figure."""
    draw(ax, **case)
    ax.set_position([2, 2, 1, 1])


@wrong("figure-xlabel")
def wrong_no_axes(ax, **case):
    """Switch the axes off, and their labels with them."""
    draw(ax, **case)
    ax.axis("off")


@wrong("figure-empty")
def wrong_other_figure(ax, **case):
    """Draw in a new figure instead of the given axes."""
    _, ax = plt.subplots()
    draw(ax, **case)


@wrong(None)
def wrong_ticks_in_tera(ax, **case):
    """Show TFLOP/s at the ticks, but say FLOP/s in the label."""
    draw(ax, **case)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value / 1e12:.0f}")


@wrong("figure-outside")
def wrong_top_cut_off(ax, peak, **case):
    """Cut off the peak at the top of the frame."""
    draw(ax, peak=peak, **case)
    ax.set_ylim(0, 0.9 * peak)


@wrong("figure-ylabel")
def wrong_white_label(ax, **case):
    """Write the y label in white on white."""
    draw(ax, **case)
    ax.yaxis.label.set_color("white")


# ---- the curves' look


@right
def right_areas(ax, sizes, batches, peak, bandwidth):
    """Draw lines and the area below them; the legend shows the areas."""
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=f"C{number}")
        ax.fill_between(batches, rates, color=f"C{number}", alpha=0.3, label=f"{size:,}")
    ax.legend(title="D = F")
    ax.set(xlabel="batch (rows)", ylabel="attainable FLOP/s", ylim=(0, None))


@right
def right_dark(ax, sizes, batches, peak, bandwidth):
    """Draw in white, yellow and cyan on black."""
    ax.figure.set_facecolor("black")
    ax.set_facecolor("black")
    for size, color in zip(sizes, ("white", "yellow", "cyan"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color, label=size)
    ax.legend(facecolor="black", labelcolor="white")
    ax.set_xlabel("batch (tokens)", color="white")
    ax.set_ylabel("attainable (FLOP/s)", color="white")
    ax.tick_params(colors="white")


@right
def right_error_bars(ax, sizes, batches, peak, bandwidth):
    """Draw lines with error bars of no height."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.errorbar(batches, rates, yerr=0, errorevery=20, capsize=2, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_line_styles(ax, sizes, batches, peak, bandwidth):
    """Distinguish black curves by their line style."""
    for size, style in zip(sizes, ("-", "--", ":"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, style, color="black", label=str(size))
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_markers(ax, sizes, batches, peak, bandwidth):
    """Distinguish curves of one color and style by their markers."""
    for size, marker in zip(sizes, "os^", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="navy", marker=marker, markevery=25, label=f"{size:,}")
    ax.legend(title="D = F", markerscale=2)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_points(ax, sizes, batches, peak, bandwidth):
    """Draw points without lines."""
    for size, marker in zip(sizes, "ox+", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.scatter(batches, rates, s=4, marker=marker, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_shades(ax, sizes, batches, peak, bandwidth):
    """Distinguish curves by their opacity alone."""
    for size, alpha in zip(sizes, (1, 0.5, 0.2), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="C0", alpha=alpha, label=f"D={size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_widths(ax, sizes, batches, peak, bandwidth):
    """Distinguish curves by their width."""
    for size, width in zip(sorted(sizes), (1, 2.5, 6), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="C3", linewidth=width, label=f"D={size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_with_peak(ax, sizes, batches, peak, bandwidth):
    """Draw the peak as a line with a legend entry that names no size."""
    ax.plot(batches, [peak] * len(batches), color="gray", label="peak")
    draw(ax, sizes, batches, peak, bandwidth)


@wrong("figure-alike")
def wrong_alike(ax, **case):
    """Draw all curves in one color and style."""
    draw(ax, **case, color="C0")


@wrong("figure-alike")
def wrong_almost_alike(ax, sizes, batches, peak, bandwidth):
    """Draw curves in blues too close to tell apart."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=(0.1, 0.2, 0.8 + size / 1e6), label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-empty")
def wrong_areas_alone(ax, sizes, batches, peak, bandwidth):
    """Stack areas on top of each other."""
    rates = [throughput(size, batches, peak, bandwidth) for size in sizes]
    ax.stackplot(batches, *rates, labels=[f"D = F = {size}" for size in sizes])
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong("figure-empty")
def wrong_lines_across(ax, sizes, batches, peak, bandwidth):
    """Draw a horizontal line at the last value of each size."""
    for size in sizes:
        ax.axhline(throughput(size, batches, peak, bandwidth)[-1], label=str(size))
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-unseen")
def wrong_faint(ax, **case):
    """Draw almost white curves on white."""
    draw(ax, **case, color="whitesmoke")


@wrong("figure-unseen")
def wrong_no_line(ax, **case):
    """Draw neither lines nor markers."""
    draw(ax, **case, linestyle="none")


@wrong("figure-unseen")
def wrong_one_of_two(ax, sizes, batches, peak, bandwidth):
    """Draw the smallest size fully transparent."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, alpha=0 if size == min(sizes) else 1, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-unseen")
def wrong_thin(ax, **case):
    """Draw lines thinner than any screen can show."""
    draw(ax, **case, linewidth=0.01)


@wrong("figure-unseen")
def wrong_white(ax, **case):
    """Draw white curves on white."""
    draw(ax, **case, color="white")


@wrong("figure-unseen")
def wrong_white_points(ax, sizes, batches, peak, bandwidth):
    """Draw white points on white, without lines."""
    for size, shape in zip(sizes, "osD^v", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, shape, color="white", label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


# ---- how curves are named


@right
def right_figure_legend(ax, sizes, batches, peak, bandwidth):
    """Put one legend for the whole figure outside the axes."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.figure.legend(loc="outside upper center", ncols=3)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-curve")
def wrong_powers_of_two(ax, sizes, batches, peak, bandwidth):
    """Write sizes that are powers of two as such, in TeX."""
    for size in sizes:
        power = size.bit_length() - 1
        name = f"$2^{{{power}}}$" if size == 2**power else f"${size}$"
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=name)
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_proxies(ax, sizes, batches, peak, bandwidth):
    """Build the legend from patches in the curves' colors."""
    patches = []
    for size, color in zip(sizes, ("tab:red", "tab:green", "tab:blue"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color)
        patches.append(Patch(color=color, label=f"D = F = {size}"))
    ax.legend(handles=patches)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


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
def right_spaced_sizes(ax, sizes, batches, peak, bandwidth):
    """Pass sizes written as 4 096 to the legend."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth))
    ax.legend([f"{size:,}".replace(",", " ") for size in sizes], loc="lower right")
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_texts_in_color(ax, sizes, batches, peak, bandwidth):
    """List the sizes in a corner, each in the color of its curve."""
    for row, size in enumerate(sizes):
        (line,) = ax.plot(batches, throughput(size, batches, peak, bandwidth))
        name, color = f"{size} x {size}", line.get_color()
        ax.text(0.95, 0.05 + row / 10, name, color=color, ha="right", transform=ax.transAxes)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_hidden_legend(ax, **case):
    """Hide the legend."""
    draw(ax, **case)
    ax.get_legend().set_visible(False)


@wrong("figure-legend")
def wrong_legend_first(ax, sizes, batches, peak, bandwidth):
    """Make the legend before any curve is drawn."""
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")


@wrong("figure-curve")
def wrong_other_numbers(ax, sizes, batches, peak, bandwidth):
    """Number the curves instead of naming their sizes."""
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"matrix {number}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong(None)
def wrong_sorted_legend(ax, sizes, batches, peak, bandwidth):
    """Sort the legend's texts by size, but not the curves."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth))
    ax.legend([f"D = F = {size}" for size in sorted(sizes)])
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")


@wrong("figure-legend")
def wrong_white_legend(ax, **case):
    """Write the legend's texts in white on white."""
    draw(ax, **case)
    ax.legend(labelcolor="white")


# ---- which values are drawn


@right
def right_korean_labels(ax, sizes, batches, peak, bandwidth):
    """Plot values of type Fraction, with Korean labels and a legend below the axes."""
    for size in sizes:
        rates = []
        for batch in batches.tolist():
            flops = 2 * batch * size**2
            moved = Fraction(4 * batch * size + size**2)
            rates.append(flops / max(flops / Fraction(peak), moved / Fraction(bandwidth)))
        ax.plot(batches.tolist(), rates, label=f"{size} x {size}, int8")
    ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    ax.set(xlabel="배치 크기 (B)", ylabel="달성 가능한 성능 [FLOP/s]")


@wrong("figure-range")
def wrong_each_eighth(ax, batches, **case):
    """Draw every eighth batch, so that the last one is missing."""
    draw(ax, batches=batches[::8], **case, ylabel="attainable FLOP/s")


@wrong("figure-curve")
def wrong_first_only(ax, sizes, **case):
    """Draw the first size only."""
    draw(ax, sizes=sizes[:1], **case)


@wrong("figure-range")
def wrong_other_batches(ax, batches, **case):
    """Draw batches from 1 on instead of those given."""
    draw(ax, batches=range(1, len(batches) + 1), **case, ylabel="attainable FLOP/s")


@wrong("figure-unit")
def wrong_percent(ax, peak, **case):
    """Draw percentages of the peak."""
    draw(ax, peak=peak, **case, unit=peak / 100, ylabel="attainable (% of the peak)")


@wrong(None)
def wrong_prefix_too_much(ax, **case):
    """Draw values in FLOP/s, but say TFLOP/s in the label."""
    draw(ax, **case, ylabel="attainable throughput (TFLOP/s)")
    ax.set_yscale("log")


@wrong("figure-swapped")
def wrong_swapped_axes(ax, sizes, batches, peak, bandwidth):
    """Swap the axes, and their labels with them."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(rates, batches, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="attainable (FLOP/s)", ylabel="batch (tokens)")


# ---- labels of the axes, in other languages, units and prefixes, and with mistakes

BATCH = "batch (tokens)"
RATE = "attainable (FLOP/s)"
TERA, GIGA = 1e12, 1e9

# (name, x label, y label, size of the plotted values' unit in FLOP/s)
RIGHT = [
    ("right_chinese_labels", "批量大小", "可达性能FLOP/s", 1),
    ("right_cyrillic_words", "размер пакета B", "достижимая производительность, TFLOP/s", TERA),
    ("right_flops_in_capitals", "B", "attainable FLOPS", 1),
    ("right_french_labels", "Taille du lot (batch)", "Débit atteignable (GFLOP/s)", GIGA),
    ("right_german_labels", "Batchgröße (Zeilen)", "Erreichbare Leistung in TFLOP/s", TERA),
    ("right_japanese_labels", "バッチサイズ (B)", "達成可能な演算性能 [GFLOP/秒]", GIGA),
    ("right_peak_in_label", BATCH, "attainable FLOP/s (of 197 TFLOP/s)", 1),
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
    ("wrong_count_label", "figure-rate", BATCH, "FLOP", 1),
    ("wrong_count_of_flops", "figure-rate", BATCH, "FLOPs", 1),
    ("wrong_cyrillic_unit", "figure-unit", BATCH, "достижимая производительность, ТФЛОП/с", TERA),
    ("wrong_intensity_label", "figure-rate", BATCH, "intensity (FLOP/byte)", 1),
    ("wrong_intensity_on_x", "figure-batch", "arithmetic intensity (FLOP/byte)", RATE, 1),
    ("wrong_kilo", None, BATCH, "GFLOP/s", TERA),
    ("wrong_log_label", "figure-unit", "batch", "log10 of bytes", 1),
    ("wrong_many_flop", "figure-rate", BATCH, "TFLOP", 1),
    ("wrong_no_unit", "figure-unit", BATCH, "attainable throughput", 1),
    ("wrong_number_of_flops", "figure-rate", BATCH, "number of FLOPs", 1),
    ("wrong_per_step", "figure-rate", BATCH, "FLOP/step", 1),
    ("wrong_per_token", "figure-rate", BATCH, "FLOP per token", 1),
    ("wrong_size_on_x", "figure-batch", "D = F", RATE, 1),
    ("wrong_tera_operations", "figure-unit", BATCH, "throughput in TOP/s", TERA),
    ("wrong_time_in_chinese", "figure-batch", "时间", RATE, 1),
    ("wrong_time_label", "figure-batch", "time (s)", RATE, 1),
    ("wrong_time_per_batch", "figure-batch", "time per batch (ms)", RATE, 1),
    ("wrong_trillion", None, BATCH, "trillion FLOP/s", TERA),
    ("wrong_words_for_the_unit", "figure-unit", BATCH, "opérations par seconde", 1),
    ("wrong_x", "figure-batch", "x", RATE, 1),
]


def labeled(xlabel, ylabel, unit):
    """Return a function that draws the usual figure, with other labels of its axes."""
    return lambda ax, **case: draw(ax, **case, xlabel=xlabel, ylabel=ylabel, unit=unit)


library += [LibraryFigure(name, labeled(*labels), True, None) for name, *labels in RIGHT]
library += [LibraryFigure(name, labeled(*labels), False, said) for name, said, *labels in WRONG]
