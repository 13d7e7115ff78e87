"""Pairs the wrong way round."""

EXPECT = {"bytes-moved": "swapped", "times": "swapped", "bounds": "swapped"}


def bytes_moved(B, D, F):
    return B * F, B * D + D * F


def times(B, D, F, peak, bandwidth):
    return (B * D + D * F + B * F) / bandwidth, 2 * B * D * F / peak


def bounds(B, D, F, peak, bandwidth):
    both = times(B, D, F, peak, bandwidth)
    return sum(both), max(both)
