"""Fractions, and whole numbers for the batches."""

import math
from fractions import Fraction


def intensity(B, D, F):
    return Fraction(2 * B * D * F, 2 * B * (D + F) + D * F)


def critical_batch_limit(peak, bandwidth):
    return math.ceil(Fraction(peak) / Fraction(bandwidth) / 2)


def critical_batch(D, F, peak, bandwidth):
    ridge = Fraction(peak) / Fraction(bandwidth)
    room = D * F - ridge * (D + F)
    if room <= 0:
        return math.inf
    return round(ridge * D * F / (2 * room))


def speedup(B, D, F, peak, bandwidth):
    arithmetic = Fraction(2 * B * D * F) / Fraction(peak)
    times = []
    for weight in (2, 1):
        moved = 2 * B * D + weight * D * F + 2 * B * F
        times.append(max(arithmetic, Fraction(moved) / Fraction(bandwidth)))
    return times[0] / times[1]
