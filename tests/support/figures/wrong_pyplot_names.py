"""Names of pyplot's functions on an axis, which has others."""

from figures import throughput

EXPECT = "raised"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.xlabel("batch (tokens)")
    ax.ylabel("attainable FLOP/s")
    ax.legend()
