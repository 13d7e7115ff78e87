"""Batches are tried up to a limit; only the first two sizes are drawn."""

import math

EXPECT = {"ceiling-batch": None, "figure": "figure-curve"}


def ceiling_batch(D, F, peak, bandwidth):
    B = 1.0
    while B <= 2048:
        if attainable(B, D, F, peak, bandwidth) >= peak:  # noqa: F821
            return B
        B *= 1.005
    return math.inf


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, style in zip(sizes, ("-", "--"), strict=False):
        rates = [attainable(B, size, size, peak, bandwidth) for B in batches]  # noqa: F821
        ax.plot(batches, rates, style, label=f"D = F = {size}")
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")
    ax.legend()
