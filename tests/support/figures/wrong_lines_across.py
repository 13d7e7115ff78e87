"""Level lines at the peak of each size."""

from figures import throughput

EXPECT = "figure-empty"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.axhline(throughput(size, batches, peak, bandwidth)[-1], label=str(size))
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
