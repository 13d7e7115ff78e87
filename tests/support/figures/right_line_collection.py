"""One collection for each curve, made of short pieces."""

import numpy as np
from matplotlib.collections import LineCollection

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, color in zip(sizes, ("C0", "C1", "C2"), strict=False):
        points = np.column_stack([batches, throughput(size, batches, peak, bandwidth)])
        pieces = np.stack([points[:-1], points[1:]], axis=1)
        ax.add_collection(LineCollection(pieces, colors=color, label=f"{size}"))
    ax.autoscale()
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
