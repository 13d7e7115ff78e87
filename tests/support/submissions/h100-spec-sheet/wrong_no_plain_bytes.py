"""The table of units lacks the one without a prefix."""

EXPECT = {
    "one-way-bandwidth": "raised",
    "critical-batch": "raised",
    "critical-batches": "raised",
    "enough-on": "raised",
}


def one_way_bandwidth(printed, unit, both_ways):
    return printed * {"GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 0.125e9}[unit] / (1 + both_ways)
