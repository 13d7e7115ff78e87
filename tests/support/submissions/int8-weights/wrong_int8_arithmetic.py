"""The arithmetic taken to speed up with the weights; bits for bytes."""

EXPECT = {"critical-batch-limit": "bits-for-bytes", "speedup": "int8-arithmetic"}


def critical_batch_limit(peak, bandwidth):
    bits = 8
    return bits * peak / (2 * bandwidth)


def speedup(B, D, F, peak, bandwidth):
    arithmetic = 2 * B * D * F / peak
    activations = 2 * B * (D + F)
    slow = max(arithmetic, (activations + 2 * D * F) / bandwidth)
    return slow / max(arithmetic / 2, (activations + D * F) / bandwidth)
