"""Time on the horizontal axis."""

from figures import throughput

EXPECT = "figure-batch"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("time (s)")
    ax.set_ylabel("attainable (FLOP/s)")
