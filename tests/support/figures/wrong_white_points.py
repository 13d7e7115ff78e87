"""Points in white on white, and no line."""

from figures import throughput

EXPECT = "figure-unseen"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, shape in zip(sizes, "osD^v", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, shape, color="white", label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
