"""Bars, and only one for each size."""

from figures import throughput

EXPECT = "figure-empty"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    heights = [throughput(size, batches, peak, bandwidth)[-1] for size in sizes]
    ax.bar([str(size) for size in sizes], heights)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
