"""Peta and tera swapped; bits times eight; memory halved like a link; a list; a shared batch."""

EXPECT = {
    "dense-peak": "prefixes-swapped",
    "one-way-bandwidth": None,
    "critical-batch": None,
    "critical-batches": "wrong-form",
    "enough-on": "shared-among-chips",
}


def peak_of(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)


def bytes_of(printed, unit):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]


def dense_peak(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e15, "PFLOP/s": 1e12}[unit] / (1 + sparse)


def one_way_bandwidth(printed, unit, both_ways):
    factor = {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 8e9}[unit]
    return printed * factor / (2 if both_ways else 1)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    return peak_of(peak, peak_unit, sparse) / (bytes_of(bandwidth, bandwidth_unit) / 2)


def batch_of(sheet):
    compute = peak_of(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
    return compute / bytes_of(sheet["bandwidth"], sheet["bandwidth_unit"])


def critical_batches(sheets):
    return [batch_of(sheet) for sheet in sheets]


def enough_on(sheets, sequences, length):
    each = sequences * length / len(sheets)
    return [sheet["name"] for sheet in sheets if each > batch_of(sheet)]
