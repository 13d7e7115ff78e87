"""A time, with the batch named."""

from figures import throughput

EXPECT = "figure-batch"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("time per batch (ms)")
    ax.set_ylabel("attainable (FLOP/s)")
