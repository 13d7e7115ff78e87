"""Texts without an arrow, shifted onto another curve."""

from figures import throughput

EXPECT = None


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    at = len(batches) // 6
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), "k")
    for size, other in zip(sizes, [*sizes[1:], sizes[0]], strict=True):
        own = throughput(size, batches, peak, bandwidth)[at]
        place = (batches[at], throughput(other, batches, peak, bandwidth)[at])
        ax.annotate(f"{size}", (batches[at], own), place, "data", "data")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
