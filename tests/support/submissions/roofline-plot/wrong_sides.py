"""Sides compared instead of batches, and the sign not looked at."""

EXPECT = {"ceiling-batch": "no-infinity", "delay": "ratio-of-sides"}


def ceiling_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    return ridge / (2 - 2 * ridge * (1 / D + 1 / F))


def delay(small, large, peak, bandwidth):
    return large / small
