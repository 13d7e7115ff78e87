"""A dot in the curve's colour where each curve reaches its ceiling."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        (line,) = ax.plot(batches, rates, label=f"D = F = {size}")
        at = np.argmax(rates >= 0.999 * rates.max())
        ax.plot(batches[at], rates[at], "o", color=line.get_color())
        ax.axvline(batches[at], color=line.get_color(), linestyle=":")
        ax.text(batches[at], peak / 2, f"B = {batches[at]}", rotation=90)
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
