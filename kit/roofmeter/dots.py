"""The dots: operations of the course, as numpy does them, to be held against the roofs.

Each names the function of rooflib that counts it, with its sizes, and the stream that is its roof:
"read" where it mostly loads, "update" where it writes as much as it loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from roofmeter.kernels import Probe
from roofmeter.team import Floats, Team, blas_can_be_limited, blas_threads, split
from roofmeter.watch import Work

STACKED = (16, 24, 32, 48, 64, 96, 128, 256)
"""Sides of the small square matmuls."""
SHARED = 2**18
"""From more multiply-adds on, OpenBLAS shares a matmul out itself: it is tried both ways, since
threads that each let it share theirs would wait for each other."""
WIDTH = 4096
"""D and F of the thin matmuls."""
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
ROWS = (2, 4, 8)
"""Batches that are also multiplied a row at a time."""
DEGREE = 16


def dots(store: Floats, team: Team) -> Iterator[Probe]:
    """Every dot, those first that the chapter needs most."""
    for batch in BATCHES:
        yield thin(store, team, batch)
    for rows in ROWS:
        yield thin(store, team, rows, one_by_one=True)
    yield thin(store, team, 1, hot=True)
    for side in STACKED:
        if side**3 <= SHARED or blas_can_be_limited():
            yield stack(store, team, side)
        if side**3 > SHARED:
            yield stack(store, team, side, one_caller=True)
    yield from streams(store, team)
    yield dot(store, team)
    yield from norms(store, team)
    yield per_example(store, team)
    yield polynomial(store, team)
    yield decode(store, team)


def thin(store: Floats, team: Team, B: int, one_by_one: bool = False, hot: bool = False) -> Probe:
    """x[B, D] · w[D, F] in fp32, each time with other weights, as in a model of many layers.

    `one_by_one` multiplies a row at a time, by the matrix-vector routine of the BLAS. `hot` takes
    the same weights each time.
    """
    width = _width(store)
    sizes = {"B": B, "D": width, "F": width, "x": "fp32"}
    weights = store[: len(store) // width**2 * width**2].reshape(-1, width, width)
    weights = weights[:1] if hot else weights

    def make() -> Work:
        x = np.ascontiguousarray(store[: B * width].reshape(B, width))
        out, turn = np.empty((B, width), np.float32), [0]
        rows, results = (x[:, None], out[:, None]) if one_by_one else (x, out)

        def work(repeats: int) -> None:
            for _ in range(repeats):
                turn[0] = (turn[0] + 1) % len(weights)
                np.matmul(rows, weights[turn[0]], out=results)

        return work

    how = ", a row at a time" if one_by_one else ", same weights" if hot else ""
    key, what = f"thin {B}{how}", f"x[{B}, {width:,}] · w[{width:,}, {width:,}]{how}"
    roof = f"cache {weights.nbytes}" if hot else "read"
    return _dot(key, what, make, team.threads, "matmul", sizes, weights.nbytes, roof)


def stack(store: Floats, team: Team, side: int, one_caller: bool = False) -> Probe:
    """As many n × n matmuls as fill the store, each thread with its own part of them.

    With `one_caller`, one thread walks over all of them, and the BLAS shares each of them out.
    """
    pieces = 1 if one_caller else team.threads
    count = len(_cut(store, 3)[0]) // side**2 // pieces * pieces
    arrays = [a[: count * side**2] for a in _cut(store, 3)]
    stacks = [a.reshape(pieces, count // pieces, side, side) for a in arrays]
    parts = list(zip(*stacks, strict=True))

    def make() -> Work:
        def work(repeats: int) -> None:
            with blas_threads(1) if pieces > 1 else nullcontext():
                team.each(lambda x, w, out: np.matmul(x, w, out=out), repeats, parts)

        return work

    # Counted as one operation: a matmul per example has its own weights, and here its own rows.
    sizes = {"flops": 2.0 * side**3 * count, "bytes": 12.0 * side**2 * count, "compute": "fp32"}
    what = f"{count:,} matmuls, {side} × {side}"
    return _dot(f"stack {side}", what, make, team.threads, "operation", sizes, sizes["bytes"])


def streams(store: Floats, team: Team) -> Iterator[Probe]:
    """Copy, scale and add, as in STREAM: each writes an array that it did not read."""
    kernels: list[tuple[str, str, int, int, Callable[..., object]]] = [
        ("copy", "b = a", 1, 0, lambda a, b: np.copyto(b, a)),
        ("scale", "b = −a", 1, 1, lambda a, b: np.negative(a, out=b)),
        ("add", "c = a + b", 2, 1, lambda a, b, c: np.add(a, b, out=c)),
    ]
    for key, what, inputs, flops, work in kernels:
        parts = _parts(store, team, inputs + 1)
        size = sum(len(part[0]) for part in parts)
        sizes = {"N": size, "inputs": inputs, "flops_per_element": flops, "x": "fp32"}
        yield _each(key, what, work, parts, team, "elementwise", sizes, "update")


def dot(store: Floats, team: Team) -> Probe:
    """A dot product of two long vectors."""
    a, b = _cut(store, 2)

    def make() -> Work:
        def work(repeats: int) -> None:
            for _ in range(repeats):
                np.dot(a, b)

        return work

    sizes = {"N": len(a), "x": "fp32"}
    return _dot(
        "dot", f"a · b, {len(a):,} elements", make, team.threads, "dot", sizes, a.nbytes * 2
    )


def norms(store: Floats, team: Team) -> Iterator[Probe]:
    """RMS norm of rows as wide as a model: array by array on one core, and in blocks on all."""
    x, out = (part.reshape(-1, _width(store)) for part in _cut(store, 2))
    x, out = x[: len(x) // 4], out[: len(x) // 4]
    gain = np.ones(x.shape[1], np.float32)

    def plain(x: Floats, out: Floats) -> None:
        out[:] = x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6)) * gain

    def blocked(x: Floats, out: Floats) -> None:
        for i in range(0, len(x), 16):  # 16 rows and what is made of them stay in the cache
            plain(x[i : i + 16], out[i : i + 16])

    sizes = {"B": len(x), "D": x.shape[1], "x": "fp32"}
    what = f"RMS norm of {len(x):,} rows"
    alone = Team(1)
    pieces = list(zip(*(np.array_split(a, team.threads) for a in (x, out)), strict=True))
    for key, how, work, parts, by in (
        ("norm plain", "array by array, one thread", plain, [(x, out)], alone),
        ("norm blocked", "in blocks of rows", blocked, pieces, team),
    ):
        yield _each(key, f"{what}, {how}", work, parts, by, "rms_norm", sizes, "update")


def per_example(store: Floats, team: Team) -> Probe:
    """x[B, D] · w[B, D, F]: a weight matrix for each row."""
    width = _width(store)
    w = store[: len(store) // width**2 * width**2].reshape(-1, width, width)
    B = len(w)

    def make() -> Work:
        x, out = store[: B * width].reshape(B, 1, width).copy(), np.empty((B, 1, width), np.float32)
        return lambda repeats: team.each(lambda: np.matmul(x, w, out=out), repeats, [()])

    sizes = {"B": B, "D": width, "F": width, "x": "fp32"}
    what = f"x[{B}, {width:,}] · w[{B}, {width:,}, {width:,}]"
    return _dot("per example", what, make, team.threads, "matmul_per_example", sizes, w.nbytes)


def polynomial(store: Floats, team: Team) -> Probe:
    """A polynomial of x by Horner's rule, an array at a time: the intensity is there to be had."""
    parts = _parts(store[: len(store) // 4], team, 2)

    def horner(x: Floats, y: Floats) -> None:
        y[:] = 1
        for _ in range(DEGREE):
            np.multiply(y, x, out=y)
            np.add(y, np.float32(1), out=y)

    size = sum(len(part[0]) for part in parts)
    sizes = {"N": size, "inputs": 1, "flops_per_element": 2 * DEGREE, "x": "fp32"}
    what = f"polynomial of degree {DEGREE}, array by array"
    return _each("polynomial", what, horner, parts, team, "elementwise", sizes, "update")


def decode(store: Floats, team: Team) -> Probe:
    """Attention of one new position: 32 heads of queries, 8 of keys, 128 wide."""
    N, K, H = 32, 8, 128
    S = min(8192, len(store) // (2 * K * H))
    B = min(4, len(store) // (2 * K * H * S))
    k, v = (
        a[: B * K * S * H].reshape(B, K, S, H) for a in np.split(store[: len(store) // 2 * 2], 2)
    )

    def make() -> Work:
        q = store[: B * N * H].reshape(B, K, N // K, H).copy()

        def step() -> None:
            scores = np.matmul(q, k.swapaxes(2, 3))
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            np.matmul(shares / shares.sum(axis=-1, keepdims=True), v)

        def work(repeats: int) -> None:
            for _ in range(repeats):
                step()

        return work

    sizes = {"B": B, "T": 1, "S": S, "N": N, "K": K, "H": H, "x": "fp32", "softmax": False}
    what = f"attention, {B} × {S:,} positions"
    return _dot("decode", what, make, team.threads, "attention", sizes, k.nbytes + v.nbytes)


def _width(store: Floats) -> int:
    """The width of the weights: half of it, and again, until eight of them are in the store."""
    width = WIDTH
    while 8 * width**2 > len(store):
        width //= 2
    return width


def _parts(store: Floats, team: Team, arrays: int) -> list[tuple[Floats, ...]]:
    return split(_cut(store, arrays), team.threads)


def _cut(store: Floats, arrays: int) -> list[Floats]:
    """So many arrays of one length side by side in the store, each on whole cache lines."""
    step = len(store) // arrays // 16 * 16
    return [store[i * step : (i + 1) * step] for i in range(arrays)]


def _each(
    key: str,
    what: str,
    work: Callable[..., object],
    parts: list[Any],
    team: Team,
    operation: str,
    sizes: Mapping[str, Any],
    roof: str,
) -> Probe:
    whole = float(sum(array.nbytes for part in parts for array in part))

    def make() -> Work:
        return lambda repeats: team.each(work, repeats, parts)

    return _dot(key, what, make, team.threads, operation, sizes, whole, roof)


def _dot(
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
