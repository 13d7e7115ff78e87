"""The critical batch of weights with one byte."""

EXPECT = {
    "critical-batch": "int8-weights",
    "critical-batches": "int8-weights",
    "enough-on": "int8-weights",
}


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    compute = dense_peak(peak, peak_unit, sparse)  # noqa: F821
    return compute / one_way_bandwidth(bandwidth, bandwidth_unit, False) / 2  # noqa: F821
