"""Halved where it should not be; a text for the batch; kept results; names of the first sheet."""

EXPECT = {
    "dense-peak": "condition-turned-round",
    "one-way-bandwidth": "both-ways-doubled",
    "critical-batch": "not-a-number",
    "critical-batches": "changing",
    "enough-on": None,
}


def peak_of(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)


def bytes_of(printed, unit):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]


def batch_of(sheet):
    compute = peak_of(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
    return compute / bytes_of(sheet["bandwidth"], sheet["bandwidth_unit"])


def dense_peak(printed, unit, sparse):
    peak = peak_of(printed, unit, False)
    if not sparse:
        peak = peak / 2
    return peak


def one_way_bandwidth(printed, unit, both_ways):
    value = bytes_of(printed, unit)
    return value * 2 if both_ways else value


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    batch = peak_of(peak, peak_unit, sparse) / bytes_of(bandwidth, bandwidth_unit)
    return f"{batch:.0f} tokens"


def critical_batches(sheets, result={}):  # noqa: B006
    for sheet in sheets:
        result[sheet["name"]] = batch_of(sheet)
    return result


def enough_on(sheets, sequences, length):
    for sheet in sheets:
        if sequences * length > batch_of(sheet):
            return [sheet["name"]]
    return []
