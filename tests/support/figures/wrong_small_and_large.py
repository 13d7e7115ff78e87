"""Curves named small and large."""

from figures import throughput

EXPECT = "figure-curve"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        name = "small matrix" if size == min(sizes) else "large matrix"
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=name)
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
