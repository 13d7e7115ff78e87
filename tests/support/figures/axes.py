"""The axes: scales, limits, ticks, further axes, and invisible labels."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter

from .base import draw, right, throughput, wrong


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


@wrong("figure-range")
def wrong_in_thousands(ax, sizes, batches, peak, bandwidth):
    """Show batches in thousands, and say so in the label."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches / 1000, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (thousand tokens)", ylabel="attainable FLOP/s")


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


@wrong("figure-range")
def wrong_logarithms(ax, sizes, batches, peak, bandwidth):
    """Plot logarithms of batches and values, and say so in the labels."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(np.log2(batches), np.log10(rates), label=f"{size}")
    ax.legend()
    ax.set(xlabel="log2 of the batch size", ylabel="log10 of the attainable FLOP/s")


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
def right_symlog(ax, peak, **case):
    """Use a scale that is linear near zero."""
    draw(ax, peak=peak, **case)
    ax.set_xscale("symlog")
    ax.set_ylim(0, 1.1 * peak)


@right
def right_tight_limits(ax, batches, peak, **case):
    """Set limits exactly at the first and last batch, and at the peak."""
    draw(ax, batches=batches, peak=peak, **case)
    ax.set_xlim(batches[0], batches[-1])
    ax.set_ylim(0, peak)


@right
def right_twin(ax, sizes, batches, peak, bandwidth):
    """Show the share of the peak on a twin axis."""
    draw(ax, sizes, batches, peak, bandwidth)
    twin = ax.twinx()
    twin.plot(batches, throughput(sizes[0], batches, peak, bandwidth) / peak, ":", color="silver")
    twin.set_ylabel("share of the peak")


@wrong("figure-unit")
def wrong_unit_at_ticks(ax, **case):
    """Put the unit at the ticks."""
    draw(ax, **case, xlabel="batch", ylabel="attainable")
    ax.yaxis.set_major_formatter(EngFormatter(unit="FLOP/s"))


@wrong("figure-xlabel")
def wrong_assigned_labels(ax, sizes, batches, peak, bandwidth):
    """Assign texts to `set_xlabel` and `set_ylabel` instead of calling them."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel = "batch (tokens)"
    ax.set_ylabel = "attainable FLOP/s"


@wrong("figure-outside")
def wrong_bottom_cut_off(ax, peak, **case):
    """Cut off the small values at the bottom of the frame."""
    draw(ax, peak=peak, **case)
    ax.set_ylim(bottom=0.5 * peak)


@wrong("figure-outside")
def wrong_bottom_cut_off_log(ax, sizes, batches, peak, bandwidth):
    """Cut off the smallest values on logarithmic axes.

    The cut is small compared with the peak.
    """
    draw(ax, sizes, batches, peak, bandwidth)
    ax.set(xscale="log", yscale="log")
    smallest = min(throughput(size, batches, peak, bandwidth).min() for size in sizes)
    ax.set_ylim(bottom=1.1 * smallest)


@wrong("figure-curve")
def wrong_cleared(ax, sizes, batches, peak, bandwidth):
    """Clear the axes before each curve."""
    for size in sizes:
        ax.clear()
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
        ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
        ax.legend()


@wrong("figure-outside")
def wrong_first_batches(ax, batches, **case):
    """Set limits that show only the first half of the batches."""
    draw(ax, batches=batches, **case)
    ax.set_xlim(0, batches[-1] / 2)


@wrong("figure-outside")
def wrong_given_limits(ax, **case):
    """Set limits that only fit the chip and batches of the question."""
    draw(ax, **case, ylabel="attainable FLOP/s")
    ax.set(xlim=(0, 300), ylim=(0, 2e14))


@wrong("figure-empty")
def wrong_invisible_axis(ax, **case):
    """Hide the whole axes."""
    draw(ax, **case)
    ax.set_visible(False)


@wrong("figure-outside")
def wrong_limits_of_x(ax, **case):
    """Set limits far from all batches."""
    draw(ax, **case)
    ax.set_xlim(10_000, 20_000)


@wrong("figure-outside")
def wrong_limits_of_y(ax, **case):
    """Set limits that hide every value."""
    draw(ax, **case)
    ax.set_ylim(0, 1)


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


@wrong("raised")
def wrong_pyplot_names(ax, sizes, batches, peak, bandwidth):
    """Call methods by pyplot's names, such as `xlabel`, which axes don't have."""
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.xlabel("batch (tokens)")
    ax.ylabel("attainable FLOP/s")
    ax.legend()


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
