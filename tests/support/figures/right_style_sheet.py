"""Another style sheet's look, on a grey ground."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    ax.set_facecolor("#E5E5E5")
    ax.grid(color="white")
    for size, color in zip(sizes, ("#E24A33", "#348ABD", "#988ED5"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=color, label=f"D = F = {size}", zorder=3)
    ax.legend(frameon=False)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
