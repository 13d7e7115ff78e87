"""The work of one row."""

EXPECT = {"operations": "batch-left-out", "intensity": None, "times": None, "bounds": None}


def operations(B, D, F):
    return 2 * D * F
