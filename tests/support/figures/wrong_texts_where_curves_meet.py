"""Both sizes where all curves run at the peak."""

from figures import throughput

EXPECT = "figure-legend"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), "k")
        ax.text(batches[0], bandwidth, f"D = F = {size}")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
