"""Traffic alone, in the values and in the figure that is built on them."""

EXPECT = {"attainable": "no-ceiling", "figure": "no-ceiling"}


def attainable(B, D, F, peak, bandwidth):
    return 2 * B * D * F / (2 * B * D + D * F + 2 * B * F) * bandwidth
