"""The legend is in order of size, the curves are not."""

from figures import throughput

EXPECT = None


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth))
    ax.legend([f"D = F = {size}" for size in sorted(sizes)])
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
