"""The first two sizes only, and a third curve that is the first again."""

from figures import throughput

EXPECT = "figure-curve"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes[:1]:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
