"""numpy over all sheets at once; numpy scalars as values; names as a set."""

import numpy as np

SCALE = {"TFLOP/s": 1e12, "PFLOP/s": 1e15, "B/s": 1.0, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1.25e8}


def dense_peak(printed, unit, sparse):
    return np.float64(printed) * SCALE[unit] * np.where(sparse, 0.5, 1.0)


def one_way_bandwidth(printed, unit, both_ways):
    return np.float64(printed) * SCALE[unit] / (np.int8(both_ways) + 1)


def critical_batches(sheets):
    compute = np.array([dense_peak(s["peak"], s["peak_unit"], s["sparse"]) for s in sheets])
    memory = np.array(
        [one_way_bandwidth(s["bandwidth"], s["bandwidth_unit"], False) for s in sheets]
    )
    return dict(zip([s["name"] for s in sheets], compute / memory, strict=True))


def enough_on(sheets, sequences, length):
    return {name for name, batch in critical_batches(sheets).items() if sequences * length > batch}
