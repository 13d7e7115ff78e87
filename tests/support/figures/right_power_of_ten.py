"""A power of ten before the unit."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates / 1e12, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("$B$")
    ax.set_ylabel("attainable [10^12 FLOP/s]")
