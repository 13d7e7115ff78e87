"""Links in Gbit/s are taken as one way."""

EXPECT = {"one-way-bandwidth": "both-ways"}


def one_way_bandwidth(printed, unit, both_ways):
    if unit == "Gbit/s":
        return printed * 1e9 / 8
    value = printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12}[unit]
    return value / 2 if both_ways else value
