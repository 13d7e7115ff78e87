"""Sharded matrix multiplication: N chips split one of its three dimensions."""

from __future__ import annotations

import numpy as np

from rooflib._arguments import Number, Size, broadcastable, larger, one_of, positives, whole
from rooflib.collectives import all_gather, all_reduce, reduce_scatter, ring_steps
from rooflib.dtypes import Type
from rooflib.operations import Operation, dtype_or, matmul_types, share


def sharded_matmul(
    B: Size,
    D: Size,
    F: Size,
    N: Size,
    *,
    split: str = "D",
    result: str = "replicated",
    x: Type = "bf16",
    w: Type | None = None,
    out: Type | None = None,
    partial: Type | None = None,
    compute: Type | None = None,
) -> Operation:
    """Count one chip's share of x[B, D] · w[D, F] → out[B, F] over N chips.

    ========  =======================  ==========================  =====================
    split     each chip multiplies     replicated result needs     sharded result needs
    ========  =======================  ==========================  =====================
    "B"       x[B/N, D] · w[D, F]      all-gather of BF            nothing
    "D"       x[B, D/N] · w[D/N, F]    all-reduce of BF            reduce-scatter of BF
    "F"       x[B, D] · w[D, F/N]      all-gather of BF            nothing
    ========  =======================  ==========================  =====================

    FLOPs are those of the multiplication, 2BDF/N. The additions of the reduction are not counted,
    and neither are the HBM bytes that the collective reads and writes. A chip holds its parts of x
    and w, plus the larger of its partial and its final output: the collective works in place, so
    the gathered output includes the chip's own part. The ring sends N - 1 sequential messages per
    chip, 2(N - 1) in an all-reduce.
    Source: How To Scale Your Model, "Sharded Matrices and How to Multiply Them".

    `B`, `D` and `F` are the sizes of the whole multiplication; the split one must be a multiple of
    `N`, the number of chips. With `result` "replicated", every chip ends with the whole output;
    with "sharded", with an Nth of it. `partial` is the data type of the partial sums that split "D"
    sends, by default `out`. The other types and the errors are those of `matmul`; other values of
    `split` and `result` raise a ValueError.
    """
    read, weight, output, kind = matmul_types(x, w, out, compute)
    one_of("result", result, ("replicated", "sharded"))
    (B, D, F), N = positives(B=B, D=D, F=F), whole("N", N)
    broadcastable({"B": B, "D": D, "F": F, "N": N})
    of_sums = dtype_or("partial", partial, output)
    gathered = output.bytes * (B * F)
    ends_with = gathered if result == "replicated" else gathered / N
    sizes = {"B": B, "D": D, "F": F}
    sizes[split] = _share(split, sizes[one_of("split", split, sizes)], N)
    B, D, F = sizes.values()
    if split == "D":
        written = of_sums.bytes * (B * F)
        sent = (all_reduce if result == "replicated" else reduce_scatter)(written, N)
        hops = ring_steps(N, 2 if result == "replicated" else 1)
    else:
        written = output.bytes * (B * F)
        sent = all_gather(gathered, N) if result == "replicated" else 0
        hops = ring_steps(N)
    loaded = read.bytes * (B * D) + weight.bytes * (D * F)
    counts = {"flops": 2 * D * (B * F), "loaded": loaded, "written": written}
    held, name = loaded + larger(written, ends_with), f"matmul, {split} split over chips"
    return share(kind, N, name, **counts, held=held, sent=sent, hops=hops)


def _share(name: str, size: Number, N: Number) -> Number:
    if np.any(size % N):
        raise ValueError(f"{name} must be a multiple of N to be split; got {name}={size}, N={N}")
    return size // N
