"""Whole numbers of 32 bits, which are too small for the operations."""

import numpy as np

EXPECT = None


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    batches = batches.astype(np.int32)
    for size in sizes:
        flops = np.abs(2 * batches * size * size)
        moved = 4 * batches * size + size * size
        rates = flops / np.maximum(flops / peak, moved / bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
