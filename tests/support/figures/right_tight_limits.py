"""Limits exactly at the first and last batch, and at the peak."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
    ax.set_xlim(batches[0], batches[-1])
    ax.set_ylim(0, peak)
