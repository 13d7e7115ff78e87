"""Both black: told apart by line style, with a legend."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, style in zip(sizes, ("-", "--", ":"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, style, color="black", label=str(size))
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
