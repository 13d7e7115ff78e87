"""Peaks kept by number, links by number; every figure halved; the sheets changed; "none"."""

EXPECT = {
    "one-way-bandwidth": "both-ways",
    "critical-batch": "sparse-for-dense",
    "critical-batches": "changed-inputs",
    "enough-on": None,
}

known = {}


def peak_of(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)


def bytes_of(printed, unit):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]


def batch_of(sheet):
    compute = peak_of(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
    return compute / bytes_of(sheet["bandwidth"], sheet["bandwidth_unit"])


def one_way_bandwidth(printed, unit, both_ways):
    """Only links in GB/s are halved."""
    value = bytes_of(printed, unit)
    if unit == "GB/s" and both_ways:
        value /= 2
    return value


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    memory = bytes_of(bandwidth, bandwidth_unit) / (1 + sparse)
    return peak_of(peak, peak_unit, sparse) / memory


def critical_batches(sheets):
    for sheet in sheets:
        if sheet["sparse"]:
            sheet["peak"] /= 2
    return {sheet["name"]: batch_of(sheet | {"sparse": False}) for sheet in sheets}


def enough_on(sheets, sequences, length):
    found = [sheet["name"] for sheet in sheets if sequences * length > batch_of(sheet)]
    return found if found else ["none"]
