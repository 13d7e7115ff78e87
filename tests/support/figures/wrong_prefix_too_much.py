"""Values in FLOP/s, the label says TFLOP/s."""

from figures import throughput

EXPECT = None


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.semilogy(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable throughput (TFLOP/s)")
    ax.legend()
