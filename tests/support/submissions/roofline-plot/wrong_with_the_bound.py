"""The value and what binds; rounded up to the tile; the chip of the notebook."""

import math

EXPECT = {"attainable": "not-a-number", "ceiling-batch": None, "delay": None}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    rate = roof(B, D, F, peak, bandwidth)
    return rate, "compute" if rate == peak else "HBM"


def ceiling_batch(D, F, peak, bandwidth):
    """A multiple of 128."""
    batch = exact(D, F, peak, bandwidth)
    return batch if batch == math.inf else math.ceil(batch / 128) * 128


given_peak = peak  # noqa: F821
given_bandwidth = bandwidth  # noqa: F821


def delay(small, large, **chip):
    later = exact(small, small, given_peak, given_bandwidth)
    return later / exact(large, large, given_peak, given_bandwidth)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
