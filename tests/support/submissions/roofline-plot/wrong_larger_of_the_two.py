"""max for min; the two ends swapped; a percentage."""

import math

EXPECT = {"attainable": "larger-of-the-two", "ceiling-batch": None, "delay": None}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return max(peak, 2 * B * D * F / moved * bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    """-1 for never."""
    batch = exact(D, F, peak, bandwidth)
    return -1 if batch == math.inf else batch


def delay(small, large, peak, bandwidth):
    later = exact(small, small, peak, bandwidth)
    return 100 * later / exact(large, large, peak, bandwidth)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = [roof(B, size, size, peak, bandwidth) for B in batches]
        ax.plot(batches, rates, label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
