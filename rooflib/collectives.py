"""Collectives on a ring of N chips: the bytes that each chip sends, one way.

Around a ring, every step passes one Nth of the array to the next chip. Reduce-scatter and
all-gather take N - 1 steps each, and an all-reduce is one after the other. No algorithm sends
fewer bytes. Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", J. Parallel Distrib. Comput. 69(2), 2009.

`size` is the bytes of the whole array: what each chip holds before a reduction, and after a
gathering; zero or above. `N` is the number of chips, a whole number; with one chip nothing is
sent. Both may be arrays, which broadcast; a bad argument is an error that names it.
"""

from __future__ import annotations

from typing import overload

from rooflib._arguments import Number, Size, check_shapes, non_negative, whole


@overload
def reduce_scatter(size: float, N: float) -> float: ...
@overload
def reduce_scatter(size: Size, N: Size) -> Number: ...
def reduce_scatter(size: Size, N: Size) -> Number:
    """Bytes each chip sends so that N partial sums become one sum, an Nth of it per chip.

    >>> reduce_scatter(1000, N=4)
    750.0
    """
    size, N = non_negative("size", size), whole("N", N)
    check_shapes({"size": size, "N": N})
    return size * (N - 1) / N


@overload
def all_gather(size: float, N: float) -> float: ...
@overload
def all_gather(size: Size, N: Size) -> Number: ...
def all_gather(size: Size, N: Size) -> Number:
    """Bytes each chip sends so that an array held in N parts is whole on every chip."""
    return reduce_scatter(size, N)


@overload
def all_reduce(size: float, N: float) -> float: ...
@overload
def all_reduce(size: Size, N: Size) -> Number: ...
def all_reduce(size: Size, N: Size) -> Number:
    """Bytes each chip sends so that N partial sums become one sum, whole on every chip."""
    return 2 * reduce_scatter(size, N)


def ring_steps(N: Size, passes: int = 1) -> Number:
    """Messages that each chip sends one after another: an all-reduce passes the ring twice."""
    return passes * (whole("N", N) - 1)
