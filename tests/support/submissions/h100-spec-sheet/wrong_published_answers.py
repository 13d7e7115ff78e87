"""Answers typed in from the question; tokens for bytes; the square; one chip's answer for all."""

EXPECT = {
    "dense-peak": None,
    "one-way-bandwidth": None,
    "critical-batch": None,
    "critical-batches": "raised",
    "enough-on": "int8-weights",
}


def peak_of(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)


def bytes_of(printed, unit):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]


def batch_of(sheet):
    compute = peak_of(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
    return compute / bytes_of(sheet["bandwidth"], sheet["bandwidth_unit"])


BATCHES = {sheet["name"]: round(batch_of(sheet)) for sheet in sheets}  # noqa: F821


def dense_peak(printed, unit, sparse):
    """In TFLOP/s, whatever the unit of the sheet."""
    return peak_of(printed, unit, sparse) / 1e12


def one_way_bandwidth(printed, unit, both_ways):
    """kB taken for GB."""
    factor = {"B/s": 1, "GB/s": 1e6, "TB/s": 1e9, "Gbit/s": 1e6 / 8}[unit]
    return printed * factor / (1 + both_ways)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    """With D and F of an ordinary size."""
    ridge = peak_of(peak, peak_unit, sparse) / bytes_of(bandwidth, bandwidth_unit)
    return ridge / (1 - ridge * (1 / 16384 + 1 / 16384))


def critical_batches(sheets):
    return {sheet["name"]: BATCHES[sheet["name"]] for sheet in sheets}


def enough_on(sheets, sequences, length):
    """Two bytes for each token."""
    return [sheet["name"] for sheet in sheets if 2 * sequences * length > batch_of(sheet)]
