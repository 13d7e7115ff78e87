"""A multiply-add counted as one operation."""

EXPECT = {
    "operations": "multiply-add-once",
    "intensity": "a-factor-of-two",
    "intensity-limit": "half-the-intensity",
    "compute-bound-chips": "multiply-add-once",
}


def operations(B, D, F):
    return B * D * F


def intensity_limit(B, bytes_per_element):
    return 1 / bytes_per_element
