"""Exact fractions from the digits as printed; the prefix is the unit's first letter."""

from fractions import Fraction

POWER = {"B": 0, "G": 9, "T": 12, "P": 15}


def base(printed, unit):
    bits = 8 if "bit" in unit else 1
    return Fraction(str(printed)) * 10 ** POWER[unit[0]] / bits


def dense_peak(printed, unit, sparse):
    return base(printed, unit) * (Fraction(1, 2) if sparse else 1)


def one_way_bandwidth(printed, unit, both_ways):
    return base(printed, unit) * (Fraction(1, 2) if both_ways else 1)


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    return dense_peak(peak, peak_unit, sparse) / base(bandwidth, bandwidth_unit)
