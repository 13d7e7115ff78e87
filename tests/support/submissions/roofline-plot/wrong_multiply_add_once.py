"""A multiply-add counted as one FLOP."""

EXPECT = {"attainable": "multiply-add-once", "figure": "multiply-add-once"}


def attainable(B, D, F, peak, bandwidth):
    return min(peak, B * D * F / (2 * B * D + D * F + 2 * B * F) * bandwidth)
