"""A share of the peak; the sign turned round; the root of the sides' ratio."""

import math

EXPECT = {"attainable": "share-of-the-peak", "ceiling-batch": None, "delay": None}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    return roof(B, D, F, peak, bandwidth) / peak


def ceiling_batch(D, F, peak, bandwidth):
    return abs(peak / bandwidth / (2 - 2 * peak / bandwidth * (1 / D + 1 / F)))


def delay(small, large, peak, bandwidth):
    return math.sqrt(large / small)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
