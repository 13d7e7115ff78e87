"""The legend is made before there is anything that it could show."""

from figures import throughput

EXPECT = "figure-legend-empty"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
