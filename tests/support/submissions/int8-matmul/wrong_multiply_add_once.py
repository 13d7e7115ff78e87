"""A multiply-add counted as one operation."""

EXPECT = {
    "operations": "multiply-add-once",
    "intensity": "a-factor-of-two",
    "times": "multiply-add-once",
    "bounds": "multiply-add-once",
}


def operations(B, D, F):
    return B * D * F
