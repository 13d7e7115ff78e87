"""Operations per second by their short name."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates * 1e-12, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("rows of X")
    ax.set_ylabel("throughput in TOP/s")
