"""Whole numbers of 32 bits; a search in whole numbers; one digit."""

import math

import numpy as np

EXPECT = {"attainable": None, "ceiling-batch": None, "delay": None}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    B, D, F = np.array([B, D, F], dtype=np.int32)
    flops = 2 * B * D * F
    return flops / max(flops / peak, (2 * B * D + D * F + 2 * B * F) / bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    for B in range(1, 5_000):
        if roof(B, D, F, peak, bandwidth) == peak:
            return B
    return math.inf


def delay(small, large, peak, bandwidth):
    later = exact(small, small, peak, bandwidth)
    return round(later / exact(large, large, peak, bandwidth), 1)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
