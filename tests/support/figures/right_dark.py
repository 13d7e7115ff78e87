"""White and yellow on a dark ground."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    ax.figure.set_facecolor("black")
    ax.set_facecolor("black")
    for size, color in zip(sizes, ("white", "yellow", "cyan"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color, label=size)
    ax.legend(facecolor="black", labelcolor="white")
    ax.set_xlabel("batch (tokens)", color="white")
    ax.set_ylabel("attainable (FLOP/s)", color="white")
    ax.tick_params(colors="white")
