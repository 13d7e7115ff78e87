"""Sharded matrix multiplication: N chips split one of its three dimensions."""

from __future__ import annotations

import numpy as np

from rooflib._arguments import Number, Size, broadcastable, larger, one_of, positives, whole
from rooflib.collectives import all_gather, all_reduce, reduce_scatter, ring_steps, spared
from rooflib.dtypes import Type
from rooflib.operations import Operation, dtype_or, matmul, matmul_types, share


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
    chip, 2(N - 1) in an all-reduce. A link whose switch adds spares a part of an all-reduce.
    Source: How To Scale Your Model, "Sharded Matrices and How to Multiply Them".

    `B`, `D` and `F` are the sizes of the whole multiplication; the split one must be a multiple of
    `N`, the number of chips. With `result` "replicated", every chip ends with the whole output;
    with "sharded", with an Nth of it. `partial` is the data type of the partial sums that split "D"
    sends, by default `out`. The other types and the errors are those of `matmul`; other values of
    `split` and `result` raise a ValueError.
    """
    output = matmul_types(x, w, out, compute)[2]
    sums = dtype_or("partial", partial, output)
    replicated = one_of("result", result, ("replicated", "sharded")) == "replicated"
    (B, D, F), N = positives(B=B, D=D, F=F), whole("N", N)
    broadcastable({"B": B, "D": D, "F": F, "N": N})
    gathered, sizes = output.bytes * (B * F), {"B": B, "D": D, "F": F}
    size = sizes[one_of("split", split, sizes)]
    if np.any(size % N):
        raise ValueError(f"{split} must be a multiple of N to be split; got {split}={size}, N={N}")
    sizes[split] = size // N
    B, D, F = sizes.values()
    own = matmul(B, D, F, x, w=w, out=sums if split == "D" else output, compute=compute)
    less: Number = 0
    if split == "D":
        sent = (all_reduce if replicated else reduce_scatter)(own.written, N)
        less = spared(own.written, N) if replicated else 0
        hops = ring_steps(N, 2 if replicated else 1)
    else:
        sent, hops = (all_gather(gathered, N), ring_steps(N)) if replicated else (0, 0)
    held = own.loaded + larger(own.written, gathered if replicated else gathered / N)
    counts = {"flops": own.flops, "loaded": own.loaded, "written": own.written, "held": held}
    name = f"matmul, {split} split over chips"
    return share(own.compute, N, name, **counts, sent=sent, hops=hops, spared=less)
