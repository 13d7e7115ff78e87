"""Colours of a map, dashes by hand, sizes as 4,096 in TeX."""

import matplotlib.pyplot as plt
import numpy as np

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    shades = plt.colormaps["viridis"](np.linspace(0, 0.8, len(sizes)))
    for size, shade in zip(sizes, shades, strict=True):
        rates = throughput(size, batches, peak, bandwidth) / 1e12
        name = f"$D = F = {size:,}$".replace(",", "{,}")
        ax.plot(batches, rates, color=shade, dashes=(5, 2), label=name)
    ax.legend()
    ax.set(xlabel="$B$ (tokens)", ylabel=r"attainable $\left(\mathrm{TFLOP/s}\right)$")
