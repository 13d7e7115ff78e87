"""Lines and the area below them; the legend shows the areas."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=f"C{number}")
        ax.fill_between(batches, rates, color=f"C{number}", alpha=0.3, label=f"{size:,}")
    ax.legend(title="D = F")
    ax.set(xlabel="batch (rows)", ylabel="attainable FLOP/s", ylim=(0, None))
