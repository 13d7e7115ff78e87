"""All curves in one call, as the columns of an array; the list of sizes is the legend."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    ax.plot(batches, np.stack([throughput(s, batches, peak, bandwidth) for s in sizes]).T)
    ax.legend(sizes)
    ax.set(xlabel="B", ylabel="FLOPs/s", xscale="log", yscale="log")
    return ax
