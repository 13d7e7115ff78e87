"""The power of ten moved from the corner into the label."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.ticklabel_format(axis="y", scilimits=(14, 14))
    ax.yaxis.get_offset_text().set_visible(False)
    ax.set(xlabel="batch", ylabel=r"attainable ($\times 10^{14}$ FLOP/s)")
