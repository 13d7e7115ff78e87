"""Sizes in whole thousands, which two of them share and none has."""

from figures import throughput

EXPECT = "figure-curve"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"about {size / 1000:.0f} thousand")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
