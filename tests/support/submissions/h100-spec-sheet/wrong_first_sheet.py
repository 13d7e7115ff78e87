"""`return` inside the loop; the other binary prefixes; the H100 alone; what remains of a table."""

EXPECT = {
    "dense-peak": "binary-prefix",
    "one-way-bandwidth": "nothing",
    "critical-batch": None,
    "critical-batches": "wrong-keys",
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
    factor = 2**40 if unit == "TFLOP/s" else 2**50
    return printed * factor / (2 if sparse else 1)


def one_way_bandwidth(printed, unit, both_ways):  # noqa: RET503
    factors = {"GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}
    if unit in factors:
        return printed * factors[unit] / (1 + both_ways)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    return peak_of(h100["peak"], h100["peak_unit"], h100["sparse"]) / bytes_of(  # noqa: F821
        h100["bandwidth"],  # noqa: F821
        h100["bandwidth_unit"],  # noqa: F821
    )


def critical_batches(sheets):  # noqa: RET503
    batches = {}
    for sheet in sheets:
        batches[sheet["name"]] = batch_of(sheet)
        return batches


def enough_on(sheets, sequences, length):
    return [i for i, sheet in enumerate(sheets) if sequences * length > batch_of(sheet)]
