"""Times in milliseconds; the bounds are built on them."""

EXPECT = {"times": "milliseconds", "bounds": "milliseconds"}


def times(B, D, F, peak, bandwidth):
    return 2e3 * B * D * F / peak, 1e3 * (B * D + D * F + B * F) / bandwidth
