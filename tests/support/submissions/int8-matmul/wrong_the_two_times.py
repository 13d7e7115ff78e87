"""The longer time taken for the upper bound; one addition less for each sum."""

EXPECT = {
    "bounds": "the-two-times",
    "operations": "one-addition-less",
    "intensity": None,
    "times": None,
}


def operations(B, D, F):
    return B * F * (D + D - 1)


def bounds(B, D, F, peak, bandwidth):
    math, comms = 2 * B * D * F / peak, (B * D + D * F + B * F) / bandwidth
    return min(math, comms), max(math, comms)
