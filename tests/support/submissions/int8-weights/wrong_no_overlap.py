"""Times added, and ratios upside down."""

EXPECT = {"intensity": "upside-down", "speedup": "no-overlap"}


def intensity(B, D, F):
    return (2 * B * D + D * F + 2 * B * F) / (2 * B * D * F)


def speedup(B, D, F, peak, bandwidth):
    arithmetic = 2 * B * D * F / peak
    activations = 2 * B * (D + F)
    slow = arithmetic + (activations + 2 * D * F) / bandwidth
    return slow / (arithmetic + (activations + D * F) / bandwidth)
