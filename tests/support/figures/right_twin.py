"""A second axis for the share of the peak."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
    twin = ax.twinx()
    twin.plot(batches, throughput(sizes[0], batches, peak, bandwidth) / peak, ":", color="silver")
    twin.set_ylabel("share of the peak")
