"""numpy scalars and arrays, one of them of no dimension."""

import numpy as np


def bytes_moved(B, D, F):
    return np.array([B * D + D * F, B * F], dtype=np.int64)


def operations(B, D, F):
    return np.prod(np.array([2, B, D, F], dtype=np.float64))


def intensity(B, D, F):
    return np.asarray(operations(B, D, F) / bytes_moved(B, D, F).sum())


def intensity_small_batch(B, D, F):
    return np.int32(2) * np.int64(B)


def critical_batch(peak, bandwidth):
    return np.float32(peak / bandwidth / 2)


def times(B, D, F, peak, bandwidth):
    return np.array([operations(B, D, F) / peak, bytes_moved(B, D, F).sum() / bandwidth])


def bounds(B, D, F, peak, bandwidth):
    both = times(B, D, F, peak, bandwidth)
    return np.array([both.max(), both.sum()])
