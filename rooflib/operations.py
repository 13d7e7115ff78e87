"""Operations: exact FLOPs and bytes from shapes and data types; and critical sizes.

Bytes are the minimum that any implementation must move between HBM and the chip: every input
element is loaded once, every output element is written once. A multiply-add counts as two FLOPs.
Accumulators stay on the chip and cost no bytes.

Sizes are numbers or arrays that broadcast. Data types: `x` is that of the inputs; `w` and `out`, of
weights and results, default to it; `compute`, of the arithmetic, defaults to the common type of `x`
and `w`, such as bf16 for int8 and bf16. `compute="vector fp32"` runs on the vector units.

A ValueError names an unknown data type, types without a common type, and a size that is not above
zero; a TypeError a size that is no number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rooflib import catalog
from rooflib.checks import Number, Size, instance, larger, one_of, size, sizes
from rooflib.dtypes import DType, Type, common_type, dtype
from rooflib.hardware import HBM, Chip, Link
from rooflib.quantities import quantity
from rooflib.work import Work, resource_of


def dot(N: Size, x: Type = "bf16", *, compute: Type = "") -> Work:
    """Count a dot product of two vectors of shape [N] into one number of their type.

    2N - 1 FLOPs, 2N elements loaded, one written: an intensity of ½ FLOP/byte in bf16 for
    long vectors. Source: How To Scale Your Model, "All About Rooflines".

    >>> dot(1000).flops, dot(1000).bytes
    (2 kFLOP, 4 kB)
    """
    read, _, _, kind = types_of(x, compute=compute)
    (N,) = sizes(N=N)
    moved = (2 * N + 1) * read.bytes
    return Work("dot product", {kind: 2 * N - 1, HBM: moved, "launch": 1}, read.bytes)


def elementwise(
    N: Size,
    inputs: Size = 1,
    flops_per_element: Size = 1,
    x: Type = "bf16",
    *,
    out: Type = "",
    compute: Type = "",
) -> Work:
    """Count an element-wise operation: `inputs` arrays of N elements in, one out.

    N · flops_per_element FLOPs, inputs · N elements of type `x` loaded, N of type `out` written.
    An addition has two inputs and one FLOP per element; a ReLU has one of each.
    """
    read, _, result, kind = types_of(x, out=out, compute=compute)
    N, inputs = sizes(N=N, inputs=inputs)
    each = size("flops_per_element", flops_per_element, zero=True)
    written = N * result.bytes
    amounts = {kind: N * each} if np.any(each) else {}
    moved = inputs * N * read.bytes + written
    return Work("element-wise", {**amounts, HBM: moved, "launch": 1}, written)


def rms_norm(B: Size, D: Size, x: Type = "bf16", *, compute: Type = "") -> Work:
    """Count RMS normalization of B rows of D elements, with a gain of shape [D].

    A row stays on the chip between its two passes, so it is loaded once. Per row: D squares,
    D - 1 additions, a division by D, an addition of ε and a reciprocal square root, then two
    multiplications per element: 4D + 2 FLOPs. Source of the formula: Zhang & Sennrich, "Root
    Mean Square Layer Normalization", 2019.
    """
    read, _, _, kind = types_of(x, compute=compute)
    B, D = sizes(B=B, D=D)
    written = B * D * read.bytes
    moved = 2 * written + D * read.bytes
    return Work("RMS norm", {kind: B * (4 * D + 2), HBM: moved, "launch": 1}, written)


def matmul(
    B: Size, D: Size, F: Size, x: Type = "bf16", *, w: Type = "", out: Type = "", compute: Type = ""
) -> Work:
    """Count a matrix multiplication x[B, D] · w[D, F] → out[B, F].

    2BDF FLOPs; BD and DF elements loaded, BF written. A weight per row, w[B, D, F], is
    `B * matmul(1, D, F)`. Source: How To Scale Your Model, "All About Rooflines".

    >>> matmul(64, 4096, 16384)
    <Work matmul: 8.59 GFLOP in bf16, 137 MB, 62.8 FLOP/byte>
    """
    read, weight, result, kind = types_of(x, w, out, compute)
    B, D, F = sizes(B=B, D=D, F=F)
    written, moved = B * F, D * (read.bytes * B + weight.bytes * F)
    flops = 2 * D * written
    # In place: a sweep of many sizes spends its time on making new arrays.
    written *= result.bytes
    moved += written
    return Work("matmul", {kind: flops, HBM: moved, "launch": 1}, written)


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
    softmax: bool = True,
    x: Type = "bf16",
    kv: Type = "",
    compute: Type = "",
) -> Work:
    """Count scaled dot-product attention: softmax(q · kᵀ) · v.

    The shapes are q[B, T, N, H] and k, v[B, S, K, H]: B sequences, T positions with a query and S
    with a key, N heads of queries and K of keys and values, each H wide. With `causal`, the queries
    are the last T of S positions, and each sees those up to its own. `kv` is the data type of keys
    and values.

    >>> attention(B=1, T=1, S=8192, N=32, K=8, H=128)
    <Work attention: 134 MFLOP in bf16, 33.6 MB, 4 FLOP/byte>

    Queries and keys form P pairs over all heads and sequences: BNTS or, with a causal mask,
    BN(TS - T(T-1)/2). Each pair takes 2H FLOPs in q · kᵀ and 2H in the product with v. BTNH
    elements of q and BSKH each of k and v are loaded; BTNH elements of the result are written. If
    not `fused`, P scores and P probabilities are written and read, too.
    Source: Vaswani et al., "Attention Is All You Need", 2017; grouped heads: Ainslie et al.,
    "GQA", 2023; fused: Dao et al., "FlashAttention", 2022.

    The softmax runs on the vector units in fp32, and on the special-function units. A row of n
    visible scores takes n - 1 comparisons for its maximum, n subtractions, n - 1 additions and n
    divisions, that is 4n - 2 vector FLOPs, and n exponentials. Not counted are the rescaling of
    earlier sums in a fused kernel and the scaling by √H, which the query weights can contain.
    `softmax=False` leaves it out, for chips with an unknown rate of the vector units.
    Source: Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018.

    Raises a ValueError, too, if a size is not whole, N is not a multiple of K, or S is below T with
    a causal mask.
    """
    for name, flag in (("causal", causal), ("fused", fused), ("softmax", softmax)):
        instance(name, flag, (bool, np.bool_), "True or False")
    read, cache, _, kind = types_of(x, kv, compute=compute, second="kv")
    B, T, S, N, K, H = sizes(B=B, T=T, S=S, N=N, K=K, H=H, whole=True)
    if np.any(N % K):
        raise ValueError(f"N must be a multiple of K, the key/value heads; got N={N}, K={K}")
    if causal and np.any(S < T):
        raise ValueError(f"S must be at least T where attention is causal; got S={S}, T={T}")
    pairs = B * N * (T * S - (T * (T - 1) // 2 if causal else 0))
    out = read.bytes * (B * T * N * H)
    moved = 2 * out + 2 * cache.bytes * (B * S * K * H)
    scores = 0 if fused else read.bytes * pairs
    amounts = {kind: 4 * H * pairs}
    if softmax:
        amounts |= {"vector fp32": 4 * pairs - 2 * (B * N * T), "exponentials": pairs}
    amounts |= {HBM: moved + 4 * scores, "launch": 1}
    name = "attention" if fused else "attention, scores written"
    # Probabilities overwrite their scores, so these are held once.
    return Work(name, amounts, out + 2 * scores, held=moved + scores)


def split(
    dimension: str,
    N: Size,
    B: Size,
    D: Size,
    F: Size,
    *,
    result: str = "replicated",
    x: Type = "bf16",
    out: Type = "",
    **types: Any,
) -> Work:
    """Count one chip's share of x[B, D] · w[D, F] → out[B, F], with one of B, D, F split over N.

    ========  =======================  ==========================  =====================
    split     each chip multiplies     replicated result needs     sharded result needs
    ========  =======================  ==========================  =====================
    "B"       x[B/N, D] · w[D, F]      all-gather of BF            nothing
    "D"       x[B, D/N] · w[D/N, F]    all-reduce of BF            reduce-scatter of BF
    "F"       x[B, D] · w[D, F/N]      all-gather of BF            nothing
    ========  =======================  ==========================  =====================

    `B`, `D` and `F` are the sizes of the whole multiplication; the split one must be a multiple of
    `N`, the number of chips. Data types are those of `matmul`. With `result` "replicated", every
    chip ends with the whole output; with "sharded", with an Nth of it.

    FLOPs are those of the multiplication, 2BDF/N. The additions of the reduction are not counted,
    and neither are the HBM bytes that the collective reads and writes. A chip holds its parts of x
    and w, plus the larger of its partial and its final output. A ring sends N - 1 messages one
    after another, 2(N - 1) in an all-reduce.
    Source: How To Scale Your Model, "Sharded Matrices and How to Multiply Them".
    """
    replicated = one_of("result", result, ("replicated", "sharded")) == "replicated"
    B, D, F = sizes(B=B, D=D, F=F)
    N = size("N", N, whole=True)
    shape: dict[str, Any] = {"B": B, "D": D, "F": F}
    if np.any(shape[one_of("dimension", dimension, shape)] % N):
        given = f"{dimension}={shape[dimension]}, N={N}"
        raise ValueError(f"{dimension} must be a multiple of N to be split; got {given}")
    own = matmul(**shape | {dimension: shape[dimension] // N}, x=x, out=out, **types)
    output = dtype(out or x, "out").bytes * (B * F)
    passes = (dimension == "D") + replicated  # an all-reduce is a reduce-scatter and an all-gather
    return Work(
        f"matmul, {dimension} split over chips",
        own.amounts,
        own.written,
        held=own.loaded + larger(own.written, output if replicated else output / N),
        sent=passes * all_gather(output, N),
        hops=passes * (N - 1),
        spared=spared(output, N) if passes == 2 else 0,
        chips=N,
    )


# Collectives on a ring of N chips. In each step, every chip passes one Nth of the array to the next
# chip. Reduce-scatter and all-gather take N - 1 steps each, and an all-reduce is one followed by
# the other. No algorithm in which only chips add sends fewer bytes. Source: Patarasuk & Yuan,
# "Bandwidth optimal all-reduce algorithms for clusters of workstations", J. Parallel Distrib.
# Comput. 69(2), 2009.


def reduce_scatter(bytes: Size, N: Size) -> Number:
    """Return the bytes each chip sends to sum N arrays, and leave each chip with an Nth of it."""
    bytes, N = size("bytes", bytes, zero=True), size("N", N, whole=True)
    return bytes * (N - 1) / N


def all_gather(bytes: Size, N: Size) -> Number:
    """Return the bytes each chip sends in an all-gather of an array in N parts."""
    return reduce_scatter(bytes, N)


def all_reduce(bytes: Size, N: Size, *, in_switch: bool = False) -> Number:
    """Return the bytes each chip sends in an all-reduce: a sum on every chip.

    With `in_switch`, a switch adds up the arrays: each chip sends its array once and receives the
    sum once, however many chips there are. Only an all-reduce gets shorter: in the other two, a
    chip sends or receives as much as on a ring. Source: Klenk et al., "An In-Network Architecture
    for Accelerating Shared-Memory Multiprocessor Collectives", ISCA 2020.

    >>> reduce_scatter(1000, N=4), all_reduce(1000, N=4), all_reduce(1000, N=4, in_switch=True)
    (750.0, 1500.0, 1000.0)
    """
    return 2 * reduce_scatter(bytes, N) - (spared(bytes, N) if in_switch else 0)


def spared(bytes: Size, N: Size) -> Number:
    """Return by how many bytes an all-reduce in a switch is shorter than one on a ring."""
    # Two chips send no less than on a ring, and one sends nothing.
    return larger(2 * reduce_scatter(bytes, N) - size("bytes", bytes, zero=True), 0)


def types_of(
    x: Type, w: Type = "", out: Type = "", compute: Type = "", second: str = "w"
) -> tuple[DType, DType, DType, str]:
    """Return the data types of input, weight and output, and the resource of the arithmetic."""
    read, weight = dtype(x, "x"), dtype(w or x, second)
    kind = resource_of(compute, "compute") if compute else common_type(read, weight).name
    return read, weight, dtype(out or x, "out"), kind


# Critical sizes: where an operation becomes compute-bound.


def critical_batch(
    chip: str | Chip, D: Size = math.inf, F: Size = math.inf, x: Type = "bf16", **types: Any
) -> Number:
    """Return the critical batch of x[B, D] · w[D, F] → out[B, F] on one chip.

    >>> critical_batch("H100 SXM", w="int8"), critical_batch("H100 SXM", 4096, 16384)
    (148, 325)

    2BDF ÷ (x·BD + w·DF + out·BF), with x, w and out in bytes per element, is the ridge point R at

        B = R · w · DF ÷ (2DF - R · (x·D + out·F))

    rows (tokens), not rounded. If the denominator is not positive, loading and storing activations
    alone takes longer than the arithmetic, and B is infinite. As D and F grow, by default without
    end, B approaches R · w ÷ 2 from above: only the weights then cost bytes. Data types are those
    of `matmul`.
    Source: How To Scale Your Model, "All About Rooflines", with all three arrays counted.
    """
    read, weight, result, kind = types_of(x, **types)
    D, F = (size(name, each, largest=math.inf) for name, each in (("D", D), ("F", F)))
    ridge = float(catalog.chip(chip).ridge(kind))
    # Numerator and denominator are divided by DF, so that large sizes don't lose precision.
    room = np.maximum(2 - ridge * (read.bytes / F + result.bytes / D), 0.0)
    with np.errstate(divide="ignore"):
        return quantity(ridge * weight.bytes / room)


def critical_depth(
    chip: str | Chip,
    link: str | Link,
    N: Size = 2,
    *,
    split: str = "D",
    out: Type = "bf16",
    compute: str = "bf16",
) -> Number:
    """Return the D of a matmul from which the link keeps up with compute, if it is split over N.

    The arithmetic takes 2BDF ÷ (N·C). Splitting D sends 2(N-1)/N · out·BF bytes for a replicated
    result, so D = (N - 1) · out · C ÷ W. Splitting B or F sends half of that, and a switch that
    adds up sends out·BF. C is the peak, W the link's bandwidth to the group, `out` the bytes per
    element sent. D is that of the whole multiplication, not rounded, and 0 for one chip.
    Source: How To Scale Your Model, "All About Rooflines", generalized from 2 chips to N.
    """
    chip = catalog.chip(chip)
    over, N = chip.link(link), size("N", N, whole=True)
    reduced = one_of("split", split, ("B", "D", "F")) == "D"
    sent = all_reduce(1, N, in_switch=over.reduces) if reduced else all_gather(1, N)
    # Divided last, so that a whole number of rows comes out whole.
    of_column = N / 2 * dtype(out, "out").bytes * sent
    return quantity(of_column * float(chip[compute]) / over.to_group(N))
