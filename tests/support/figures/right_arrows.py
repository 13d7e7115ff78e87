"""A line for the peak; an arrow from each size to its curve."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    arrow = {"arrowstyle": "->"}
    ax.plot(batches, np.full(len(batches), peak), "k--", linewidth=1)
    for size, share in zip(sorted(sizes, reverse=True), (0.9, 0.6, 0.3), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, "k")
        at = np.argmax(rates >= share * rates.max())
        place = (batches[at], rates[at])
        ax.annotate(f"{size}", place, (50, -25), "data", "offset points", arrow)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
