"""Prefixes as powers of two; a ratio upside down; each part counts for itself, bits as bytes."""

EXPECT = {
    "one-way-bandwidth": "binary-prefix",
    "critical-batch": None,
    "critical-batches": "bits-for-bytes",
    "enough-on": "bits-for-bytes",
}

POWER = {"B": 1, "G": 1e9, "T": 1e12, "P": 1e15}


def one_way_bandwidth(printed, unit, both_ways):
    scale = {"B/s": 1, "GB/s": 2**30, "TB/s": 2**40, "Gbit/s": 2**30 / 8}[unit]
    return printed * scale / (2 if both_ways else 1)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    memory = bandwidth * POWER[bandwidth_unit[0]]
    return memory / dense_peak(peak, peak_unit, sparse)  # noqa: F821


def critical_batches(sheets):
    return {
        s["name"]: dense_peak(s["peak"], s["peak_unit"], s["sparse"])  # noqa: F821
        / (s["bandwidth"] * POWER[s["bandwidth_unit"][0]])
        for s in sheets
    }
