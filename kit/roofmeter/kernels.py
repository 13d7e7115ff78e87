"""The roofs: what numpy reaches when it only multiplies, and when it only moves bytes.

A probe is what is measured once: what a pass of it does, and a function that makes its arrays.
Bytes are those that the program asks for. Where a line of memory is written that was not read,
the processor loads it first, and moves more than that: the roofs are kernels without this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roofmeter.team import Floats, Team, numbers, split
from roofmeter.watch import Work

SIDES, MANY = (2048, 1024, 3072), 4
"""Square matmuls that are tried for the peak, the last with so many threads or more: two reach
their best at less, and take a tenth of a minute for it."""
ROW = 4096
"""Longest row in the staircase, in elements: OpenBLAS shares out longer ones itself."""
CACHED = 2**22
"""Bytes up to which a figure is judged by the cores alone: beside a neighbor on the same memory
matmuls and caches kept their pace (0.98 to 1.02 of it), while reading took 1.5 times as long."""
TYPES = {"fp32": np.float32, "fp64": np.float64}


@dataclass(frozen=True)
class Probe:
    """What is to be measured; all but the last three as in `Figure`."""

    key: str
    what: str
    unit: str
    amount: float
    threads: int
    make: Callable[[], Work]
    """Makes the arrays and returns the work, so that only what runs takes memory."""
    keeps_busy: bool = False
    """Whether each thread computes all the time, so that less than its share is a disturbance."""
    footprint: float = 0.0
    operation: str = ""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    roof: str = ""


def spin(team: Team) -> Work:
    """Keep every thread busy, on fast cores and slow ones, for a hundredth of a second a pass."""

    def turn(array: Floats, end: float) -> None:
        while time.perf_counter() < end:
            np.multiply(array, np.float32(-1), out=array)

    # Long enough that threads seldom meet at Python's lock, where they would wait for each other.
    arrays = [numbers(2**20) for _ in range(team.threads)]

    def work(repeats: int) -> None:
        end = time.perf_counter() + repeats / 100
        team.each(turn, 1, [(array, end) for array in arrays])

    return work


def gauges(store: Floats, team: Team) -> Mapping[str, Work]:
    """A little work in the first cache, and a little reading: how fast the machine is just now.

    No matmul: the threads of OpenBLAS wait for the next one on their cores, in the way of others.
    """
    cores = _stair(store, team, 2**14).make() if hasattr(np, "vecdot") else spin(team)
    pieces, turn = np.array_split(store, max(1, store.nbytes // 2**27)), [0]

    def reading(repeats: int) -> None:
        for _ in range(repeats):  # each time what was not read for long, so that no cache holds it
            turn[0] = (turn[0] + 1) % len(pieces)
            team.each(np.maximum.reduce, 1, split([pieces[turn[0]]], team.threads))

    return {"cores": cores, "memory": reading}


def telling(footprint: float) -> tuple[str, ...]:
    """The gauges whose pace tells on work that passes over so many bytes."""
    return ("cores",) if footprint <= CACHED else ("cores", "memory")


def sides(threads: int) -> tuple[int, ...]:
    """Sides of the square matmuls of which the best is the peak."""
    return SIDES if threads >= MANY else SIDES[:-1]


def peak(kind: str, side: int, threads: int) -> Probe:
    """A square matmul in fp32 or fp64, 2·side³ FLOPs."""

    def make() -> Work:
        x, w = (numbers(side * side).reshape(side, side).astype(TYPES[kind]) for _ in range(2))
        out = np.empty_like(x)
        return _repeated(lambda: np.matmul(x, w, out=out))

    what = f"matmul, {side:,} × {side:,}"
    return Probe(f"peak {kind}", what, "FLOP/s", 2.0 * side**3, threads, make, keeps_busy=True)


def read(store: Floats, team: Team) -> Probe:
    """An array's dot product with itself: every byte is loaded, and none is written.

    Not its largest number: numpy's own loop for that moves a seventh less than C's on some
    processors, and the dot product of its BLAS as much.
    """
    parts = split([store], team.threads)

    def turn(a: Floats) -> None:
        np.dot(a, a)

    return _stream("read", "dot product of an array with itself", 1, team, turn, parts)


def update(store: Floats, team: Team) -> Probe:
    """An array negated where it lies: every byte is loaded and written, none in secret.

    Not multiplied by -1: numpy's loop for a product with one number moves a sixth less than C's.
    """
    parts = split([store], team.threads)

    def turn(a: Floats) -> None:
        np.negative(a, out=a)

    return _stream("update", "array negated, in place", 2, team, turn, parts)


def call(team: Team) -> Probe:
    """An addition of two single numbers: what starting numpy takes, and no more."""
    a, b, out = (np.ones(1, np.float32) for _ in range(3))

    def make() -> Work:
        def work(repeats: int) -> None:
            for _ in range(repeats):
                np.add(a, b, out=out)

        return work

    return Probe("call", "sum of two single numbers", "s", 1, 1, make, keeps_busy=True)


def staircase(store: Floats, team: Team) -> Iterator[Probe]:
    """Read arrays of 16 KiB a thread and more, again and again, up to all that there is.

    Dot products of rows, looped over inside numpy: a call in Python takes as long as reading the
    first cache.
    """
    if not hasattr(np, "vecdot"):  # numpy 1
        return
    size = 2**14
    while size * team.threads <= store.nbytes:
        yield _stair(store, team, size)
        size *= 2


def _stair(store: Floats, team: Team, size: int) -> Probe:
    row = min(ROW, size // 8)
    rows, times = size // 8 // row, max(1, 2**24 // size)
    shape = (times, rows, row)
    halves = [half for (part,) in split([store], team.threads) for half in _halves(part, size)]

    def make() -> Work:
        parts = []
        for i in range(team.threads):
            a, b = (np.broadcast_to(h.reshape(rows, row), shape) for h in halves[2 * i : 2 * i + 2])
            parts.append((a, b, np.empty((times, rows), np.float32)))

        def work(repeats: int) -> None:
            team.each(lambda a, b, out: np.vecdot(a, b, out=out), repeats, parts)

        return work

    whole = size * team.threads
    what = f"dot products over {size // 1024:,} KiB a thread"
    return Probe(
        f"cache {whole}", what, "B/s", float(whole * times), team.threads, make, True, whole
    )


def _halves(part: Floats, size: int) -> tuple[Floats, Floats]:
    half = size // 8
    return part[:half], part[half : 2 * half]


def _stream(
    key: str, what: str, per_byte: int, team: Team, work: Callable[..., object], parts: list[Any]
) -> Probe:
    whole = float(sum(array.nbytes for part in parts for array in part))

    def make() -> Work:
        return lambda repeats: team.each(work, repeats, parts)

    return Probe(key, what, "B/s", per_byte * whole, team.threads, make, True, whole)


def _repeated(once: Callable[[], object]) -> Work:
    def work(repeats: int) -> None:
        for _ in range(repeats):
            once()

    return work
