"""Pairs with a unit, a print, a function, pairs for a dictionary, a generator."""

EXPECT = {
    "dense-peak": "not-a-number",
    "one-way-bandwidth": "nothing",
    "critical-batch": "not-a-number",
    "critical-batches": "not-numbers",
    "enough-on": "not-names",
}


def peak_of(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)


def bytes_of(printed, unit):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]


def batch_of(sheet):
    compute = peak_of(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
    return compute / bytes_of(sheet["bandwidth"], sheet["bandwidth_unit"])


def dense_peak(printed, unit, sparse):
    return peak_of(printed, unit, sparse), "FLOP/s"


def one_way_bandwidth(printed, unit, both_ways):
    print(bytes_of(printed, unit) / (1 + both_ways))


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    return lambda: peak_of(peak, peak_unit, sparse) / bytes_of(bandwidth, bandwidth_unit)


def critical_batches(sheets):
    return [(sheet["name"], batch_of(sheet)) for sheet in sheets]


def enough_on(sheets, sequences, length):
    for sheet in sheets:
        if sequences * length > batch_of(sheet):
            yield sheet["name"]
