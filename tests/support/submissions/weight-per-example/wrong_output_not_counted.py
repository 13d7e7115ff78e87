"""The output is not counted."""

EXPECT = {"bytes-moved": "output-not-counted", "intensity": "output-not-counted"}


def bytes_moved(B, D, F):
    return B * D + B * D * F
