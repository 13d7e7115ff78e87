"""Per cent of the peak."""

from figures import throughput

EXPECT = "figure-unit"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        share = throughput(size, batches, peak, bandwidth) / peak
        ax.plot(batches, 100 * share, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable (% of the peak)")
    ax.legend()
