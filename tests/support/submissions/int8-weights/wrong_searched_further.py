"""Batches are tried up to ten thousand; the chip of the notebook; one digit after the point."""

import math

EXPECT = {"intensity": None, "critical-batch-limit": None, "critical-batch": None, "speedup": None}


def ridge():
    return peak / bandwidth  # noqa: F821


def exact(B, D, F):
    return 2 * B * D * F / (2 * B * D + D * F + 2 * B * F)


def intensity(B, D, F):
    return round(exact(B, D, F), 1)


def critical_batch_limit(peak, bandwidth):
    return ridge() / 2


def critical_batch(D, F, peak, bandwidth):
    B = 1.0
    while B < 10_000:
        if exact(B, D, F) >= peak / bandwidth:
            return B
        B *= 1.005
    return math.inf


def speedup(B, D, F, peak, bandwidth):
    arithmetic, activations = 2 * B * D * F / (ridge() * bandwidth), 2 * B * (D + F)
    slow = max(arithmetic, (activations + 2 * D * F) / bandwidth)
    return slow / max(arithmetic, (activations + D * F) / bandwidth)
