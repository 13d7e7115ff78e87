"""Kernels for the roofs: numpy's peak FLOP/s and its memory bandwidths.

A `Probe` describes one measurement: the amount of work in a pass, and a function that sets it up.
Bytes are those that the program asks for. A processor that writes to a cache line it has not read
must load the line first (write-allocate); the roof kernels avoid this hidden traffic.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roofmeter.load_monitor import Work
from roofmeter.threads import Floats, ThreadPool, random_floats, split

PEAK_SIDES, LARGEST_SIDE_MIN_THREADS = (2048, 1024, 3072), 4
"""Matrix sizes tried for the peak. The last one is tried only with at least this many threads: with
two, the smaller sizes already reach the peak, and the last one would take six seconds."""
MAX_ROW = 4096
"""Maximum row length in the staircase, in elements: OpenBLAS parallelizes longer dot products."""
MAX_CACHED_BYTES = 2**22
"""Maximum footprint of work that a neighbor on the same memory does not slow down. With such a
neighbor, matmuls and cache reads kept 0.98 to 1.02 of their speed; memory reads took 1.5 times as
long."""
TYPES = {"fp32": np.float32, "fp64": np.float64}


@dataclass(frozen=True)
class Probe:
    """One measurement to take; fields named as in `Figure` have the same meaning."""

    key: str
    what: str
    unit: str
    amount: float
    threads: int
    make: Callable[[], Work]
    """Allocates the arrays and returns the work, so that only the running probe uses memory."""
    keeps_busy: bool
    """Whether each thread computes all the time, so that less CPU time indicates a disturbance."""
    footprint: float = 0.0
    operation: str = ""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    roof: str = ""


def spin(pool: ThreadPool) -> Work:
    """Return work that keeps every thread busy for 10 ms per pass."""

    def turn(array: Floats, end: float) -> None:
        while time.perf_counter() < end:
            np.negative(array, out=array)

    # Use long arrays, so that threads rarely contend for the GIL.
    arrays = [random_floats(2**20) for _ in range(pool.threads)]

    def work(repeats: int) -> None:
        end = time.perf_counter() + repeats / 100
        pool.run(turn, 1, [(array, end) for array in arrays])

    return work


def references(store: Floats, pool: ThreadPool) -> Mapping[str, Work]:
    """Return the reference workloads, "cores" and "memory".

    They are a small read from the L1 cache and one from memory. Neither is a matmul: OpenBLAS
    threads spin after one and would disturb the next sample.
    """
    cores = _cache_probe(store, pool, 2**14).make() if hasattr(np, "vecdot") else spin(pool)
    pieces = itertools.cycle(np.array_split(store, max(1, store.nbytes // 2**27)))

    def reading(repeats: int) -> None:
        for _ in range(repeats):  # another piece in each pass, so that it is in no cache
            pool.run(np.maximum.reduce, 1, split([next(pieces)], pool.threads))

    return {"cores": cores, "memory": reading}


def relevant_references(footprint: float) -> tuple[str, ...]:
    """Return the references that indicate slowdowns of work with this footprint."""
    return ("cores",) if footprint <= MAX_CACHED_BYTES else ("cores", "memory")


def peak_sides(threads: int) -> tuple[int, ...]:
    """Return the matrix sizes to try for the peak."""
    return PEAK_SIDES if threads >= LARGEST_SIDE_MIN_THREADS else PEAK_SIDES[:-1]


def peak(kind: str, side: int, threads: int) -> Probe:
    """Return a probe of a square matmul in fp32 or fp64: 2·side³ FLOPs."""

    def make() -> Work:
        x, w = (
            random_floats(side * side).reshape(side, side).astype(TYPES[kind]) for _ in range(2)
        )
        out = np.empty_like(x)
        return _repeat(lambda: np.matmul(x, w, out=out))

    what = f"matmul, {side:,} × {side:,}"
    return Probe(f"peak {kind}", what, "FLOP/s", 2.0 * side**3, threads, make, keeps_busy=True)


def read(store: Floats, pool: ThreadPool) -> Probe:
    """Return a probe of reading: the dot product of an array with itself.

    It loads every byte and writes none. `max` would do the same, but on some processors numpy's
    loop for it reaches a seventh less bandwidth than C; the BLAS's dot product equals C.
    """
    parts = split([store], pool.threads)

    def turn(a: Floats) -> None:
        np.dot(a, a)

    return _stream_probe("read", "dot product of an array with itself", 1, pool, turn, parts)


def update(store: Floats, pool: ThreadPool) -> Probe:
    """Return a probe of updating: the negation of an array in place.

    It loads and writes every byte, without hidden traffic. Multiplying by -1 would do the same, but
    numpy's loop for it reaches a sixth less bandwidth than C.
    """
    parts = split([store], pool.threads)

    def turn(a: Floats) -> None:
        np.negative(a, out=a)

    return _stream_probe("update", "array negated, in place", 2, pool, turn, parts)


def call(pool: ThreadPool) -> Probe:
    """Return a probe of a numpy call's overhead: adding two one-element arrays."""
    a, b, out = (np.ones(1, np.float32) for _ in range(3))

    def make() -> Work:
        def work(repeats: int) -> None:
            for _ in range(repeats):
                np.add(a, b, out=out)

        return work

    return Probe("call", "sum of two single numbers", "s", 1, 1, make, keeps_busy=True)


def staircase(store: Floats, pool: ThreadPool) -> Iterator[Probe]:
    """Yield probes of repeated reads of arrays of increasing size.

    The sizes go from 16 KiB per thread up to the whole array `store`. The dot products loop over
    rows inside numpy: a call from Python takes as long as reading the L1 cache.
    """
    if not hasattr(np, "vecdot"):  # numpy 1
        return
    size = 2**14
    while size * pool.threads <= store.nbytes:
        yield _cache_probe(store, pool, size)
        size *= 2


def _cache_probe(store: Floats, pool: ThreadPool, size: int) -> Probe:
    row = min(MAX_ROW, size // 8)
    rows, times = size // 8 // row, max(1, 2**24 // size)
    shape = (times, rows, row)
    pairs = [_halves(part, size) for (part,) in split([store], pool.threads)]

    def make() -> Work:
        parts = []
        for pair in pairs:
            a, b = (np.broadcast_to(half.reshape(rows, row), shape) for half in pair)
            parts.append((a, b, np.empty((times, rows), np.float32)))

        def work(repeats: int) -> None:
            pool.run(lambda a, b, out: np.vecdot(a, b, out=out), repeats, parts)

        return work

    whole = size * pool.threads
    what = f"dot products over {size // 1024:,} KiB a thread"
    return Probe(
        f"cache {whole}", what, "B/s", float(whole * times), pool.threads, make, True, whole
    )


def _halves(part: Floats, size: int) -> tuple[Floats, Floats]:
    half = size // 8
    return part[:half], part[half : 2 * half]


def _stream_probe(
    key: str,
    what: str,
    per_byte: int,
    pool: ThreadPool,
    work: Callable[..., object],
    parts: list[Any],
) -> Probe:
    whole = float(sum(array.nbytes for part in parts for array in part))

    def make() -> Work:
        return lambda repeats: pool.run(work, repeats, parts)

    return Probe(key, what, "B/s", per_byte * whole, pool.threads, make, True, whole)


def _repeat(once: Callable[[], object]) -> Work:
    def work(repeats: int) -> None:
        for _ in range(repeats):
            once()

    return work
