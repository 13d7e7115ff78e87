"""The output is not counted, and all that builds on it follows."""

EXPECT = {
    "bytes-moved": "output-not-counted",
    "intensity": "output-not-counted",
    "times": "output-not-counted",
    "bounds": "output-not-counted",
}


def bytes_moved(B, D, F):
    return B * D + D * F, 0
