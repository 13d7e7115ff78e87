"""TFLOP/s without a word; None for never; one less."""

import math

EXPECT = {"attainable": None, "ceiling-batch": "nothing", "delay": "increase"}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    return roof(B, D, F, peak, bandwidth) / 1e12


def ceiling_batch(D, F, peak, bandwidth):  # noqa: RET503
    batch = exact(D, F, peak, bandwidth)
    if batch < math.inf:
        return batch


def delay(small, large, peak, bandwidth):
    """How much larger, not how many times as large."""
    later = exact(small, small, peak, bandwidth)
    return later / exact(large, large, peak, bandwidth) - 1


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
