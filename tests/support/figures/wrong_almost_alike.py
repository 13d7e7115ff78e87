"""Two blues that nobody can tell apart."""

from figures import throughput

EXPECT = "figure-alike"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=(0.1, 0.2, 0.8 + size / 1e6), label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
