"""Told apart by alpha alone."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, alpha in zip(sizes, (1, 0.5, 0.2), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="C0", alpha=alpha, label=f"D={size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
