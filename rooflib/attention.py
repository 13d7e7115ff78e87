"""Attention: its FLOPs and bytes, and the size of the KV cache."""

from __future__ import annotations

import numpy as np

from rooflib._arguments import Number, Size, flag, wholes
from rooflib.dtypes import Type, dtype
from rooflib.operations import Operation, dtype_or, matmul_types


def attention(
    B: Size,
    T: Size,
    S: Size,
    N: Size,
    K: Size,
    H: Size,
    *,
    causal: bool = True,
    fused: bool = True,
    x: Type = "bf16",
    kv: Type | None = None,
    out: Type | None = None,
    scores: Type | None = None,
    compute: Type | None = None,
    softmax: Type | bool = "fp32",
) -> Operation:
    """Count scaled dot-product attention: softmax(q · kᵀ) · v.

    The shapes are q[B, T, N, H] and k, v[B, S, K, H].

    >>> step = attention(B=1, T=1, S=8192, N=32, K=8, H=128)
    >>> step.flops, step.loaded, step.vector, step.exponentials
    (134217728, 33562624, 1048512, 262144)

    Queries and keys form P pairs over all heads and sequences: BNTS or, with a causal mask,
    BN(TS - T(T-1)/2). Each pair takes 2H FLOPs in q · kᵀ and 2H in the product with v. BTNH
    elements of q and BSKH each of k and v are loaded; BTNH elements of the result are written. If
    fused, scores stay on the chip; if not, P scores and P probabilities are written and read, too.
    Source: Vaswani et al., "Attention Is All You Need", 2017; grouped heads: Ainslie et al.,
    "GQA", 2023; fused: Dao et al., "FlashAttention", 2022.

    The softmax runs on the vector units and the special-function units. A row of n visible scores
    takes n - 1 comparisons for its maximum, n subtractions, n - 1 additions and n divisions, that
    is 4n - 2 vector FLOPs, and n exponentials. The rescaling of earlier sums in a fused kernel is
    not counted. The scaling by √H is left out, since it can be folded into the query weights.
    Source: Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018.

    Raises a ValueError if a size is not a whole number above zero, N is not a multiple of K, or S
    is below T with a causal mask; and as `matmul`.

    Parameters
    ----------
    B, T, S
        Sequences, positions with a query, and positions with a key: whole numbers, or arrays of
        them that broadcast.
    N, K, H
        Heads of queries, heads of keys and values (N is a multiple of K), and a head's width.
    causal
        Whether each query sees only positions up to its own; the queries are the last T of S.
    fused
        Whether scores and probabilities stay on the chip.
    x, kv, out, scores, compute
        Data types of queries, of keys and values, of the result, of written scores and
        probabilities, and of the multiplications. `compute` defaults to the common type of `x` and
        `kv`, the others to `x`.
    softmax
        The data type of the softmax. False leaves out its FLOPs and exponentials, for chips with an
        unknown vector peak.
    """
    causal, fused = flag("causal", causal), flag("fused", fused)
    read, cache, result, kind = matmul_types(x, kv, out, compute, second="kv")
    written = dtype_or("scores", scores, read)
    normalized = dtype("fp32" if isinstance(softmax, bool) else softmax, "softmax")
    B, T, S, N, K, H = wholes(B=B, T=T, S=S, N=N, K=K, H=H)
    check_heads(N, K)
    if causal and np.any(S < T):
        raise ValueError(f"S must be at least T where attention is causal; got S={S}, T={T}")
    pairs = B * N * (T * S - (T * (T - 1) // 2 if causal else 0))
    score_bytes = 0 if fused else written.bytes * pairs
    loaded = read.bytes * (B * T * N * H) + 2 * cache.bytes * (B * S * K * H)
    output_bytes = result.bytes * (B * T * N * H)
    return Operation(
        name="attention" if fused else "attention, scores written",
        flops=4 * H * pairs,
        loaded=loaded + 2 * score_bytes,
        written=output_bytes + 2 * score_bytes,
        compute=kind,
        # Probabilities overwrite their scores.
        resident=loaded + output_bytes + score_bytes,
        vector=4 * pairs - 2 * (B * N * T) if softmax else 0,
        vector_compute=normalized,
        exponentials=pairs if softmax else 0,
    )


def kv_bytes_per_token(layers: Size, K: Size, H: Size, kv: Type = "bf16") -> Number:
    """Return the bytes of KV cache per token, over all layers.

    >>> kv_bytes_per_token(layers=80, K=8, H=128, kv="int8")
    163840

    2 · layers · K · H elements: K heads of width H, for keys and for values. Sizes and errors are
    those of `attention`. Source: How To Scale Your Model, "All About Transformer Inference".
    """
    layers, K, H = wholes(layers=layers, K=K, H=H)
    return 2 * dtype(kv, "kv").bytes * (layers * K * H)


def check_heads(N: Number, K: Number) -> None:
    """Raise a ValueError unless N is a multiple of K."""
    if np.any(N % K):
        raise ValueError(f"N must be a multiple of K, the key/value heads; got N={N}, K={K}")
