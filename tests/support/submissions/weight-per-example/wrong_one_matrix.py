"""The batch left out of the weights."""

EXPECT = {"bytes-moved": "one-matrix-for-all", "intensity": "one-matrix-for-all"}


def bytes_moved(B, D, F):
    return B * D + D * F + B * F
