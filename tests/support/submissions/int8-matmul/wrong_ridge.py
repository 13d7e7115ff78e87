"""The critical intensity instead of the batch."""

EXPECT = {"critical-batch": "ridge-itself"}


def critical_batch(peak, bandwidth):
    return peak / bandwidth
