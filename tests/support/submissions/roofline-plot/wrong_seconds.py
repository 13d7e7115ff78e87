"""The time itself; the limit of a search for never; a text."""

import math

EXPECT = {"attainable": "time-for-rate", "ceiling-batch": None, "delay": "not-a-number"}


def roof(B, D, F, peak, bandwidth):
    moved = 2 * B * D + D * F + 2 * B * F
    return min(peak, 2 * B * D * F / moved * bandwidth)


def exact(D, F, peak, bandwidth):
    room = 2 - 2 * peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf


def attainable(B, D, F, peak, bandwidth):
    return max(2 * B * D * F / peak, (2 * B * D + D * F + 2 * B * F) / bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    """Bisection between 1 and ten millions."""
    low, high = 1, 10_000_000
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        if roof(middle, D, F, peak, bandwidth) < peak:
            low = middle
        else:
            high = middle
    return high


def delay(small, large, peak, bandwidth):
    later = exact(small, small, peak, bandwidth)
    return f"{later / exact(large, large, peak, bandwidth):.2f} times"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        ax.plot(batches, [roof(B, size, size, peak, bandwidth) for B in batches], label=size)
    ax.set(xlabel="batch", ylabel="FLOP/s")
    ax.legend()
