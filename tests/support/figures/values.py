"""Which values are drawn: computed differently, or for other sizes and batches."""

import math
from fractions import Fraction

import numpy as np

from .base import draw, right, throughput, wrong


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


@wrong("figure-curve")
def wrong_given_sizes(ax, sizes, **case):
    """Draw the sizes of the question and ignore the argument."""
    draw(ax, sizes=(4096, 1024), **case, ylabel="attainable FLOP/s")


@wrong("figure-range")
def wrong_index(ax, sizes, batches, peak, bandwidth):
    """Draw values over their index in the list instead of the batch."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(rates, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong(None)
def wrong_int32(ax, sizes, batches, peak, bandwidth):
    """Overflow 32-bit integers."""
    batches = batches.astype(np.int32)
    for size in sizes:
        flops = np.abs(2 * batches * size * size)
        moved = 4 * batches * size + size * size
        rates = flops / np.maximum(flops / peak, moved / bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong("raised")
def wrong_max_of_arrays(ax, sizes, batches, peak, bandwidth):
    """Compare arrays with Python's `max`, which raises an error."""
    for size in sizes:
        flops = 2 * batches * size**2
        seconds = max(flops / peak, (4 * batches * size + size**2) / bandwidth)
        ax.plot(batches, flops / seconds, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong("no-ceiling")
def wrong_no_roof(ax, sizes, batches, peak, bandwidth):
    """Ignore the peak."""
    for size in sizes:
        intensity = 2 * batches * size / (4 * batches + size)
        ax.plot(batches, intensity * bandwidth, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


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


@wrong("straight-line")
def wrong_straight(ax, sizes, batches, peak, bandwidth):
    """Draw a straight line up to where the curve reaches the peak."""
    for size in sizes:
        room = 2 - 4 * peak / bandwidth / size
        corner = peak / bandwidth / room if room > 0 else math.inf
        rates = [peak * min(1, batch / corner) for batch in batches]
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong("figure-swapped")
def wrong_swapped_axes(ax, sizes, batches, peak, bandwidth):
    """Swap the axes, and their labels with them."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(rates, batches, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="attainable (FLOP/s)", ylabel="batch (tokens)")
