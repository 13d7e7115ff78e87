"""Logarithms of both, and the labels say so."""

import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(np.log2(batches), np.log10(rates), label=f"{size}")
    ax.legend()
    ax.set(xlabel="log2 of the batch size", ylabel="log10 of the attainable FLOP/s")
