"""Weights counted as bf16. The quotient of the two batches is right by luck."""

import math

EXPECT = {
    "attainable": "bf16-weights",
    "ceiling-batch": "bf16-weights",
    "figure": "bf16-weights",
}


def attainable(B, D, F, peak, bandwidth):
    return min(peak, B * D * F / (B * D + D * F + B * F) * bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    room = 1 - peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf
