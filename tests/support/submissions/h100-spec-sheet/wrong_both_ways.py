"""Both directions of a link; memory is not touched by it."""

EXPECT = {"one-way-bandwidth": "both-ways"}


def one_way_bandwidth(printed, unit, both_ways):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 0.125e9}[unit]
