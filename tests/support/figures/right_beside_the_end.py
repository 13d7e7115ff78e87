"""Each size beside the end of its curve's rise, moved by some points; no legend, no frame."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=f"C{number}", linewidth=2, solid_capstyle="round")
        ax.annotate(
            f"D = F = {size}",
            xy=(batches[-1], rates[-1]),
            xytext=(4, 12 * number),
            textcoords="offset points",
            color=f"C{number}",
        )
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")
