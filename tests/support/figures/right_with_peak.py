"""The peak as a line of its own, with a legend entry and no size."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    ax.plot(batches, [peak] * len(batches), color="grey", label="peak")
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
