"""The limit where the exact value is asked, and the other way round."""

EXPECT = {"intensity": "limit-for-exact", "intensity-small-batch": "exact-for-limit"}


def intensity(B, D, F):
    return 2 * B


def intensity_small_batch(B, D, F):
    return 2 * B * D * F / (B * D + D * F + B * F)
