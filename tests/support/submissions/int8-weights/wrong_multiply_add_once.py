"""A multiply-add counted as one FLOP."""

import math

EXPECT = {"intensity": "multiply-add-once", "critical-batch": "operations-or-peak"}


def intensity(B, D, F):
    return B * D * F / (2 * B * D + D * F + 2 * B * F)


def critical_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    room = 1 - 2 * ridge * (1 / D + 1 / F)
    return ridge / room if room > 0 else math.inf
