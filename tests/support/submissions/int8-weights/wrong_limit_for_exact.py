"""The small-batch limit everywhere."""

EXPECT = {"intensity": "limit-for-exact", "critical-batch": "limit-for-exact"}


def intensity(B, D, F):
    return 2 * B


def critical_batch(D, F, peak, bandwidth):
    return peak / bandwidth / 2
