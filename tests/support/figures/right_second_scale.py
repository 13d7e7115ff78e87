"""A second scale at the right for the share of the peak; the batch runs from right to left."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, throughput(size, batches, peak, bandwidth) / 1e12, label=f"{size}²")
    other = ax.secondary_yaxis("right", functions=(lambda y: y * 1e12 / peak, lambda y: y * peak))
    other.set_ylabel("share of the peak")
    ax.invert_xaxis()
    ax.legend()
    ax.set(xlabel="tokens in a batch", ylabel="attainable TFLOP/s")
