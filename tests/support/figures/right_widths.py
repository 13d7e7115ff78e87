"""Told apart by width."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, width in zip(sorted(sizes), (1, 2.5, 6), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="C3", linewidth=width, label=f"D={size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
