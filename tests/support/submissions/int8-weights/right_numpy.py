"""numpy throughout: where, errstate, scalars of numpy's types."""

import numpy as np

WIDTHS = np.array([2, 1, 2])


def elements(B, D, F):
    return np.array([B * D, D * F, B * F], dtype=float)


def intensity(B, D, F):
    return 2 * np.prod([float(B), D, F]) / (WIDTHS @ elements(B, D, F))


def critical_batch_limit(peak, bandwidth):
    return np.float64(peak) / (2 * bandwidth)


def critical_batch(D, F, peak, bandwidth):
    ridge = np.float64(peak) / bandwidth
    with np.errstate(divide="ignore"):
        room = 1 - ridge * (1 / np.float64(D) + 1 / np.float64(F))
        return np.where(room > 0, ridge / (2 * room), np.inf)


def speedup(B, D, F, peak, bandwidth):
    arithmetic = 2.0 * B * D * F / peak
    widths = np.array([[2, 2, 2], [2, 1, 2]])
    slow, fast = np.maximum(arithmetic, widths @ elements(B, D, F) / bandwidth)
    return slow / fast
