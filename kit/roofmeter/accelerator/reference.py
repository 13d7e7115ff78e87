"""Checks of results against fp64: a fast wrong answer is not a measurement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from roofmeter.accelerator.backend import Array, Backend, sampled_rows

Fp64 = NDArray[np.float64]
MIN_CHECKED_ROWS = 4
"""Minimum number of result rows to check, evenly spaced."""
TOLERANCE = {"fp32": 2.0**-14, "tf32": 2.0**-7, "bf16": 2.0**-7, "fp8": 2.0**-5}
"""Maximum difference from fp64, relative to the value plus the RMS of the result.

The operands are already rounded to the type, so only the arithmetic contributes errors.

fp32
    Sums of a few thousand products, in any order, are off by a few hundred units of 2⁻²⁴ at worst.
    If computed in tf32, they are off by 2⁻¹¹ or more, which this tolerance detects.
tf32
    Factors are rounded or truncated to 11 bits, an error of up to 2⁻¹⁰; among thousands of sums,
    one is off by four standard deviations.
bf16
    Sums are accumulated in fp32, and the result is rounded to 8 bits, an error of up to 2⁻⁸.
fp8
    Products are exact and the result is bf16, but some devices accumulate with few bits. On H100,
    DeepSeek found differences of nearly 2% ("DeepSeek-V3 Technical Report", 2024, section 3.3.2).
"""


class WrongResultError(RuntimeError):
    """A computed result is wrong, so its time is meaningless."""


def check_close(got: Fp64, expected: Fp64, tolerance: float) -> None:
    """Raise a `WrongResultError` if a value is further from fp64 than the tolerance."""
    if got.shape != expected.shape:
        raise WrongResultError(f"the result has shape {got.shape} and not {expected.shape}")
    typical = np.sqrt(np.mean(expected**2))
    away = np.max(np.abs(got - expected) / (np.abs(expected) + typical))
    if not away <= tolerance:  # A nan fails this comparison.
        raise WrongResultError(f"the result differs from fp64 by {away:.2g}, over {tolerance:.2g}")


def row_step(count: int) -> int:
    """Return a row step that selects at least `MIN_CHECKED_ROWS` evenly spaced rows."""
    return max(1, (count - 1) // (MIN_CHECKED_ROWS - 1))


def matmul(backend: Backend, x: Array, w: Array) -> Callable[[Array], tuple[Fp64, Fp64]]:
    """Return a function from a result to its checked rows and their expected values."""
    step = row_step(x.shape[0])
    return lambda out: (
        backend.to_numpy(out, step),
        backend.to_numpy(x, step) @ backend.to_numpy(w),
    )


def rms_norm(backend: Backend, x: Array, gain: Array) -> Callable[[Array], tuple[Fp64, Fp64]]:
    """Return a function from an RMS norm to its checked rows and their expected values."""
    step = row_step(x.shape[0])

    def both(out: Array) -> tuple[Fp64, Fp64]:
        given = backend.to_numpy(x, step)
        scale = np.sqrt(np.mean(given**2, axis=1, keepdims=True) + 1e-6)
        return backend.to_numpy(out, step), given / scale * backend.to_numpy(gain)

    return both


def attention(
    backend: Backend, q: Array, k: Array, v: Array, causal: bool
) -> Callable[[Array], tuple[Fp64, Fp64]]:
    """Return a function that checks the last head of the last sequence of attention."""

    def last(array: Array) -> Fp64:
        return backend.to_numpy(array[-1, -1] if backend.heads_first else array[-1, :, -1])

    def both(out: Array) -> tuple[Fp64, Fp64]:
        queries, keys, values = last(q), last(k), last(v)
        picked = sampled_rows(len(queries), row_step(len(queries)))
        at = np.arange(len(queries))[picked]
        scores = queries[picked] @ keys.T / np.sqrt(queries.shape[1])
        if causal:
            scores[np.arange(len(keys)) > at[:, None]] = -np.inf
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return last(out)[picked], shares / shares.sum(axis=1, keepdims=True) @ values

    return both
