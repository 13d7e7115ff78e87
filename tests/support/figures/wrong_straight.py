"""A straight line from nothing to where the curve reaches the peak."""

import math

EXPECT = "straight-line"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        room = 2 - 4 * peak / bandwidth / size
        corner = peak / bandwidth / room if room > 0 else math.inf
        rates = [peak * min(1, batch / corner) for batch in batches]
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
