"""Sizes as 4 096, given to the legend by hand."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth))
    ax.legend([f"{size:,}".replace(",", " ") for size in sizes], loc="lower right")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
