"""rooflib's units and its DataPoint, which knows about sparse peaks and links both ways."""

import rooflib as rl
from rooflib.units import to_base


def dense_peak(printed, unit, sparse):
    source = rl.data_points()[0].source
    return rl.DataPoint("any", "peak bf16", printed, unit, source, sparse=sparse).value


def one_way_bandwidth(printed, unit, both_ways):
    return (to_base(printed, unit) if unit != "B/s" else printed) / (1 + both_ways)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    chip = rl.Chip(
        "sheet",
        {"bf16": dense_peak(peak, peak_unit, sparse)},
        one_way_bandwidth(bandwidth, bandwidth_unit, False),
        80e9,
    )
    return rl.critical_batch_limit(chip)
