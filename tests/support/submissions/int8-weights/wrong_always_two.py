"""Half the bytes, so twice as fast; and the gain counted twice in the batch."""

EXPECT = {"critical-batch-limit": "gained-twice", "speedup": "always-two"}


def critical_batch_limit(peak, bandwidth):
    return peak / bandwidth / 4


def speedup(B, D, F, peak, bandwidth):
    return 2.0
