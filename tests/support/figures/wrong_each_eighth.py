"""Each eighth batch, so that the last one is missing."""

from figures import throughput

EXPECT = "figure-range"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    batches = batches[::8]
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
