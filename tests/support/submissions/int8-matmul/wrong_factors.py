"""KiB for bytes; a result that is too large for its type; an intensity rounded to two digits."""

import numpy as np

EXPECT = {"bytes-moved": None, "operations": None, "intensity": None}


def bytes_moved(B, D, F):
    return (B * D + D * F) / 1024, B * F / 1024


def operations(B, D, F):
    return np.prod(np.array([2, B, D, F], dtype=np.int32), dtype=np.int32)


def intensity(B, D, F):
    return round(2 / (1 / B + 1 / D + 1 / F), 2)


def times(B, D, F, peak, bandwidth):
    return 2 * B * D * F / peak, (B * D + D * F + B * F) / bandwidth
