"""Prints, warns and uses names of its own; the values are right."""

import warnings

ELEMENT = 1  # bytes


def traffic(rows, inner, columns):
    print("counting", rows, inner, columns)
    return ELEMENT * (rows * inner + inner * columns), ELEMENT * rows * columns


def bytes_moved(B, D, F):
    warnings.warn("this is only the least traffic", stacklevel=1)
    return traffic(B, D, F)


def operations(B, D, F):
    multiplications = additions = B * D * F
    return multiplications + additions


intensity = lambda B, D, F: operations(B, D, F) / sum(traffic(B, D, F))  # noqa: E731


class Bounds(tuple):
    pass


def bounds(B, D, F, peak, bandwidth):
    arithmetic = operations(B, D, F) / peak
    moving = sum(traffic(B, D, F)) / bandwidth
    return Bounds(((arithmetic if arithmetic > moving else moving), arithmetic + moving))
