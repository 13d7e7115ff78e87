"""Figures as printed, prefixes ignored; the batches know the prefixes, but not the bits."""

EXPECT = {
    "dense-peak": "prefix-ignored",
    "one-way-bandwidth": "prefix-ignored",
    "critical-batch": "bits-for-bytes",
    "critical-batches": "bits-for-bytes",
    "enough-on": "bits-for-bytes",
}


def dense_peak(printed, unit, sparse):
    return printed / 2 if sparse else printed


def one_way_bandwidth(printed, unit, both_ways):
    return printed / 2 if both_ways else printed


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    power = {"B": 1, "G": 1e9, "T": 1e12, "P": 1e15}
    compute = dense_peak(peak, peak_unit, sparse) * power[peak_unit[0]]
    return compute / (bandwidth * power[bandwidth_unit[0]])
