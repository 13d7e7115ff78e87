"""The units are not looked at: every peak in TFLOP/s, every bandwidth in GB/s."""

EXPECT = {"critical-batch": None, "critical-batches": None, "enough-on": None}


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    return peak * 1e12 / (2 if sparse else 1) / (bandwidth * 1e9)
