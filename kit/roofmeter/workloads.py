"""What is measured: the roofs of a machine, and operations of the course under them.

Each workload is a `Figure` still without samples, and a function that runs it. Bytes are those that
the program asks for. A processor that writes to a cache line it has not read must load the line
first (write-allocate); the roofs avoid this hidden traffic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from roofmeter.figures import Figure
from roofmeter.machine import Floats, ThreadPool, Work, blas, random_floats, repeated, split

Workload: TypeAlias = tuple[Figure, Work]
Workloads: TypeAlias = Iterator[Workload]

TYPES = {"fp32": np.float32, "fp64": np.float64}
PEAK_SIDES = (2048, 1024)
"""Matrix sizes tried for the peak."""
LARGE_SIDE, ITS_THREADS = 3072, 4
"""One more with at least so many threads; with two it would only take six seconds more."""
MAX_ROW = 4096
"""Longest row in the staircase, in elements: OpenBLAS parallelizes longer dot products."""
STACKED_SIDES = (16, 24, 32, 48, 64, 96, 128, 256)
"""Sizes of the small square matmuls."""
MAX_UNSHARED_MULTIPLY_ADDS = 2**18
"""OpenBLAS parallelizes matmuls with more multiply-adds than this. Those are measured both ways: by
several threads with a single-threaded BLAS, and by one thread with a parallel BLAS."""
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
ROW_BY_ROW_BATCHES = (2, 4, 8)
"""Batch sizes that are also multiplied one row at a time."""
BLOCK_ROWS = 16
"""Rows of an RMS norm whose intermediate results stay in the cache."""
POLYNOMIAL_DEGREE = 16


def roofs(store: Floats, pool: ThreadPool) -> Workloads:
    """Yield what every run needs; of two with the same key, the better one counts."""
    for kind in TYPES:
        for side in (*PEAK_SIDES, *([LARGE_SIDE] if pool.threads >= ITS_THREADS else [])):
            yield peak(kind, side, pool)
    parts = split([store], pool.threads)
    whole = float(sum(part.nbytes for (part,) in parts))
    # `max` would read as well, but on some processors numpy's loop for it reaches a seventh less
    # bandwidth than C, and its multiplication by −1 a sixth less. These two equal C.
    read = Figure("read", "dot product of an array with itself", "B/s", whole, pool.threads)
    yield replace(read, footprint=whole), pool.work(lambda a: np.dot(a, a), parts)
    update = replace(read, key="update", what="array negated, in place", amount=2 * whole)
    yield replace(update, footprint=whole), pool.work(lambda a: np.negative(a, a), parts)


def peak(kind: str, side: int, pool: ThreadPool) -> Workload:
    """Return a square matmul in fp32 or fp64."""
    shape = (side, side)
    x, w = (random_floats(side * side).reshape(shape).astype(TYPES[kind]) for _ in "xw")
    what = f"matmul, {side:,} × {side:,}"
    figure = Figure(f"peak {kind}", what, "FLOP/s", 2.0 * side**3, pool.threads)
    return figure, repeated(partial(np.matmul, x, w, np.empty_like(x)))


def others(store: Floats, pool: ThreadPool) -> Workloads:
    """Yield all other workloads, the most needed in chapters/machine.md first.

    The length of the array `store` is a power of two.
    """
    a, b, out = (np.ones(1, np.float32) for _ in range(3))
    yield (
        Figure("call", "sum of two single numbers", "s", 1, 1),
        repeated(partial(np.add, a, b, out)),
    )
    yield from staircase(store, pool)
    for batch in BATCHES:
        yield small_batch_matmul(store, pool, batch)
    for rows in ROW_BY_ROW_BATCHES:
        yield small_batch_matmul(store, pool, rows, row_by_row=True)
    yield small_batch_matmul(store, pool, 1, same_weights=True)
    for side in STACKED_SIDES:
        yield stacked_matmuls(store, pool, side)
        if side**3 > MAX_UNSHARED_MULTIPLY_ADDS:
            yield stacked_matmuls(store, pool, side, one_thread=True)
    yield from streams(store, pool)
    a, b = equal_slices(store, 2)
    what = f"a · b, {len(a):,} elements"
    figure = operation("dot", what, pool.threads, "dot", 2 * a.nbytes, N=len(a), x="fp32")
    yield figure, repeated(partial(np.dot, a, b))
    yield from rms_norms(store, pool)
    yield matmul_per_example(store, pool)
    yield polynomial(store, pool)
    yield decode_attention(store, pool)
    again, work = peak("fp32", PEAK_SIDES[0], pool)
    yield replace(again, key="peak again"), work


def staircase(store: Floats, pool: ThreadPool) -> Workloads:
    """Yield repeated reads of arrays from 16 KiB per thread up to the whole array `store`.

    The dot products loop over rows inside numpy: a call from Python takes as long as reading the
    first cache.
    """
    size = 2**14
    while size * pool.threads <= store.nbytes:
        half, times = size // 8, max(1, 2**24 // size)
        rows, row = max(1, half // MAX_ROW), min(MAX_ROW, half)
        parts = []
        for (part,) in split([store], pool.threads):
            halves = part[:half], part[half : 2 * half]
            a, b = (np.broadcast_to(one.reshape(rows, row), (times, rows, row)) for one in halves)
            parts.append((a, b, np.empty((times, rows), np.float32)))
        whole = size * pool.threads
        what = f"dot products over {size // 1024:,} KiB a thread"
        figure = Figure(f"cache {whole}", what, "B/s", float(whole * times), pool.threads)
        work = pool.work(lambda a, b, out: np.vecdot(a, b, out), parts)
        yield replace(figure, footprint=whole), work
        size *= 2


def small_batch_matmul(
    store: Floats, pool: ThreadPool, B: int, row_by_row: bool = False, same_weights: bool = False
) -> Workload:
    """Return x[B, D] · w[D, F] in fp32 with new weights in each pass, as in a model of many layers.

    `row_by_row` multiplies one row at a time, with the matrix-vector routine of the BLAS.
    `same_weights` uses the same weights in every pass.
    """
    width = weight_width(store)
    weights = store.reshape(-1, width, width)
    weights = weights[:1] if same_weights else weights
    x = store[: B * width].reshape(B, width).copy()
    out, layers = np.empty((B, width), np.float32), itertools.cycle(weights)
    rows, results = (x[:, None], out[:, None]) if row_by_row else (x, out)
    how = ", a row at a time" if row_by_row else ", same weights" if same_weights else ""
    what = f"x[{B}, {width:,}] · w[{width:,}, {width:,}]{how}"
    roof = f"cache {weights.nbytes}" if same_weights else "read"
    sizes: dict[str, Any] = {"B": B, "D": width, "F": width, "x": "fp32"}
    key, moved = f"thin {B}{how}", weights.nbytes
    figure = operation(key, what, pool.threads, "matmul", moved, roof, **sizes)
    return figure, repeated(lambda: np.matmul(rows, next(layers), out=results))


def stacked_matmuls(
    store: Floats, pool: ThreadPool, side: int, one_thread: bool = False
) -> Workload:
    """Return as many n × n matmuls as fit into the array `store`, divided among the threads.

    With `one_thread`, a single thread computes all of them, and the BLAS parallelizes each.
    """
    pieces = 1 if one_thread else pool.threads
    thirds = equal_slices(store, 3)
    count = len(thirds[0]) // side**2 // pieces * pieces
    shape = (pieces, count // pieces, side, side)
    parts = list(zip(*(a[: count * side**2].reshape(shape) for a in thirds), strict=True))
    multiply = pool.work(lambda x, w, out: np.matmul(x, w, out), parts)

    def work(repeats: int) -> None:
        with nullcontext() if one_thread else blas().limit(limits=1):
            multiply(repeats)

    # Counted by hand: `matmul_per_example` has only one row per weight matrix.
    flops, moved = 2.0 * side**3 * count, 12.0 * side**2 * count
    sizes: dict[str, Any] = {"flops": flops, "bytes": moved, "compute": "fp32"}
    key, what = f"stack {side}", f"{count:,} matmuls, {side} × {side}"
    return operation(key, what, pool.threads, "operation", moved, **sizes), work


def streams(store: Floats, pool: ThreadPool) -> Workloads:
    """Yield copy, scale and add as in the STREAM benchmark: they write what they did not read."""
    yield elementwise("copy", "b = a", lambda a, b: np.copyto(b, a), store, pool, 1, 0)
    yield elementwise("scale", "b = −a", lambda a, b: np.negative(a, b), store, pool, 1, 1)
    yield elementwise("add", "c = a + b", lambda a, b, c: np.add(a, b, c), store, pool, 2, 1)


def polynomial(store: Floats, pool: ThreadPool) -> Workload:
    """Return a polynomial by Horner's rule, in which each operation covers the whole array."""

    def horner(x: Floats, y: Floats) -> None:
        y[:] = 1
        for _ in range(POLYNOMIAL_DEGREE):
            np.multiply(y, x, out=y)
            np.add(y, np.float32(1), out=y)

    what = f"polynomial of degree {POLYNOMIAL_DEGREE}, array by array"
    quarter = store[: len(store) // 4]
    return elementwise("polynomial", what, horner, quarter, pool, 1, 2 * POLYNOMIAL_DEGREE)


def elementwise(
    key: str,
    what: str,
    one: Callable[..., object],
    store: Floats,
    pool: ThreadPool,
    inputs: int,
    flops: int,
) -> Workload:
    """Return work of so many FLOPs on each element of `inputs` arrays, written to one more."""
    parts = split(equal_slices(store, inputs + 1), pool.threads)
    size = sum(len(first) for first, *_ in parts)
    sizes: dict[str, Any] = {"N": size, "inputs": inputs, "flops_per_element": flops, "x": "fp32"}
    moved = nbytes(parts)
    figure = operation(key, what, pool.threads, "elementwise", moved, "update", **sizes)
    return figure, pool.work(one, parts)


def rms_norms(store: Floats, pool: ThreadPool) -> Workloads:
    """Yield RMS norm: on whole arrays with one thread, in blocks with all."""
    x, out = (part.reshape(-1, weight_width(store)) for part in equal_slices(store, 2))
    x, out = x[: len(x) // 4], out[: len(x) // 4]
    gain = random_floats(x.shape[1])

    def plain(x: Floats, out: Floats) -> None:
        out[:] = x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6)) * gain

    def blocked(x: Floats, out: Floats) -> None:
        for i in range(0, len(x), BLOCK_ROWS):
            plain(x[i : i + BLOCK_ROWS], out[i : i + BLOCK_ROWS])

    rows: dict[str, Any] = {"B": len(x), "D": x.shape[1], "x": "fp32"}
    pieces = list(zip(*(np.array_split(a, pool.threads) for a in (x, out)), strict=True))
    for key, how, threads, parts, work in (
        (
            "norm plain",
            "array by array, one thread",
            1,
            [(x, out)],
            repeated(partial(plain, x, out)),
        ),
        ("norm blocked", "in blocks of rows", pool.threads, pieces, pool.work(blocked, pieces)),
    ):
        what = f"RMS norm of {len(x):,} rows, {how}"
        yield operation(key, what, threads, "rms_norm", nbytes(parts), "update", **rows), work


def matmul_per_example(store: Floats, pool: ThreadPool) -> Workload:
    """Return x[B, D] · w[B, D, F]: one weight matrix per row."""
    width = weight_width(store)
    w = store.reshape(-1, width, width)
    B = len(w)
    x, out = store[: B * width].reshape(B, 1, width).copy(), np.empty((B, 1, width), np.float32)
    what = f"x[{B}, {width:,}] · w[{B}, {width:,}, {width:,}]"
    sizes: dict[str, Any] = {"B": B, "D": width, "F": width, "x": "fp32"}
    key, counted = "per example", "matmul_per_example"
    figure = operation(key, what, pool.threads, counted, w.nbytes, **sizes)
    return figure, repeated(partial(np.matmul, x, w, out))


def decode_attention(store: Floats, pool: ThreadPool) -> Workload:
    """Return a decode step of attention with 32 query heads and 8 key heads, 128 wide."""
    N, K, H = 32, 8, 128
    S = min(8192, len(store) // (2 * K * H))
    B = min(4, len(store) // (2 * K * H * S))
    k, v = (half[: B * K * S * H].reshape(B, K, S, H) for half in np.split(store, 2))
    q = store[: B * N * H].reshape(B, K, N // K, H).copy()

    def step() -> None:
        scores = np.matmul(q, k.transpose(0, 1, 3, 2))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        np.matmul(shares / shares.sum(axis=-1, keepdims=True), v)

    what = f"attention, {B} × {S:,} positions"
    sizes: dict[str, Any] = {
        "B": B,
        "T": 1,
        "S": S,
        "N": N,
        "K": K,
        "H": H,
        "x": "fp32",
        "softmax": False,
    }
    return operation("decode", what, pool.threads, "attention", 2 * k.nbytes, **sizes), repeated(
        step
    )


def operation(
    key: str,
    what: str,
    threads: int,
    counted: str,
    footprint: float,
    roof: str = "read",
    **sizes: Any,
) -> Figure:
    """Return the figure of an operation that rooflib's function `counted` counts."""
    return Figure(key, what, "s", 1, threads, (), float(footprint), counted, sizes, roof)


def nbytes(parts: Sequence[Any]) -> float:
    return float(sum(array.nbytes for part in parts for array in part))


def weight_width(store: Floats) -> int:
    """Return the largest D = F, a power of two, at which `store` holds 8 matrices."""
    return 1 << (math.isqrt(len(store) // 8).bit_length() - 1)


def equal_slices(store: Floats, arrays: int) -> list[Floats]:
    """Return `arrays` equal slices of `store`, each of whole cache lines."""
    return list(itertools.chain(*split([store], arrays)))
