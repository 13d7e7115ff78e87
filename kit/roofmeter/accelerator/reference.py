"""Results held against fp64 on a few rows: a fast wrong answer is no measurement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from roofmeter.accelerator.backend import Array, Backend, rows

Fp64 = NDArray[np.float64]
ROWS = 4
"""Rows of a result that are checked at least, spread over all of it."""
TOLERANCE = {"fp32": 2.0**-14, "tf32": 2.0**-7, "bf16": 2.0**-7, "fp8": 2.0**-5}
"""Largest difference from fp64, as a share of a number and of the typical size of the result.

The operands are in the type already, so only the arithmetic errs.

fp32
    Sums of some thousand products, in whatever order, err by a few hundred units of 2⁻²⁴ at worst.
    Computed in tf32 they would err by 2⁻¹¹ and more: that is noticed.
tf32
    A factor is rounded or cut to 11 bits, up to 2⁻¹⁰ away, and of thousands of sums one errs by
    four standard deviations.
bf16
    Sums are made in fp32, and the result is rounded to 8 bits, up to 2⁻⁸ away.
fp8
    Products are exact, the result is in bf16; but some devices add in few bits. On H100, DeepSeek
    found differences of nearly 2% ("DeepSeek-V3 Technical Report", 2024, section 3.3.2).
"""


class WrongResultError(RuntimeError):
    """What was computed is not what it should be, so how long it took says nothing."""


def hold(got: Fp64, expected: Fp64, tolerance: float) -> None:
    """Raise a `WrongResultError` where a number is further from fp64 than the tolerance."""
    if got.shape != expected.shape:
        raise WrongResultError(f"the result has shape {got.shape} and not {expected.shape}")
    typical = np.sqrt(np.mean(expected**2))
    away = np.max(np.abs(got - expected) / (np.abs(expected) + typical))
    if not away <= tolerance:  # A nan is no number that is near enough.
        raise WrongResultError(f"the result differs from fp64 by {away:.2g}, over {tolerance:.2g}")


def every(count: int) -> int:
    """The step from which `ROWS` rows, or a few more, are spread over so many."""
    return max(1, (count - 1) // (ROWS - 1))


def matmul(backend: Backend, x: Array, w: Array) -> Callable[[Array], tuple[Fp64, Fp64]]:
    """Of a result, the rows that are checked, and what they should be."""
    step = every(x.shape[0])
    return lambda out: (
        backend.host(out, step),
        backend.host(x, step) @ backend.host(w),
    )


def rms_norm(backend: Backend, x: Array, gain: Array) -> Callable[[Array], tuple[Fp64, Fp64]]:
    """As `matmul`."""
    step = every(x.shape[0])

    def both(out: Array) -> tuple[Fp64, Fp64]:
        given = backend.host(x, step)
        scale = np.sqrt(np.mean(given**2, axis=1, keepdims=True) + 1e-6)
        return backend.host(out, step), given / scale * backend.host(gain)

    return both


def attention(
    backend: Backend, q: Array, k: Array, v: Array, causal: bool
) -> Callable[[Array], tuple[Fp64, Fp64]]:
    """As `matmul`, of the last head of the last sequence."""

    def last(array: Array) -> Fp64:
        return backend.host(array[-1, -1] if backend.heads_first else array[-1, :, -1])

    def both(out: Array) -> tuple[Fp64, Fp64]:
        queries, keys, values = last(q), last(k), last(v)
        picked = rows(len(queries), every(len(queries)))
        at = np.arange(len(queries))[picked]
        scores = queries[picked] @ keys.T / np.sqrt(queries.shape[1])
        if causal:
            scores[np.arange(len(keys)) > at[:, None]] = -np.inf
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return last(out)[picked], shares / shares.sum(axis=1, keepdims=True) @ values

    return both
