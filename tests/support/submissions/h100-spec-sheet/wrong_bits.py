"""Bits for bytes, and a doubled peak; the batches halve a sparse peak on their own."""

EXPECT = {
    "dense-peak": "doubled",
    "one-way-bandwidth": "bits-for-bytes",
    "critical-batch": "bits-for-bytes",
    "critical-batches": "bits-for-bytes",
    "enough-on": "bits-for-bytes",
}


def dense_peak(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] * (2 if sparse else 1)


def one_way_bandwidth(printed, unit, both_ways):
    scale = {"B": 1, "G": 1e9, "T": 1e12}[unit[0]]
    return printed * scale / (2 if both_ways else 1)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    compute = peak * {"T": 1e12, "P": 1e15}[peak_unit[0]] * (0.5 if sparse else 1)
    return compute / one_way_bandwidth(bandwidth, bandwidth_unit, False)
