"""Exact fractions; pairs as lists."""

from fractions import Fraction


def bytes_moved(B, D, F):
    return [Fraction(B * D + D * F), Fraction(B * F)]


def operations(B, D, F):
    return Fraction(2 * B * D * F)


def intensity(B, D, F):
    return 2 / (Fraction(1, F) + Fraction(1, B) + Fraction(1, D))


def intensity_small_batch(B, D, F):
    return Fraction(2 * B)


def critical_batch(peak, bandwidth):
    return Fraction(peak) / Fraction(bandwidth) / 2


def times(B, D, F, peak, bandwidth):
    return [
        Fraction(2 * B * D * F) / Fraction(peak),
        Fraction(B * D + D * F + B * F) / Fraction(bandwidth),
    ]


def bounds(B, D, F, peak, bandwidth):
    both = times(B, D, F, peak, bandwidth)
    return [max(both), sum(both)]
