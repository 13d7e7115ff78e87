"""Steps instead of lines, small matrix first, legend texts given by hand, other names."""

import math


def roof(rows, d, f, c, w):
    intensity = 2 * rows * d * f / (2 * rows * d + d * f + 2 * rows * f)
    return min(c, intensity * w)


def attainable(B, D, F, peak, bandwidth):
    return roof(B, D, F, peak, bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    room = D * F - peak / bandwidth * (D + F)
    return math.inf if room <= 0 else math.ceil(peak / bandwidth / 2 * D * F / room)


def delay(small, large, peak, bandwidth):
    later, sooner = (ceiling_batch(side, side, peak, bandwidth) for side in (small, large))
    return later / sooner


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    order = sorted(sizes)
    lines = [
        ax.step(batches, [roof(B, side, side, peak, bandwidth) for B in batches])[0]
        for side in order
    ]
    ax.legend(lines, [f"D=F={side:,}" for side in order])
    ax.set(xlabel="B", ylabel="FLOP/s")
