"""`"True"` for True; all units of bits by `in`; an array; a text for each; True for a name."""

import numpy as np

EXPECT = {
    "dense-peak": "sparse-for-dense",
    "one-way-bandwidth": None,
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
    factor = 1e12 if unit == "TFLOP/s" else 1e15
    return printed * factor / (2 if sparse == "True" else 1)


def one_way_bandwidth(printed, unit, both_ways):
    factor = {"B": 1, "G": 1e9, "T": 1e12}[unit[0]]
    if "b" in unit.lower():
        factor /= 8
    return printed * factor / (1 + both_ways)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    """An array with one entry."""
    compute = np.array([peak_of(peak, peak_unit, sparse)])
    return compute / bytes_of(bandwidth, bandwidth_unit)


def critical_batches(sheets):
    return {sheet["name"]: f"{batch_of(sheet):.1f} tokens" for sheet in sheets}


def enough_on(sheets, sequences, length):
    return [sequences * length > batch_of(sheet) for sheet in sheets]
