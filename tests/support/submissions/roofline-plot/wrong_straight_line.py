"""A straight line up to the ceiling; D alone; the two batches."""

import math

EXPECT = {"attainable": "straight-line", "ceiling-batch": "one-side-twice", "delay": "not-a-number"}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    return peak * min(1, B / exact(D, F, peak, bandwidth))


def ceiling_batch(D, F, peak, bandwidth):
    return exact(D, D, peak, bandwidth)


def delay(small, large, peak, bandwidth):
    return exact(small, small, peak, bandwidth), exact(large, large, peak, bandwidth)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
