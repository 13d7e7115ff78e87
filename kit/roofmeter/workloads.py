"""What is measured: the roofs of a machine, and operations of the course under them.

Each workload is a `Figure` still without samples, and a function that runs it. Bytes are those that
the program asks for. A processor that writes to a cache line it has not read must load the line
first (write-allocate); the roofs avoid this hidden traffic.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from roofmeter.figures import Figure

Floats: TypeAlias = NDArray[np.float32]
Work: TypeAlias = Callable[[int], object]
"""A function that repeats its work as often as its argument says."""
Workload: TypeAlias = tuple[Figure, Work]

TYPES = {"fp32": np.float32, "fp64": np.float64}
CACHE_LINE_BYTES = 64
"""Size of a cache line; unaligned arrays are slower."""
STORE_SIZE = 2**28
"""Numbers in the array that all work shares: 1 GiB, several times the last cache of most."""
WIDTH = 4096
"""Of the weights of thin matmuls: the store holds 16 such matrices."""
PEAK_SIDE = 3072
"""Size of the square matmuls that find the peak."""
MAX_ROW = 4096
"""Longest row in the staircase, in elements: OpenBLAS parallelizes longer dot products."""
STACKED_SIDES = (16, 24, 32, 48, 64, 96, 128, 256)
"""Sizes of the small square matmuls."""
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
ROW_BY_ROW_BATCHES = (2, 4, 8)
"""Batch sizes that are also multiplied one row at a time."""
BLOCK_ROWS = 16
"""Rows of an RMS norm whose intermediate results stay in the cache."""
POLYNOMIAL_DEGREE = 16


def cores() -> list[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Threads(ThreadPoolExecutor):
    """Threads that run numpy in parallel: it releases the GIL inside its loops.

    Each thread stays on a core of its own. The scheduler would put two threads on one core for the
    first 10 ms after they wake up.
    """

    def __init__(self, count: int) -> None:
        free = cores()

        def stay_on_a_core() -> None:
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, {free.pop()})  # 0 is the calling thread

        super().__init__(count, "roofmeter", stay_on_a_core)
        self.count = count

    def work(self, one: Callable[..., object], parts: Sequence[Any]) -> Work:
        """Return work that calls `one(*part)` for each part, on one thread per part."""
        walks = [repeated(partial(one, *part)) for part in parts]
        return lambda repeats: list(self.map(lambda walk: walk(repeats), walks))


def repeated(one: Callable[[], object]) -> Work:
    """Return work that calls `one()` on the calling thread."""

    def run(repeats: int) -> None:
        for _ in range(repeats):
            one()

    return run


def random_floats(size: int) -> Floats:
    """Return an aligned array of `size` random fp32 numbers within ±0.5.

    Zeros would not do: untouched zero pages all map to one physical page, so they are read far too
    fast, and some processors multiply zeros with less power.
    """
    raw = np.empty(size * 4 + CACHE_LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE_BYTES
    array = raw[start : start + size * 4].view(np.float32)
    np.random.default_rng(size).random(dtype=np.float32, out=array)
    array -= np.float32(0.5)
    return array


def split(array: Floats, parts: int) -> list[Floats]:
    """Split an array into `parts` equal slices, each of whole cache lines."""
    step = len(array) // parts // 16 * 16
    return [array[i * step : (i + 1) * step] for i in range(parts)]


def all_of(threads: Threads) -> Iterator[Workload]:
    """Yield all workloads: the roofs, then what chapters/machine.md needs most."""
    for kind in TYPES:
        yield peak(kind)
    store = random_floats(STORE_SIZE)
    slices = split(store, threads.count)
    parts, whole = [(each,) for each in slices], float(sum(each.nbytes for each in slices))
    # `max` would read as well, but on some processors numpy's loop for it reaches a seventh less
    # bandwidth than C, and its multiplication by −1 a sixth less. These two equal C.
    read = Figure("read", "dot product of an array with itself", "B/s", whole)
    yield read, threads.work(lambda a: np.dot(a, a), parts)
    update = Figure("update", "array negated, in place", "B/s", 2 * whole)
    yield update, threads.work(lambda a: np.negative(a, a), parts)
    one, other, out = (np.ones(1, np.float32) for _ in range(3))
    call = Figure("call", "sum of two single numbers", "s", 1)
    yield call, repeated(partial(np.add, one, other, out))
    yield from staircase(store, threads)
    for batch in BATCHES:
        yield thin_matmul(store, batch)
    for rows in ROW_BY_ROW_BATCHES:
        yield thin_matmul(store, rows, row_by_row=True)
    yield thin_matmul(store, 1, same_weights=True)
    for side in STACKED_SIDES:
        yield stacked_matmuls(store, threads, side)
    # Copy, scale and add as in the STREAM benchmark: they write what they did not read.
    yield elementwise("copy", "b = a", lambda a, b: np.copyto(b, a), store, threads, 1, 0)
    yield elementwise("scale", "b = −a", lambda a, b: np.negative(a, b), store, threads, 1, 1)
    yield elementwise("add", "c = a + b", lambda a, b, c: np.add(a, b, c), store, threads, 2, 1)
    a, b = split(store, 2)
    figure = operation("dot", f"a · b, {len(a):,} elements", "dot", N=len(a), x="fp32")
    yield figure, repeated(partial(np.dot, a, b))
    yield from rms_norms(store, threads)
    yield matmul_per_example(store)
    degree, quarter = POLYNOMIAL_DEGREE, store[: len(store) // 4]
    what = f"polynomial of degree {degree}, array by array"
    yield elementwise("polynomial", what, polynomial, quarter, threads, 1, 2 * degree)
    yield decode_attention(store)
    again, work = peak("fp32")
    yield replace(again, key="peak again"), work


def peak(kind: str) -> Workload:
    """Return a square matmul in fp32 or fp64."""
    side, shape = PEAK_SIDE, (PEAK_SIDE, PEAK_SIDE)
    x, w = (random_floats(side * side).reshape(shape).astype(TYPES[kind]) for _ in "xw")
    figure = Figure(f"peak {kind}", f"matmul, {side:,} × {side:,}", "FLOP/s", 2.0 * side**3)
    return figure, repeated(partial(np.matmul, x, w, np.empty_like(x)))


def operation(key: str, what: str, counted: str, roof: str = "read", **sizes: Any) -> Figure:
    """Return the figure of an operation that is counted with these sizes."""
    return Figure(key, what, "s", 1, operation=counted, sizes=sizes, roof=roof)


def staircase(store: Floats, threads: Threads) -> Iterator[Workload]:
    """Yield repeated reads of arrays from 16 KiB per thread up to the whole array `store`.

    The dot products loop over rows inside numpy: a call from Python takes as long as reading the
    first cache.
    """
    size = 2**14
    while size * threads.count <= store.nbytes:
        half, times = size // 8, max(1, 2**24 // size)
        rows, row = max(1, half // MAX_ROW), min(MAX_ROW, half)
        parts = []
        for part in split(store, threads.count):
            halves = part[:half], part[half : 2 * half]
            a, b = (np.broadcast_to(one.reshape(rows, row), (times, rows, row)) for one in halves)
            parts.append((a, b, np.empty((times, rows), np.float32)))
        whole = size * threads.count
        what = f"dot products over {size // 1024:,} KiB a thread"
        figure = Figure(f"cache {whole}", what, "B/s", float(whole * times))
        yield figure, threads.work(lambda a, b, out: np.vecdot(a, b, out), parts)
        size *= 2


def thin_matmul(
    store: Floats, B: int, row_by_row: bool = False, same_weights: bool = False
) -> Workload:
    """Return x[B, D] · w[D, F] in fp32 with new weights in each pass, as in a model of many layers.

    `row_by_row` multiplies one row at a time, with the matrix-vector routine of the BLAS.
    `same_weights` uses the same weights in every pass.
    """
    weights = store.reshape(-1, WIDTH, WIDTH)
    weights = weights[:1] if same_weights else weights
    x = store[: B * WIDTH].reshape(B, WIDTH).copy()
    out, layers = np.empty_like(x), itertools.cycle(weights)
    rows, results = (x[:, None], out[:, None]) if row_by_row else (x, out)
    how = ", a row at a time" if row_by_row else ", same weights" if same_weights else ""
    what = f"x[{B}, {WIDTH:,}] · w[{WIDTH:,}, {WIDTH:,}]{how}"
    roof = f"cache {weights.nbytes}" if same_weights else "read"
    figure = operation(f"thin {B}{how}", what, "matmul", roof, B=B, D=WIDTH, F=WIDTH, x="fp32")
    return figure, repeated(lambda: np.matmul(rows, next(layers), out=results))


def stacked_matmuls(store: Floats, threads: Threads, side: int) -> Workload:
    """Return as many n × n matmuls as fit into the array `store`, divided among the threads."""
    thirds = split(store, 3)
    count = len(thirds[0]) // side**2 // threads.count * threads.count
    shape = (threads.count, -1, side, side)
    parts = list(zip(*(a[: count * side**2].reshape(shape) for a in thirds), strict=True))
    multiply = threads.work(lambda x, w, out: np.matmul(x, w, out), parts)

    def work(repeats: int) -> None:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "blas"):  # or each matmul would be divided once more
            multiply(repeats)

    # Counted by hand: `matmul_per_example` has only one row per weight matrix.
    sizes: dict[str, Any] = {"flops": 2.0 * side**3 * count, "bytes": 12.0 * side**2 * count}
    what = f"{count:,} matmuls, {side} × {side}"
    return operation(f"stack {side}", what, "operation", **sizes, compute="fp32"), work


def elementwise(
    key: str,
    what: str,
    one: Callable[..., object],
    store: Floats,
    threads: Threads,
    inputs: int,
    flops: int,
) -> Workload:
    """Return work of so many FLOPs on each element of `inputs` arrays, written to one more."""
    arrays = split(store, inputs + 1)
    parts = list(zip(*(split(array, threads.count) for array in arrays), strict=True))
    sizes: dict[str, Any] = {"N": sum(len(first) for first, *_ in parts), "inputs": inputs}
    sizes |= {"flops_per_element": flops, "x": "fp32"}
    return operation(key, what, "elementwise", "update", **sizes), threads.work(one, parts)


def polynomial(x: Floats, y: Floats) -> None:
    """Write a polynomial of x into y by Horner's rule; each step covers the whole array."""
    y[:] = 1
    for _ in range(POLYNOMIAL_DEGREE):
        np.multiply(y, x, out=y)
        np.add(y, np.float32(1), out=y)


def rms_norms(store: Floats, threads: Threads) -> Iterator[Workload]:
    """Yield RMS norm: on whole arrays with one thread, in blocks with all."""
    x, out = (half.reshape(-1, WIDTH) for half in split(store, 2))
    x, out = x[: len(x) // 4], out[: len(x) // 4]
    gain = random_floats(WIDTH)

    def plain(x: Floats, out: Floats) -> None:
        out[:] = x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6)) * gain

    def blocked(x: Floats, out: Floats) -> None:
        for i in range(0, len(x), BLOCK_ROWS):
            plain(x[i : i + BLOCK_ROWS], out[i : i + BLOCK_ROWS])

    parts = list(zip(*(np.array_split(a, threads.count) for a in (x, out)), strict=True))
    for key, how, work in (
        ("norm plain", "array by array, one thread", repeated(partial(plain, x, out))),
        ("norm blocked", "in blocks of rows", threads.work(blocked, parts)),
    ):
        what, sizes = f"RMS norm of {len(x):,} rows, {how}", {"B": len(x), "D": WIDTH}
        yield operation(key, what, "rms_norm", "update", **sizes, x="fp32"), work


def matmul_per_example(store: Floats) -> Workload:
    """Return x[B, D] · w[B, D, F]: one weight matrix per row."""
    w = store.reshape(-1, WIDTH, WIDTH)
    B = len(w)
    x = store[: B * WIDTH].reshape(B, 1, WIDTH).copy()
    what = f"x[{B}, {WIDTH:,}] · w[{B}, {WIDTH:,}, {WIDTH:,}]"
    sizes: dict[str, Any] = {"B": B, "D": WIDTH, "F": WIDTH, "x": "fp32"}
    figure = operation("per example", what, "matmul_per_example", **sizes)
    return figure, repeated(partial(np.matmul, x, w, np.empty_like(x)))


def decode_attention(store: Floats) -> Workload:
    """Return a decode step of attention with 32 query heads and 8 key heads, 128 wide."""
    B, S, N, K, H = 4, 8192, 32, 8, 128
    k, v = (half[: B * K * S * H].reshape(B, K, S, H) for half in split(store, 2))
    q = store[: B * N * H].reshape(B, K, N // K, H).copy()

    def step() -> None:
        scores = np.matmul(q, k.transpose(0, 1, 3, 2))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        np.matmul(shares / shares.sum(axis=-1, keepdims=True), v)

    sizes: dict[str, Any] = {"B": B, "T": 1, "S": S, "N": N, "K": K, "H": H, "softmax": False}
    what = f"attention, {B} × {S:,} positions"
    return operation("decode", what, "attention", **sizes, x="fp32"), repeated(step)
