"""Fractions, and a quotient rounded up by hand."""

from fractions import Fraction


def bytes_sent(size, N):
    return 2 * Fraction(size) * (1 - Fraction(1, N))


def times(B, D, F, N, peak, link):
    return Fraction(2 * B * D * F, N) / Fraction(peak), bytes_sent(2 * B * F, N) / Fraction(link)


def first_depth(N, peak, link):
    return -(Fraction(-2 * (N - 1)) * Fraction(peak) // Fraction(link))


def speedup(B, D, F, N, peak, bandwidth, link):
    def lower(chips):
        moved = Fraction(2 * (B * D + D * F), chips) + 2 * B * F
        return max(*times(B, D, F, chips, peak, link), moved / Fraction(bandwidth))

    return lower(1) / lower(N)


def all_reduce_time(size, N, link, delay):
    return 2 * (N - 1) * (Fraction(delay) + Fraction(size) / N / Fraction(link))


def equal_size(N, link, delay):
    return Fraction(link) * Fraction(delay) * N
