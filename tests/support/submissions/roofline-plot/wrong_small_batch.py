"""The small-batch limit, so that both sizes lie on one line."""

EXPECT = {
    "attainable": "limit-for-exact",
    "ceiling-batch": "limit-for-exact",
    "delay": "no-delay",
    "figure": "limit-for-exact",
}


def attainable(B, D, F, peak, bandwidth):
    return min(peak, 2 * B * bandwidth)


def ceiling_batch(D, F, peak, bandwidth):
    return peak / bandwidth / 2
