"""Everything read as tera."""

EXPECT = {
    "dense-peak": "one-prefix-for-all",
    "one-way-bandwidth": "one-prefix-for-all",
    "critical-batch": "one-prefix-for-all",
    "critical-batches": "one-prefix-for-all",
    "enough-on": "one-prefix-for-all",
}


def dense_peak(printed, unit, sparse):
    return printed * 1e12 / (2 if sparse else 1)


def one_way_bandwidth(printed, unit, both_ways):
    return printed * 1e12 / (2 if both_ways else 1)
