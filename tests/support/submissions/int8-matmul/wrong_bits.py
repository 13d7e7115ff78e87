"""Bits for bytes. No turn is named in the last part, and no points are given."""

EXPECT = {
    "bytes-moved": "bits-for-bytes",
    "intensity": "bits-for-bytes",
    "times": "bits-for-bytes",
    "bounds": None,
}


def bytes_moved(B, D, F):
    bits = 8
    return bits * (B * D + D * F), bits * B * F
