"""Times added."""

EXPECT = {"attainable": "no-overlap", "figure": "no-overlap"}


def attainable(B, D, F, peak, bandwidth):
    flops = 2 * B * D * F
    return flops / (flops / peak + (2 * B * D + D * F + 2 * B * F) / bandwidth)
