"""The axis is cleared for each curve."""

from figures import throughput

EXPECT = "figure-curve"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.clear()
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
        ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
        ax.legend()
