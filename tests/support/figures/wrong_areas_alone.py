"""Stacked areas: each stands on the others."""

from figures import throughput

EXPECT = "figure-empty"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    rates = [throughput(size, batches, peak, bandwidth) for size in sizes]
    ax.stackplot(batches, *rates, labels=[f"D = F = {size}" for size in sizes])
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
