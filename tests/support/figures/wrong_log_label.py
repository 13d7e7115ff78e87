"""The label says logarithms, the values are none."""

from figures import throughput

EXPECT = "figure-unit"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch", ylabel="log10 of bytes")
