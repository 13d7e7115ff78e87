"""Collectives among N chips: the bytes that each chip sends, one way.

In each step around a ring, every chip passes one Nth of the array to the next chip. Reduce-scatter
and all-gather take N - 1 steps each, and an all-reduce is one followed by the other. No algorithm
in which only chips add sends fewer bytes. Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce
algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009.

A switch can add, too: then each chip sends its array once and receives the sum once, however many
chips there are. Source: Klenk et al., "An In-Network Architecture for Accelerating Shared-Memory
Multiprocessor Collectives", ISCA 2020. Only an all-reduce gets shorter: in the other two, a chip
sends or receives as much as on a ring.

`size` is the number of bytes of the whole array, zero or above: each chip holds it before a
reduction or after a gather. `N` is the number of chips, a whole number; a single chip sends
nothing. Both may be arrays that broadcast. Errors name the invalid argument.
"""

from __future__ import annotations

from rooflib._arguments import Number, Size, broadcastable, flag, non_negative, smaller, whole


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


def all_reduce(size: Size, N: Size, *, in_switch: bool = False) -> Number:
    """Return the bytes each chip sends in an all-reduce: a sum on every chip.

    With `in_switch`, a switch adds up the arrays.

    >>> all_reduce(1000, N=4), all_reduce(1000, N=4, in_switch=True)
    (1500.0, 1000)
    """
    on_a_ring = 2 * reduce_scatter(size, N)
    return smaller(size, on_a_ring) if flag("in_switch", in_switch) else on_a_ring


def spared(size: Size, N: Size) -> Number:
    """Return by how many bytes an all-reduce in a switch is shorter than one on a ring."""
    return all_reduce(size, N) - all_reduce(size, N, in_switch=True)


def ring_steps(N: Size, passes: int = 1) -> Number:
    """Return how many sequential messages a chip sends; an all-reduce has two passes."""
    return passes * (whole("N", N) - 1)
