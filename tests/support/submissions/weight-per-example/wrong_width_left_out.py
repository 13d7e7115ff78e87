"""The width of an element is left out, and the limit taken for the exact value."""

EXPECT = {
    "intensity": "large-limit-for-exact",
    "intensity-limit": "width-left-out",
    "compute-bound-chips": "width-left-out",
}


def intensity(B, D, F):
    return 2


def intensity_limit(B, bytes_per_element):
    return 2.0
