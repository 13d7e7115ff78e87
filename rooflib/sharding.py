"""A matrix multiplication shared by N chips, split along any of its three dimensions."""

from __future__ import annotations

import numpy as np

from rooflib._arguments import Number, Size, one_of, positive, whole
from rooflib.collectives import all_gather, all_reduce, reduce_scatter
from rooflib.dtypes import DType, dtype
from rooflib.operations import ANY_LINK, Operation, matmul_types


def sharded_matmul(
    B: Size,
    D: Size,
    F: Size,
    N: Size,
    split: str = "D",
    result: str = "replicated",
    x: str | DType = "bf16",
    w: str | DType | None = None,
    out: str | DType | None = None,
    partial: str | DType | None = None,
    compute: str | DType | None = None,
) -> Operation:
    """One chip's share of x[B, D] · w[D, F] → out[B, F] over N chips.

    ========  =======================  ==========================  =====================
    split     each chip multiplies     replicated result needs     sharded result needs
    ========  =======================  ==========================  =====================
    "B"       x[B/N, D] · w[D, F]      all-gather of BF            nothing
    "D"       x[B, D/N] · w[D/N, F]    all-reduce of BF            reduce-scatter of BF
    "F"       x[B, D] · w[D, F/N]      all-gather of BF            nothing
    ========  =======================  ==========================  =====================

    FLOPs are those of the multiplication, 2BDF/N; the additions of the reduction are left out,
    as are the HBM bytes that the collective itself reads and writes.
    Source: How To Scale Your Model, "Sharded Matrices and How to Multiply Them".

    Parameters
    ----------
    B, D, F
        Sizes of the whole multiplication. The one that is split must be a multiple of N.
    N
        Number of chips.
    split
        The dimension to split: "B", "D" (the contraction) or "F".
    result
        "replicated": every chip ends with the whole output. "sharded": with an Nth of it.
    partial
        With split "D", the data type of the partial sums that are sent; by default `out`.
    x, w, out, compute
        As for `matmul`.
    """
    types = matmul_types(x, w, out, compute)
    one_of("result", result, ("replicated", "sharded"))
    B, D, F, N = positive("B", B), positive("D", D), positive("F", F), whole("N", N)
    of_sums = types.out if partial is None else dtype(partial, "partial")
    if one_of("split", split, ("B", "D", "F")) == "D":
        D = _share("D", D, N)
        collective = all_reduce if result == "replicated" else reduce_scatter
        sent, written = collective(of_sums.bytes * (B * F), N), of_sums.bytes * (B * F)
    else:
        gathered = types.out.bytes * (B * F)
        sent = all_gather(gathered, N) if result == "replicated" else 0
        if split == "B":
            B = _share("B", B, N)
        else:
            F = _share("F", F, N)
        written = types.out.bytes * (B * F)
    return Operation(
        name=f"matmul, {split} split over chips",
        flops=2 * D * (B * F),
        loaded=types.x.bytes * (B * D) + types.w.bytes * (D * F),
        written=written,
        compute=types.compute,
        sent={ANY_LINK: sent} if np.any(sent) else {},
        resident=None,
        chips=N,
    )


def _share(name: str, size: Number, N: Number) -> Number:
    remainder = np.mod(size, N) if isinstance(size, np.ndarray | int) else size % N
    if np.any(remainder):
        raise ValueError(f"{name} must be a multiple of N to be split; got {name}={size}, N={N}")
    return size // N
