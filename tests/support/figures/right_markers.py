"""One colour and one style: told apart by markers."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, marker in zip(sizes, "os^", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="navy", marker=marker, markevery=25, label=f"{size:,}")
    ax.legend(title="D = F", markerscale=2)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
