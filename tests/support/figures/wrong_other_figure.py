"""Draws in a figure of its own."""

import matplotlib.pyplot as plt

from figures import throughput

EXPECT = "figure-empty"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    _, ax = plt.subplots()
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
