"""Fractions, and the names as a sorted list in another order than handed in."""

from fractions import Fraction


def operations(B, D, F):
    return Fraction(2 * B * D * F)


def intensity(B, D, F):
    return 2 / (1 + Fraction(1, D) + Fraction(1, F))


def intensity_limit(B, bytes_per_element):
    return 2 / Fraction(bytes_per_element)


def compute_bound_chips(chips, bytes_per_element):
    limit = intensity_limit(1, bytes_per_element)
    able = filter(lambda name: Fraction(chips[name][0]) < limit * Fraction(chips[name][1]), chips)
    return sorted(able, reverse=True)
