"""Bits only as they are; sparse twice; a fixed prefix for memory; dictionaries; the sheets."""

EXPECT = {
    "dense-peak": None,
    "one-way-bandwidth": "prefix-ignored",
    "critical-batch": "one-prefix-for-all",
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
    return peak_of(printed, unit, sparse) / (1 + sparse)


def one_way_bandwidth(printed, unit, both_ways):
    """`dict.get` for a unit that was forgotten."""
    factors = {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12}
    return printed * factors.get(unit, 1) / (1 + both_ways)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    """Prefixes of both in a fixed number, which the H100's sheet has."""
    return peak * 1e12 / (1 + sparse) / (bandwidth * 1e12)


def critical_batches(sheets):
    return {sheet["name"]: {"batch": batch_of(sheet)} for sheet in sheets}


def enough_on(sheets, sequences, length):
    return [sheet for sheet in sheets if sequences * length > batch_of(sheet)]
