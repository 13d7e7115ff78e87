"""Rounded to whole tera, to int32, to hundreds, to one digit; one name as a text."""

import numpy as np

EXPECT = {
    "dense-peak": None,
    "one-way-bandwidth": None,
    "critical-batch": None,
    "critical-batches": None,
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
    return round(peak_of(printed, unit, sparse) / 1e12) * 1e12


def one_way_bandwidth(printed, unit, both_ways):
    value = np.int64(bytes_of(printed, unit) / (1 + both_ways))
    return value.astype(np.int32)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    batch = peak_of(peak, peak_unit, sparse) / bytes_of(bandwidth, bandwidth_unit)
    return round(batch, -2)


def critical_batches(sheets):
    return {sheet["name"]: float(f"{batch_of(sheet):.0e}") for sheet in sheets}


def enough_on(sheets, sequences, length):
    return ", ".join(s["name"] for s in sheets if sequences * length > batch_of(s))
