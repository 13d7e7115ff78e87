"""Lines for the peak; each size where its curve comes up to it."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    ax.plot(batches, np.full(len(batches), peak), "k--", linewidth=1)
    for size, share in zip(sorted(sizes, reverse=True), (0.9, 0.6, 0.3), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, "k")
        at = np.argmax(rates >= share * rates.max())
        ax.annotate(
            f"D = F = {size}", (batches[at], rates[at]), (9, -9), textcoords="offset points"
        )
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
