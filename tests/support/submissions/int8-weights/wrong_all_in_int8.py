"""All operands counted as int8."""

import math

EXPECT = {
    "intensity": "all-in-int8",
    "critical-batch": "all-in-int8",
    "speedup": "all-in-int8",
}


def intensity(B, D, F):
    return 2 * B * D * F / (B * D + D * F + B * F)


def critical_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    room = 2 - ridge * (1 / D + 1 / F)
    return ridge / room if room > 0 else math.inf


def speedup(B, D, F, peak, bandwidth):
    arithmetic = 2 * B * D * F / peak
    moving = (B * D + D * F + B * F) / bandwidth
    return max(arithmetic, 2 * moving) / max(arithmetic, moving)
