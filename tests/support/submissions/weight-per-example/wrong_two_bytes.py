"""Two bytes for an int8."""

EXPECT = {"bytes-moved": "two-bytes-for-int8", "intensity": "a-factor-of-two"}


def bytes_moved(B, D, F):
    return 2 * (B * D + B * D * F + B * F)
