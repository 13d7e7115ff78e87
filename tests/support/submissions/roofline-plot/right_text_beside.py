"""Text beside each curve and no legend; a ceiling drawn as well; scattered points on the lines."""

import numpy as np


def attainable(B, D, F, peak, bandwidth):
    flops = 2.0 * B * D * F
    return flops / np.maximum(flops / peak, (2.0 * B * (D + F) + D * F) / bandwidth)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    batches = np.asarray(batches)
    for size in sizes:
        rates = attainable(batches, size, size, peak, bandwidth)
        ax.plot(batches, rates, color="black")
        ax.scatter(batches[::50], rates[::50])
        middle = len(batches) // 4
        ax.annotate(f"D = F = {size}", (batches[middle], rates[middle]))
    ax.axhline(peak, linestyle="--")
    ax.set_title("Throughput")
    ax.set_xlabel("Batch (tokens)")
    ax.set_ylabel("Throughput in FLOP/s")
