"""Names of curves: legends, texts beside curves, and names that match none."""

import numpy as np
from matplotlib.patches import Patch

from .base import draw, right, throughput, wrong


@wrong("figure-legend")
def wrong_arrows(ax, sizes, batches, peak, bandwidth):
    """Point an arrow from each size to its curve, and draw a line at the peak."""
    arrow = {"arrowstyle": "->"}
    ax.plot(batches, np.full(len(batches), peak), "k--", linewidth=1)
    for size, share in zip(sorted(sizes, reverse=True), (0.9, 0.6, 0.3), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, "k")
        at = np.argmax(rates >= share * rates.max())
        place = (batches[at], rates[at])
        ax.annotate(f"{size}", place, (50, -25), "data", "offset points", arrow)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_beside_the_end(ax, sizes, batches, peak, bandwidth):
    """Write each size next to the end of its curve, a few typographic points away.

    There is no legend.
    """
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=f"C{number}", linewidth=2, solid_capstyle="round")
        ax.annotate(
            f"D = F = {size}",
            xy=(batches[-1], rates[-1]),
            xytext=(4, 12 * number),
            textcoords="offset points",
            color=f"C{number}",
        )
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")


@right
def right_columns(ax, sizes, batches, peak, bandwidth):
    """Plot all curves as columns of one array; pass the sizes to the legend."""
    ax.plot(batches, np.stack([throughput(s, batches, peak, bandwidth) for s in sizes]).T)
    ax.legend(sizes)
    ax.set(xlabel="B", ylabel="FLOPs/s", xscale="log", yscale="log")
    return ax


@right
def right_figure_legend(ax, sizes, batches, peak, bandwidth):
    """Put one legend for the whole figure outside the axes."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.figure.legend(loc="outside upper center", ncols=3)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_labels_at_sides(ax, sizes, batches, peak, bandwidth):
    """Write sizes to the left of the highest curve and to the right of the others."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, "k-")
        at = np.argmax(rates >= 0.6 * rates.max())
        side, gap = ("right", (-4, 0)) if size == max(sizes) else ("left", (4, -8))
        place = (batches[at], rates[at])
        ax.annotate(f"{size}", place, gap, textcoords="offset points", ha=side)
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


@wrong("figure-legend")
def wrong_rotated_texts(ax, sizes, batches, peak, bandwidth):
    """Write a rotated text along each curve, on logarithmic axes.

    The text has the curve's color.
    """
    at = len(batches) // 6
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        (line,) = ax.loglog(batches, rates)
        place = (batches[at], rates[at])
        ax.annotate(f"D = F = {size}", place, color=line.get_color(), rotation=40, va="top")
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


@right
def right_spanish_labels(ax, sizes, batches, peak, bandwidth):
    """Label in Spanish, mark some batches, and put the legend outside the axes."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, marker="o", markevery=40, label=f"matriz de {size} × {size}")
    ax.grid(which="both", alpha=0.3)
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), title="Tamaño")
    ax.set_title("Rendimiento alcanzable")
    ax.set_xlabel("tamaño del lote (tokens)")
    ax.set_ylabel("rendimiento alcanzable (FLOP/s)")


@wrong("figure-legend")
def wrong_text_on_curve(ax, sizes, batches, peak, bandwidth):
    """Write each size exactly on its curve, between two of the points drawn."""
    few = np.geomspace(batches[0], batches[-1], 400)
    for size in sizes:
        rates = throughput(size, few, peak, bandwidth)
        ax.plot(few, rates, color="black")
        x = batches[0] + (batches[-1] - batches[0]) * 0.137
        y = np.interp(x, few, rates)
        ax.text(x, y, size, ha="center", va="center", backgroundcolor="white")
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_texts_in_color(ax, sizes, batches, peak, bandwidth):
    """List the sizes in a corner, each in the color of its curve."""
    for row, size in enumerate(sizes):
        (line,) = ax.plot(batches, throughput(size, batches, peak, bandwidth))
        name, color = f"{size} x {size}", line.get_color()
        ax.text(0.95, 0.05 + row / 10, name, color=color, ha="right", transform=ax.transAxes)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-curve")
def wrong_thousands(ax, sizes, batches, peak, bandwidth):
    """Write sizes in units of 1,024, as 4k and 0.75k, on a logarithmic axis."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.semilogx(batches, rates, label=f"{size / 1024:g}k")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-curve")
def wrong_whole_figure_labels(ax, sizes, batches, peak, bandwidth):
    """Label the axes with `supxlabel` and `supylabel`, and set lines' labels."""
    figure = ax.get_figure()
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        (line,) = ax.plot(batches, rates)
        line.set_label(f"{size // 1024} Ki" if size % 1024 == 0 else f"{size}")
    figure.legend(loc="outside right upper", title="D = F")
    figure.supxlabel("batch B (tokens)")
    figure.supylabel(r"attainable rate $P$ / (FLOP/s)")


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


@wrong("figure-legend")
def wrong_no_call(ax, sizes, batches, peak, bandwidth):
    """Name `legend` without calling it."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend  # noqa: B018


@wrong("figure-curve")
def wrong_other_numbers(ax, sizes, batches, peak, bandwidth):
    """Number the curves instead of naming their sizes."""
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"matrix {number}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-curve")
def wrong_rounded_sizes(ax, sizes, batches, peak, bandwidth):
    """Round sizes to thousands, so that two curves share a name."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"about {size / 1000:.0f} thousand")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong("figure-legend")
def wrong_shifted_texts(ax, sizes, batches, peak, bandwidth):
    """Shift each text onto another curve, without an arrow."""
    at = len(batches) // 6
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), "k")
    for size, other in zip(sizes, [*sizes[1:], sizes[0]], strict=True):
        own = throughput(size, batches, peak, bandwidth)[at]
        place = (batches[at], throughput(other, batches, peak, bandwidth)[at])
        ax.annotate(f"{size}", (batches[at], own), place, "data", "data")
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_sizes_in_the_title(ax, sizes, batches, peak, bandwidth):
    """Name sizes and colors in the title only."""
    for size, color in zip(sizes, ("blue", "orange", "green"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color)
    ax.set_title(f"D = F = {sizes[0]} in blue, {sizes[1]} in orange")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")


@wrong("figure-curve")
def wrong_small_and_large(ax, sizes, batches, peak, bandwidth):
    """Name curves small and large."""
    for size in sizes:
        name = "small matrix" if size == min(sizes) else "large matrix"
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=name)
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong(None)
def wrong_sorted_legend(ax, sizes, batches, peak, bandwidth):
    """Sort the legend's texts by size, but not the curves."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth))
    ax.legend([f"D = F = {size}" for size in sorted(sizes)])
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")


@wrong("figure-legend")
def wrong_texts_at_the_other(ax, sizes, batches, peak, bandwidth):
    """Write each size beside another size's curve."""
    at = len(batches) // 5
    for size, other in zip(sizes, [*sizes[1:], sizes[0]], strict=True):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), "k")
        rates = throughput(other, batches, peak, bandwidth)
        ax.annotate(f"D = F = {size}", (batches[at], rates[at]), (5, 5), textcoords="offset points")
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_texts_where_curves_meet(ax, sizes, batches, peak, bandwidth):
    """Write all sizes at one place, where the curves meet."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), "k")
        ax.text(batches[0], bandwidth, f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-legend")
def wrong_white_legend(ax, **case):
    """Write the legend's texts in white on white."""
    draw(ax, **case)
    ax.legend(labelcolor="white")
