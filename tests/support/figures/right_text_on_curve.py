"""Each size set exactly on its curve, between two of the points drawn."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    few = np.geomspace(batches[0], batches[-1], 400)
    for size in sizes:
        rates = throughput(size, few, peak, bandwidth)
        ax.plot(few, rates, color="black")
        x = batches[0] + (batches[-1] - batches[0]) * 0.137
        y = np.interp(x, few, rates)
        ax.text(x, y, size, ha="center", va="center", backgroundcolor="white")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
