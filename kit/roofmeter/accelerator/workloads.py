"""Accelerator workloads: operands, operations, and checks of their results.

Operands are normally distributed random numbers, not zeros. Flipping bits costs energy, so zeros
draw less power, and a power-limited device runs faster on them. Source: He, "Strangely, Matrix
Multiplications on GPUs Run Faster When Given 'Predictable' Data!", 2024.

Calls rotate through sets of operands that together exceed the second-level cache, so that no
operand is still cached when it is used again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from roofmeter.accelerator import reference
from roofmeter.accelerator.backend import Array, Backend
from roofmeter.accelerator.reference import TOLERANCE, Fp64, check_close
from roofmeter.kernels import Probe
from roofmeter.load_monitor import Work

DTYPES = ("bf16", "fp8", "tf32", "fp32")
MIN_CACHE_TURNOVER = 4
"""The sets of operands together are at least this many times as large as the cache, if known."""
MAX_OPERAND_SETS = 64
"""Maximum number of operand sets: each is compiled or recorded as a separate call."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of the workloads.

    Attributes
    ----------
    widths, batches
        Values of D = F and of B for the matmuls.
    side
        Size of the square matmul that determines the peak.
    elements
        Elements of the streamed arrays.
    min_operand_bytes
        Minimum bytes of operands before any of them is reused.
    prefill, decode
        Sequences and positions for attention.
    heads
        N, K and H of attention.
    """

    widths: tuple[int, ...] = (4096, 8192)
    batches: tuple[int, ...] = tuple(2**i for i in range(14))
    side: int = 8192
    elements: int = 2**28
    min_operand_bytes: float = 2.0**30
    prefill: tuple[int, int] = (1, 8192)
    decode: tuple[int, int] = (16, 8192)
    heads: tuple[int, int, int] = (32, 8, 128)


CPU_SIZES = Sizes(
    (4096,), tuple(2**i for i in range(11)), 2048, 2**26, 2.0**29, (1, 1024), (2, 4096)
)
"""Sizes for CPUs."""


def plan(backend: Backend, sizes: Sizes, kinds: Sequence[str]) -> Iterator[Probe]:
    """Yield every probe: the roofs (peaks and streams) first, then the operations."""
    for kind in kinds:
        yield _matmul(backend, sizes, kind, sizes.side, sizes.side, f"peak {kind}")
    yield from _roof_streams(backend, sizes)
    yield from _streams(backend, sizes)
    yield from _attention(backend, sizes)
    for width in sizes.widths:
        for kind in kinds:
            for batch in sizes.batches:
                yield _matmul(backend, sizes, kind, batch, width, f"matmul {kind} {width} {batch}")


def _matmul(backend: Backend, sizes: Sizes, kind: str, B: int, width: int, key: str) -> Probe:
    """Probe x[B, D] · w[D, F] with D = F = width; a key "peak …" makes it a roof."""
    types = {"x": "fp8", "out": "bf16"} if kind == "fp8" else {"x": kind}
    counts = {"B": B, "D": width, "F": width, **types}
    each = width * (B + width) * {"bf16": 2, "fp8": 1}.get(kind, 4)

    def operands(seed: int) -> tuple[Array, ...]:
        return (
            backend.random_normal((B, width), kind, 2 * seed),
            backend.weights(width, width, kind, 2 * seed + 1),
        )

    sets = _operand_sets(backend, sizes, each)
    make = _checked_work(
        backend, backend.matmul(kind), operands, sets, TOLERANCE[kind], reference.matmul
    )
    what = f"x[{B:,}, {width:,}] · w[{width:,}, {width:,}] in {kind}"
    if key.startswith("peak"):
        return Probe(key, what, "FLOP/s", 2.0 * B * width**2 * sets, 1, make, False, each * sets)
    return _probe(key, what, make, sets, each, "matmul", counts, "read")


def _roof_streams(backend: Backend, sizes: Sizes) -> Iterator[Probe]:
    """Probe reading an array, and updating one in place: no hidden traffic."""
    size = sizes.elements
    largest = backend.functions()["largest"]

    def reading() -> Work:
        array = backend.random_normal((size,), "fp32", 1)
        work = backend.sweep(largest, [(array,)])
        pieces = [array[i : i + 2**24] for i in range(0, size, 2**24)]
        expected = max(backend.to_numpy(piece).max() for piece in pieces)
        _equal(np.max(backend.to_numpy(work(1))), expected)
        return work

    def updating() -> Work:
        array, step = backend.random_normal((size,), "fp32", 2), max(1, size // 1000)
        before = backend.to_numpy(array, step)
        work = backend.negate(array)
        # Preparing the work may already run it: compare one pass with the next.
        for _ in range(2):
            after = backend.to_numpy(work(1), step)
            _equal(np.abs(after), np.abs(before))
        _equal(backend.to_numpy(work(1), step), -after)
        return work

    whole = 4.0 * size
    yield Probe("read", "maximum of an array", "B/s", whole, 1, reading, False, whole)
    what = "array times −1, in place"
    yield Probe("update", what, "B/s", 2 * whole, 1, updating, False, whole)


def _streams(backend: Backend, sizes: Sizes) -> Iterator[Probe]:
    """Probe copy, add and RMS norm in bf16, which write arrays they did not read."""
    functions, size = backend.functions(), sizes.elements

    def exact(backend: Backend, *inputs: Array) -> Callable[[Array], tuple[Fp64, Fp64]]:
        step = max(1, size // 1000)
        return lambda out: (
            backend.to_numpy(out, step),
            sum(backend.to_numpy(each, step) for each in inputs),  # type: ignore[return-value]
        )

    for key, inputs in (("copy", 1), ("add", 2)):
        counts = {"N": size, "inputs": inputs, "flops_per_element": inputs - 1, "x": "bf16"}

        def operands(seed: int, inputs: int = inputs) -> tuple[Array, ...]:
            return tuple(
                backend.random_normal((size,), "bf16", 7 * seed + i) for i in range(inputs)
            )

        tolerance = TOLERANCE["bf16"] if inputs > 1 else 0.0
        make = _checked_work(backend, functions[key], operands, 1, tolerance, exact)
        what = "b = a" if key == "copy" else "c = a + b"
        yield _probe(key, what, make, 1, 2.0 * (inputs + 1) * size, "elementwise", counts, "update")
    width = sizes.widths[-1]
    rows = max(1, size // width)

    def normed(seed: int) -> tuple[Array, ...]:
        return backend.random_normal((rows, width), "bf16", seed), backend.random_normal(
            (width,), "bf16", 99
        )

    make = _checked_work(
        backend, functions["rms_norm"], normed, 1, 2 * TOLERANCE["bf16"], reference.rms_norm
    )
    what, counts = f"RMS norm of {rows:,} rows", {"B": rows, "D": width, "x": "bf16"}
    yield _probe("norm", what, make, 1, 4.0 * rows * width, "rms_norm", counts, "update")


def _attention(backend: Backend, sizes: Sizes) -> Iterator[Probe]:
    """Probe attention over a whole prompt and for one new position, in bf16."""
    N, K, H = sizes.heads
    for key in ("prefill", "decode"):
        causal = key == "prefill"
        B, S = sizes.prefill if causal else sizes.decode
        T = S if causal else 1
        counts = {"B": B, "T": T, "S": S, "N": N, "K": K, "H": H, "x": "bf16", "softmax": False}
        each = 2.0 * B * H * (N * T * 2 + K * S * 2)

        def operands(seed: int, B: int = B, T: int = T, S: int = S) -> tuple[Array, ...]:
            shapes = [(B, N, T, H), (B, K, S, H), (B, K, S, H)]
            if not backend.heads_first:
                shapes = [(B, P, heads, H) for B, heads, P, H in shapes]
            return tuple(
                backend.random_normal(shape, "bf16", 3 * seed + i) for i, shape in enumerate(shapes)
            )

        def check(
            backend: Backend, q: Array, k: Array, v: Array, causal: bool = causal
        ) -> Callable[[Array], tuple[Fp64, Fp64]]:
            return reference.attention(backend, q, k, v, causal)

        sets = _operand_sets(backend, sizes, each)
        # Scores and probabilities of a row may be rounded to bf16 as well.
        tolerance = 4 * TOLERANCE["bf16"]
        make = _checked_work(backend, backend.functions()[key], operands, sets, tolerance, check)
        yield _probe(
            key,
            f"attention, {key}, {B} × {S:,} positions",
            make,
            sets,
            each,
            "attention",
            counts,
            "read",
        )


def _operand_sets(backend: Backend, sizes: Sizes, each: float) -> int:
    """Return how many operand sets exceed the cache but take at most ¼ of the memory."""
    wanted = max(sizes.min_operand_bytes, MIN_CACHE_TURNOVER * backend.device.cache)
    room = int(backend.device.memory / 4 // each)
    return max(1, min(math.ceil(wanted / each), room, MAX_OPERAND_SETS))


def _checked_work(
    backend: Backend,
    function: Callable[..., Array],
    operands: Callable[[int], tuple[Array, ...]],
    sets: int,
    tolerance: float,
    check: Callable[..., Callable[[Array], tuple[Fp64, Fp64]]],
) -> Callable[[], Work]:
    """Return a function that sets up the work and checks the result of the last set."""

    def make() -> Work:
        given = [operands(seed) for seed in range(sets)]
        work = backend.sweep(function, given)
        got, expected = check(backend, *given[-1])(work(1))
        check_close(got, expected, tolerance)
        return work

    return make


def _equal(got: Any, expected: Any) -> None:
    check_close(np.atleast_1d(got), np.atleast_1d(expected), 0.0)


def _probe(
    key: str,
    what: str,
    make: Callable[[], Work],
    sets: int,
    each: float,
    operation: str,
    counts: Mapping[str, Any],
    roof: str,
) -> Probe:
    return Probe(key, what, "s", sets, 1, make, False, each * sets, operation, counts, roof)
