"""The curves on the right-hand axis, which has the label."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    right = ax.twinx()
    ax.yaxis.set_visible(False)
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        right.plot(batches, rates, label=f"D = F = {size}")
    right.legend()
    ax.set_xlabel("batch (tokens)")
    right.set_ylabel("attainable (FLOP/s)")
