"""A half that is a quarter; whole numbers only; the loop ends too early; sheets taken out."""

EXPECT = {
    "dense-peak": None,
    "one-way-bandwidth": "binary-prefix",
    "critical-batch": None,
    "critical-batches": "wrong-keys",
    "enough-on": "changed-inputs",
}


def peak_of(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)


def bytes_of(printed, unit):
    return printed * {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]


def batch_of(sheet):
    compute = peak_of(sheet["peak"], sheet["peak_unit"], sheet["sparse"])
    return compute / bytes_of(sheet["bandwidth"], sheet["bandwidth_unit"])


def dense_peak(printed, unit, sparse):
    """`int` of the printed figure."""
    return peak_of(int(printed), unit, sparse)


def one_way_bandwidth(printed, unit, both_ways):
    """1,024 for bytes, 1,000 for bits."""
    factor = {"B/s": 1, "GB/s": 1024**3, "TB/s": 1024**4, "Gbit/s": 1e9 / 8}[unit]
    return printed * factor / (1 + both_ways)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    """A power of two is a better batch."""
    batch = 1
    while batch < peak_of(peak, peak_unit, sparse) / bytes_of(bandwidth, bandwidth_unit):
        batch *= 2
    return batch


def critical_batches(sheets):
    return {sheet["name"]: batch_of(sheet) for sheet in sheets[:-1]}


def enough_on(sheets, sequences, length):
    found = []
    while sheets:
        sheet = sheets.pop()
        if sequences * length > batch_of(sheet):
            found.append(sheet["name"])
    return found
