"""The lower bound is the shorter time, and the intensity is upside down."""

EXPECT = {"bounds": "shorter-of-the-two", "intensity": "upside-down"}


def intensity(B, D, F):
    return sum(bytes_moved(B, D, F)) / operations(B, D, F)  # noqa: F821


def bounds(B, D, F, peak, bandwidth):
    both = times(B, D, F, peak, bandwidth)  # noqa: F821
    return min(both), sum(both)
