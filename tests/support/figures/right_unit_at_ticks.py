"""The unit is at the ticks."""

from matplotlib.ticker import EngFormatter

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.yaxis.set_major_formatter(EngFormatter(unit="FLOP/s"))
    ax.set(xlabel="batch", ylabel="attainable")
