"""Solved for B, and the sign not looked at."""

EXPECT = {"critical-batch": "no-infinity"}


def critical_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    return ridge * D * F / (2 * D * F - 2 * ridge * (D + F))
