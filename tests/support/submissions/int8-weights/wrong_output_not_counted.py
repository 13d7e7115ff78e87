"""The output is not counted."""

EXPECT = {
    "intensity": "output-not-counted",
    "critical-batch": "output-not-counted",
    "speedup": "output-not-counted",
}


def intensity(B, D, F):
    return 2 * B * F / (2 * B + F)


def critical_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    return ridge / (2 - 2 * ridge / F) if ridge < F else float("inf")


def speedup(B, D, F, peak, bandwidth):
    arithmetic = 2 * B * D * F / peak
    slow = max(arithmetic, (2 * B * D + 2 * D * F) / bandwidth)
    return slow / max(arithmetic, (2 * B * D + D * F) / bandwidth)
