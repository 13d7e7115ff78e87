"""Workloads: operations of the course in numpy, compared with measured roofs.

Each names the rooflib function that counts it, with its sizes, and the bandwidth that bounds it:
"read" if it mostly loads, "update" if it writes as much as it loads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from roofmeter.kernels import Probe
from roofmeter.load_monitor import Work
from roofmeter.threads import (
    Floats,
    ThreadPool,
    blas_can_be_limited,
    blas_threads,
    random_floats,
    split,
)

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


def workloads(store: Floats, pool: ThreadPool) -> Iterator[Probe]:
    """Yield a probe for every workload, the most needed in chapters/machine.md first.

    The length of the array `store` is a power of two.
    """
    for batch in BATCHES:
        yield small_batch_matmul(store, pool, batch)
    for rows in ROW_BY_ROW_BATCHES:
        yield small_batch_matmul(store, pool, rows, row_by_row=True)
    yield small_batch_matmul(store, pool, 1, same_weights=True)
    for side in STACKED_SIDES:
        if side**3 <= MAX_UNSHARED_MULTIPLY_ADDS or blas_can_be_limited():
            yield stacked_matmuls(store, pool, side)
        if side**3 > MAX_UNSHARED_MULTIPLY_ADDS:
            yield stacked_matmuls(store, pool, side, one_thread=True)
    yield from streams(store, pool)
    yield dot_product(store, pool)
    yield from rms_norms(store, pool)
    yield matmul_per_example(store, pool)
    yield polynomial(store, pool)
    yield decode_attention(store, pool)


def small_batch_matmul(
    store: Floats, pool: ThreadPool, B: int, row_by_row: bool = False, same_weights: bool = False
) -> Probe:
    """Return a probe of x[B, D] · w[D, F] in fp32, with new weights in each pass.

    A model with many layers does the same. `row_by_row` multiplies one row at a time, with the
    matrix-vector routine of the BLAS. `same_weights` uses the same weights in every pass.
    """
    width = _weight_width(store)
    sizes = {"B": B, "D": width, "F": width, "x": "fp32"}
    weights = store.reshape(-1, width, width)
    weights = weights[:1] if same_weights else weights

    def make() -> Work:
        x = np.ascontiguousarray(store[: B * width].reshape(B, width))
        out, layers = np.empty((B, width), np.float32), itertools.cycle(weights)
        rows, results = (x[:, None], out[:, None]) if row_by_row else (x, out)

        def work(repeats: int) -> None:
            for _ in range(repeats):
                np.matmul(rows, next(layers), out=results)

        return work

    how = ", a row at a time" if row_by_row else ", same weights" if same_weights else ""
    key, what = f"thin {B}{how}", f"x[{B}, {width:,}] · w[{width:,}, {width:,}]{how}"
    roof = f"cache {weights.nbytes}" if same_weights else "read"
    return _probe(key, what, make, pool.threads, "matmul", sizes, weights.nbytes, roof)


def stacked_matmuls(store: Floats, pool: ThreadPool, side: int, one_thread: bool = False) -> Probe:
    """Return a probe of as many n × n matmuls as fit into the array `store`.

    The matmuls are divided among the threads. With `one_thread`, a single thread computes all of
    them, and the BLAS parallelizes each.
    """
    pieces = 1 if one_thread else pool.threads
    count = len(_equal_slices(store, 3)[0]) // side**2 // pieces * pieces
    arrays = [a[: count * side**2] for a in _equal_slices(store, 3)]
    stacks = [a.reshape(pieces, count // pieces, side, side) for a in arrays]
    parts = list(zip(*stacks, strict=True))

    def make() -> Work:
        def work(repeats: int) -> None:
            with blas_threads(1) if pieces > 1 else nullcontext():
                pool.run(lambda x, w, out: np.matmul(x, w, out=out), repeats, parts)

        return work

    # Counted by hand: `matmul_per_example` has only one row per weight matrix.
    sizes = {"flops": 2.0 * side**3 * count, "bytes": 12.0 * side**2 * count, "compute": "fp32"}
    what = f"{count:,} matmuls, {side} × {side}"
    return _probe(f"stack {side}", what, make, pool.threads, "operation", sizes, sizes["bytes"])


def streams(store: Floats, pool: ThreadPool) -> Iterator[Probe]:
    """Yield probes of copy, scale and add as in the STREAM benchmark.

    They write arrays that they did not read.
    """
    kernels: list[tuple[str, str, int, int, Callable[..., object]]] = [
        ("copy", "b = a", 1, 0, lambda a, b: np.copyto(b, a)),
        ("scale", "b = −a", 1, 1, lambda a, b: np.negative(a, out=b)),
        ("add", "c = a + b", 2, 1, lambda a, b, c: np.add(a, b, out=c)),
    ]
    for key, what, inputs, flops, work in kernels:
        parts = _slices_by_thread(store, pool, inputs + 1)
        size = sum(len(first) for first, *_ in parts)
        sizes = {"N": size, "inputs": inputs, "flops_per_element": flops, "x": "fp32"}
        yield _parallel_probe(key, what, work, parts, pool, "elementwise", sizes, "update")


def dot_product(store: Floats, pool: ThreadPool) -> Probe:
    """Return a probe of the dot product of two long vectors."""
    a, b = _equal_slices(store, 2)

    def make() -> Work:
        def work(repeats: int) -> None:
            for _ in range(repeats):
                np.dot(a, b)

        return work

    sizes = {"N": len(a), "x": "fp32"}
    return _probe(
        "dot", f"a · b, {len(a):,} elements", make, pool.threads, "dot", sizes, a.nbytes * 2
    )


def rms_norms(store: Floats, pool: ThreadPool) -> Iterator[Probe]:
    """Yield probes of RMS norm: on whole arrays with one thread, in blocks with all."""
    x, out = (part.reshape(-1, _weight_width(store)) for part in _equal_slices(store, 2))
    x, out = x[: len(x) // 4], out[: len(x) // 4]
    gain = random_floats(x.shape[1])

    def plain(x: Floats, out: Floats) -> None:
        out[:] = x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6)) * gain

    def blocked(x: Floats, out: Floats) -> None:
        for i in range(0, len(x), BLOCK_ROWS):
            block = slice(i, i + BLOCK_ROWS)
            plain(x[block], out[block])

    sizes = {"B": len(x), "D": x.shape[1], "x": "fp32"}
    what = f"RMS norm of {len(x):,} rows"
    single = ThreadPool(1)
    pieces = list(zip(*(np.array_split(a, pool.threads) for a in (x, out)), strict=True))
    for key, how, work, parts, by in (
        ("norm plain", "array by array, one thread", plain, [(x, out)], single),
        ("norm blocked", "in blocks of rows", blocked, pieces, pool),
    ):
        yield _parallel_probe(key, f"{what}, {how}", work, parts, by, "rms_norm", sizes, "update")


def matmul_per_example(store: Floats, pool: ThreadPool) -> Probe:
    """Return a probe of x[B, D] · w[B, D, F]: one weight matrix per row."""
    width = _weight_width(store)
    w = store.reshape(-1, width, width)
    B = len(w)

    def make() -> Work:
        x, out = store[: B * width].reshape(B, 1, width).copy(), np.empty((B, 1, width), np.float32)
        return lambda repeats: pool.run(lambda: np.matmul(x, w, out=out), repeats, [()])

    sizes = {"B": B, "D": width, "F": width, "x": "fp32"}
    what = f"x[{B}, {width:,}] · w[{B}, {width:,}, {width:,}]"
    return _probe("per example", what, make, pool.threads, "matmul_per_example", sizes, w.nbytes)


def polynomial(store: Floats, pool: ThreadPool) -> Probe:
    """Return a probe of a polynomial by Horner's rule.

    Each operation covers the whole array.
    """
    parts = _slices_by_thread(store[: len(store) // 4], pool, 2)

    def horner(x: Floats, y: Floats) -> None:
        y[:] = 1
        for _ in range(POLYNOMIAL_DEGREE):
            np.multiply(y, x, out=y)
            np.add(y, np.float32(1), out=y)

    size = sum(len(first) for first, *_ in parts)
    sizes = {"N": size, "inputs": 1, "flops_per_element": 2 * POLYNOMIAL_DEGREE, "x": "fp32"}
    what = f"polynomial of degree {POLYNOMIAL_DEGREE}, array by array"
    return _parallel_probe("polynomial", what, horner, parts, pool, "elementwise", sizes, "update")


def decode_attention(store: Floats, pool: ThreadPool) -> Probe:
    """Return a probe of a decode step of attention.

    It has 32 query heads, 8 key heads and head width 128.
    """
    N, K, H = 32, 8, 128
    S = min(8192, len(store) // (2 * K * H))
    B = min(4, len(store) // (2 * K * H * S))
    k, v = (half[: B * K * S * H].reshape(B, K, S, H) for half in np.split(store, 2))

    def make() -> Work:
        q = store[: B * N * H].reshape(B, K, N // K, H).copy()

        def step() -> None:
            scores = np.matmul(q, k.transpose(0, 1, 3, 2))
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            np.matmul(shares / shares.sum(axis=-1, keepdims=True), v)

        def work(repeats: int) -> None:
            for _ in range(repeats):
                step()

        return work

    sizes = {"B": B, "T": 1, "S": S, "N": N, "K": K, "H": H, "x": "fp32", "softmax": False}
    what = f"attention, {B} × {S:,} positions"
    return _probe("decode", what, make, pool.threads, "attention", sizes, k.nbytes + v.nbytes)


def _weight_width(store: Floats) -> int:
    """Return the largest D = F, a power of two, at which `store` holds 8 matrices."""
    return 1 << (math.isqrt(len(store) // 8).bit_length() - 1)


def _slices_by_thread(store: Floats, pool: ThreadPool, arrays: int) -> list[tuple[Floats, ...]]:
    return split(_equal_slices(store, arrays), pool.threads)


def _equal_slices(store: Floats, arrays: int) -> list[Floats]:
    """Return `arrays` equal slices of `store`, each of whole cache lines."""
    step = len(store) // arrays // 16 * 16
    return [store[i * step : (i + 1) * step] for i in range(arrays)]


def _parallel_probe(
    key: str,
    what: str,
    work: Callable[..., object],
    parts: list[Any],
    pool: ThreadPool,
    operation: str,
    sizes: Mapping[str, Any],
    roof: str,
) -> Probe:
    whole = float(sum(array.nbytes for part in parts for array in part))

    def make() -> Work:
        return lambda repeats: pool.run(work, repeats, parts)

    return _probe(key, what, make, pool.threads, operation, sizes, whole, roof)


def _probe(
    key: str,
    what: str,
    make: Callable[[], Work],
    threads: int,
    operation: str,
    sizes: Mapping[str, Any],
    footprint: Any,
    roof: str = "read",
) -> Probe:
    whole = float(footprint)
    return Probe(key, what, "s", 1, threads, make, False, whole, operation, sizes, roof)
