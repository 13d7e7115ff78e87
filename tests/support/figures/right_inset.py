"""A magnifying glass: an inset with the first batches once more."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    near = ax.inset_axes([0.55, 0.1, 0.4, 0.3])
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        for place in (ax, near):
            place.plot(batches, rates, label=f"D = F = {size}")
    near.set(xlim=(batches[0], batches[len(batches) // 8]))
    ax.indicate_inset_zoom(near)
    ax.legend(loc="center right")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
