"""Bisection on the curve itself; Newton's way for the ceiling; Decimals; `functools.reduce`."""

import math
from functools import partial, reduce


def attainable(B, D, F, peak, bandwidth):
    weights, activations, outputs = D * F, 2 * B * D, 2 * B * F
    times = 2 * B * D * F / peak, (weights + activations + outputs) / bandwidth
    return 2 * reduce(lambda product, side: product * side, (B, D, F)) / max(times)


def ceiling_batch(D, F, peak, bandwidth):
    """Doubled until the peak is reached, then halved in between."""
    below = partial(lambda B: attainable(B, D, F, 10 * peak, bandwidth) < peak)
    if below(1e300 / D / F):
        return float("inf")
    low, high = 0.0, 1.0
    while below(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return high


def delay(*, small, large, peak, bandwidth):
    batches = {size: ceiling_batch(size, size, peak, bandwidth) for size in {small, large}}
    assert math.isfinite(sum(batches.values()))
    return batches[small] / batches[large]
