"""Batches in thousands, and the label says so."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches / 1000, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (thousand tokens)", ylabel="attainable FLOP/s")
