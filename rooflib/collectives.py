"""Collectives on a ring of N chips: the bytes that each chip sends, one way.

In each step around a ring, every chip passes one Nth of the array to the next chip. Reduce-scatter
and all-gather take N - 1 steps each, and an all-reduce is one followed by the other. No algorithm
sends fewer bytes. Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters
of workstations", J. Parallel Distrib. Comput. 69(2), 2009.

`size` is the number of bytes of the whole array, zero or above: each chip holds it before a
reduction or after a gather. `N` is the number of chips, a whole number; a single chip sends
nothing. Both may be arrays that broadcast. Errors name the invalid argument.
"""

from __future__ import annotations

from rooflib._arguments import Number, Size, broadcastable, non_negative, whole


def reduce_scatter(size: Size, N: Size) -> Number:
    """Return the bytes each chip sends in a reduce-scatter.

    It sums N arrays, one per chip, and leaves each chip with an Nth of the sum.

    >>> reduce_scatter(1000, N=4)
    750.0
    """
    size, N = non_negative("size", size), whole("N", N)
    broadcastable({"size": size, "N": N})
    return size * (N - 1) / N


def all_gather(size: Size, N: Size) -> Number:
    """Return the bytes each chip sends in an all-gather of an array in N parts."""
    return reduce_scatter(size, N)


def all_reduce(size: Size, N: Size) -> Number:
    """Return the bytes each chip sends in an all-reduce: a sum on every chip."""
    return 2 * reduce_scatter(size, N)


def ring_steps(N: Size, passes: int = 1) -> Number:
    """Return how many sequential messages a chip sends; an all-reduce has two passes."""
    return passes * (whole("N", N) - 1)
