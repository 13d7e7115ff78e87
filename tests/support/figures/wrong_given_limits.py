"""Limits that fit the chip and the batches of the question, and no other."""

from figures import throughput

EXPECT = "figure-outside"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s", xlim=(0, 300), ylim=(0, 2e14))
    ax.legend()
