"""A table of one's own with rows and columns; recursion; match; a sheet list sorted in place."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

Row = namedtuple("Row", "name peak peak_unit sparse bandwidth bandwidth_unit")


@dataclass(frozen=True)
class Table:
    rows: tuple

    def column(self, name):
        return [getattr(row, name) for row in self.rows]


def dense_peak(printed, unit, sparse):
    match unit, bool(sparse):
        case "PFLOP/s", _:
            return dense_peak(1_000 * printed, "TFLOP/s", sparse)
        case _, True:
            return dense_peak(printed, unit, False) * 0.5
        case "TFLOP/s", False:
            return printed * 1e12


def one_way_bandwidth(printed, unit, both_ways=False):
    steps = {"TB/s": ("GB/s", 1000), "Gbit/s": ("GB/s", 0.125), "GB/s": ("B/s", 1e9)}
    if both_ways:
        printed *= 0.5
    if unit == "B/s":
        return printed
    smaller, factor = steps[unit]
    return one_way_bandwidth(printed * factor, smaller)


def critical_batches(sheets):
    sheets.sort(key=lambda sheet: sheet["name"])
    table = Table(tuple(Row(**sheet) for sheet in sheets))
    batches = OrderedDict()
    for row in table.rows:
        peak = dense_peak(row.peak, row.peak_unit, row.sparse)
        batches[row.name] = round(peak / one_way_bandwidth(row.bandwidth, row.bandwidth_unit))
    return MappingProxyType(batches)


def enough_on(sheets, sequences, length):
    names, batches = np.array([*critical_batches(sheets).items()], dtype=object).T
    return names[sequences * length > batches].astype(str)
