"""Answers to exercise 5 with a variable for each quantity; see `slips`."""


def dense_peak(printed, unit, sparse):
    tera = 1e12  #
    peta = 1e15  #
    skipped = 2  # doubled
    factor = {"TFLOP/s": tera, "PFLOP/s": peta}[unit]  # prefixes-swapped
    return printed * factor / (skipped if sparse else 1)  # condition-turned-round


def one_way_bandwidth(printed, unit, both_ways):
    giga = 1e9  #
    tera = 1e12  #
    bits = 8  # bits-for-bytes
    ways = 2  # both-ways
    factor = {"B/s": 1, "GB/s": giga, "TB/s": tera, "Gbit/s": giga / bits}[unit]  # bits-for-bytes
    return printed * factor / (ways if both_ways else 1)  # condition-turned-round, both-ways


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    per_product = 2  # int8-weights
    width = 2  # int8-weights
    compute = dense_peak(peak, peak_unit, sparse)  #
    memory = one_way_bandwidth(bandwidth, bandwidth_unit, both_ways=False)  #
    return compute / memory * width / per_product  # int8-weights
