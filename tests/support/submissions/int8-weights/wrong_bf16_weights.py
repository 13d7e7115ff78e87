"""Weights counted as bf16."""

import math

EXPECT = {
    "intensity": "bf16-weights",
    "critical-batch-limit": "ridge-itself",
    "critical-batch": "bf16-weights",
}


def intensity(B, D, F):
    return B * D * F / (B * D + D * F + B * F)


def critical_batch_limit(peak, bandwidth):
    return peak / bandwidth


def critical_batch(D, F, peak, bandwidth):
    room = 1 - peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / room if room > 0 else math.inf
