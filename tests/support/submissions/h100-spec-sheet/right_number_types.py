"""Decimals, an array of no dimension, numbers of a type of one's own, and a view of keys."""

from decimal import Decimal

import numpy as np

ZEROS = {"": 0, "G": 9, "T": 12, "P": 15}


class Quantity:
    """A number with its unit, as packages for units have it."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def __float__(self):
        return float(self.value)


def dense_peak(printed, unit, sparse):
    peak = Decimal(str(printed)).scaleb(ZEROS[unit.removesuffix("FLOP/s")])
    return peak / 2 if sparse else peak


def one_way_bandwidth(printed, unit, both_ways):
    size = "bit/s" if unit.endswith("bit/s") else "B/s"
    value = np.array(printed * 10.0 ** ZEROS[unit.removesuffix(size)])
    value /= 8 if size == "bit/s" else 1
    return np.where(both_ways, value / 2, value)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    compute = float(dense_peak(peak, peak_unit, sparse))
    return Quantity(compute / one_way_bandwidth(bandwidth, bandwidth_unit, False), "tokens")


def critical_batches(sheets):
    batches = {}
    for name, *entries in (sheet.values() for sheet in sheets):
        batches[np.str_(name)] = np.longdouble(float(critical_batch(*entries)))
    return batches


def enough_on(sheets, sequences, length):
    tokens = sequences * length
    return {name: 1 for name, batch in critical_batches(sheets).items() if batch <= tokens}.keys()
