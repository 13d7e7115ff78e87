"""Each size beside its curve: left of the upper one, right below the others."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, "k-")
        at = np.argmax(rates >= 0.6 * rates.max())
        side, gap = ("right", (-4, 0)) if size == max(sizes) else ("left", (4, -8))
        place = (batches[at], rates[at])
        ax.annotate(f"{size}", place, gap, textcoords="offset points", ha=side)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
