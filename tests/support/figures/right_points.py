"""Points without a line."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, marker in zip(sizes, "ox+", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.scatter(batches, rates, s=4, marker=marker, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
