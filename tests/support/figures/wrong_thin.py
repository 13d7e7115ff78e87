"""A line thinner than any screen can show."""

from figures import throughput

EXPECT = "figure-unseen"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, lw=0.01, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
