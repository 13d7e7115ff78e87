"""The batch is drawn upward, and its label stands there too."""

from figures import throughput

EXPECT = "figure-swapped"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(rates, batches, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("attainable (FLOP/s)")
    ax.set_ylabel("batch (tokens)")
