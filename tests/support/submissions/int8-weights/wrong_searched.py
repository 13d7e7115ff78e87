"""Whole batches are tried up to a limit, and none is said to be enough beyond it."""

import math

EXPECT = {"critical-batch": None}


def critical_batch(D, F, peak, bandwidth):
    for B in range(1, 2049):
        if intensity(B, D, F) >= peak / bandwidth:  # noqa: F821
            return B
    return math.inf
