"""Each text points at the other curve."""

from figures import throughput

EXPECT = None


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    at = len(batches) // 5
    for size, other in zip(sizes, [*sizes[1:], sizes[0]], strict=True):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), "k")
        rates = throughput(other, batches, peak, bandwidth)
        ax.annotate(f"D = F = {size}", (batches[at], rates[at]), (5, 5), textcoords="offset points")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
