"""The ticks have a prefix, the label the unit."""

from matplotlib.ticker import EngFormatter

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.yaxis.set_major_formatter(EngFormatter())
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")
