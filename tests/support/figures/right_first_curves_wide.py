"""A wide pale line and a narrow one over it for each size, named once."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, color in zip(sizes, ("C0", "C1", "C2"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=color, linewidth=6, alpha=0.3)
        ax.plot(batches, rates, color=color, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
