"""`legend` without brackets: it is named and not called."""

from figures import throughput

EXPECT = "figure-legend"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend  # noqa: B018
