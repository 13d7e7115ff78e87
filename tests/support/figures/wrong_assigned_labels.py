"""`set_xlabel` is given a text with =, which puts the text in the function's place."""

from figures import throughput

EXPECT = "figure-xlabel"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth), label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel = "batch (tokens)"
    ax.set_ylabel = "attainable FLOP/s"
