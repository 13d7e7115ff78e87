"""Two bytes for an int8."""

EXPECT = {
    "bytes-moved": "two-bytes-for-int8",
    "intensity": "a-factor-of-two",
    "times": "two-bytes-for-int8",
    "bounds": "two-bytes-for-int8",
}


def bytes_moved(B, D, F):
    return 2 * (B * D + D * F), 2 * B * F
