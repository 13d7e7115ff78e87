"""Operations: FLOPs and bytes counted exactly from shapes and a data type per operand.

Bytes are the least that any implementation must move between HBM and the chip: every input
element loaded once, every output element written once.

A multiply-add counts as two FLOPs. `accumulate_from` says where a sum of D products starts:
"zero" adds all D of them to an empty accumulator (2D FLOPs, what a matrix unit does and what
the formula 2BDF counts), "product" starts from the first of them (2D - 1 FLOPs). Accumulators
stay on the chip, whatever their type, and cost no bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rooflib._arguments import Number, Size, divide, non_negative, one_of, positive
from rooflib.dtypes import DType, dtype, wider

ANY_LINK = "link"
"""The key under which `Operation.sent` keeps bytes whose link is chosen later, by `bound`."""


@dataclass(frozen=True)
class Operation:
    """What one chip has to do: so many FLOPs, so many bytes.

    Attributes
    ----------
    name
        What the operation is, for labels.
    flops
        Operations each chip performs (FLOP; for integer types, plain operations).
    loaded, written
        Bytes each chip reads from and writes to its HBM.
    compute
        The data type of the arithmetic; it decides which peak is the ceiling.
    sent
        Bytes each chip sends to other chips, one way, by link name.
    resident
        Bytes each chip must hold at once; None where that is `loaded + written`.
    chips
        How many chips share the whole operation.
    """

    name: str
    flops: Number
    loaded: Number
    written: Number
    compute: DType
    sent: Mapping[str, Number] = field(default_factory=dict)
    resident: Number | None = None
    chips: Number = 1

    @cached_property
    def bytes(self) -> Number:
        """Bytes each chip moves between HBM and its compute units: loaded and written."""
        return self.loaded + self.written

    @property
    def intensity(self) -> Number:
        """Arithmetic intensity in FLOP/byte; infinite if no byte moves."""
        return divide(self.flops, self.bytes)

    @property
    def held(self) -> Number:
        """Bytes of HBM that must be there at once for the operation to run."""
        return self.bytes if self.resident is None else self.resident


def operation(
    flops: Size = 0,
    bytes: Size = 0,
    compute: str | DType = "bf16",
    sent: Size | Mapping[str, Size] = 0,
    name: str = "operation",
) -> Operation:
    """Anything else: an operation of which only its FLOPs and its bytes are known.

    Parameters
    ----------
    flops, bytes
        FLOPs performed and bytes moved from and to HBM; numbers or arrays, zero allowed.
    compute
        Data type of the arithmetic.
    sent
        Bytes sent to other chips, one way: one number, or a mapping from link name to bytes.
    """
    if not isinstance(sent, Mapping):
        sent = {ANY_LINK: sent} if np.any(sent) else {}
    return Operation(
        name=name,
        flops=non_negative("flops", flops),
        loaded=non_negative("bytes", bytes),
        written=0,
        compute=dtype(compute, "compute"),
        sent={link: non_negative(f"sent[{link!r}]", size) for link, size in sent.items()},
    )


def dot(
    N: Size,
    x: str | DType = "bf16",
    compute: str | DType | None = None,
    accumulate_from: str = "product",
) -> Operation:
    """Dot product of two vectors of shape [N] into one number of the same type.

    2N - 1 FLOPs, 2N elements loaded, one written: an intensity of ½ FLOP/byte in bf16 for
    long vectors. `compute` is the type of the arithmetic, by default that of the vectors.
    Source: How To Scale Your Model, "All About Rooflines".
    """
    N = positive("N", N)
    size = dtype(x, "x").bytes
    return Operation(
        name="dot product",
        flops=sum_of_products(N, accumulate_from),
        loaded=2 * N * size,
        written=size,
        compute=dtype(x, "x") if compute is None else dtype(compute, "compute"),
    )


def elementwise(
    N: Size,
    inputs: int = 1,
    flops_per_element: Size = 1,
    x: str | DType = "bf16",
    out: str | DType | None = None,
    compute: str | DType | None = None,
) -> Operation:
    """Element-wise operation: `inputs` arrays of N elements in, one array of N elements out.

    N · flops_per_element FLOPs, inputs · N elements of type `x` loaded, N of type `out` written.
    An addition has two inputs and one FLOP per element; a ReLU has one of each.
    """
    N = positive("N", N)
    read = dtype(x, "x")
    return Operation(
        name="element-wise",
        flops=N * non_negative("flops_per_element", flops_per_element),
        loaded=positive("inputs", inputs) * N * read.bytes,
        written=N * (read if out is None else dtype(out, "out")).bytes,
        compute=read if compute is None else dtype(compute, "compute"),
    )


def rms_norm(
    B: Size, D: Size, x: str | DType = "bf16", compute: str | DType | None = None
) -> Operation:
    """RMS normalisation of B rows of D elements, with a learned gain of shape [D].

    A row stays on the chip between its two passes, so it is loaded once. Per row: D squares,
    D - 1 additions, a division by D, an addition of ε and a reciprocal square root, then two
    multiplications per element: 4D + 2 FLOPs. Source of the formula: Zhang & Sennrich, "Root
    Mean Square Layer Normalization", 2019.
    """
    B, D = positive("B", B), positive("D", D)
    read = dtype(x, "x")
    return Operation(
        name="RMS norm",
        flops=B * (4 * D + 2),
        loaded=(B * D + D) * read.bytes,
        written=B * D * read.bytes,
        compute=read if compute is None else dtype(compute, "compute"),
    )


def matmul(
    B: Size,
    D: Size,
    F: Size,
    x: str | DType = "bf16",
    w: str | DType | None = None,
    out: str | DType | None = None,
    compute: str | DType | None = None,
    accumulate_from: str = "zero",
) -> Operation:
    """Matrix multiplication x[B, D] · w[D, F] → out[B, F].

    2BDF FLOPs; BD and DF elements loaded, BF written. Source: How To Scale Your Model,
    "All About Rooflines".

    Parameters
    ----------
    B, D, F
        Rows of the input (tokens), contraction dimension, columns of the weight.
    x, w, out
        Data types of input, weight and output. `w` and `out` default to `x`.
    compute
        Data type of the arithmetic; by default the wider of `x` and `w`.
    accumulate_from
        "zero" counts 2BDF FLOPs, "product" counts BF(2D - 1).

    Raises
    ------
    ValueError
        For an unknown data type, or a size that is not above zero and finite.
    """
    types = matmul_types(x, w, out, compute)
    B, D, F = positive("B", B), positive("D", D), positive("F", F)
    return Operation(
        name="matmul",
        flops=sum_of_products(D, accumulate_from) * (B * F),
        loaded=types.x.bytes * (B * D) + types.w.bytes * (D * F),
        written=types.out.bytes * (B * F),
        compute=types.compute,
    )


def matmul_per_example(
    B: Size,
    D: Size,
    F: Size,
    x: str | DType = "bf16",
    w: str | DType | None = None,
    out: str | DType | None = None,
    compute: str | DType | None = None,
    accumulate_from: str = "zero",
) -> Operation:
    """Matrix multiplication with a weight per batch element: x[B, D] · w[B, D, F] → out[B, F].

    As many FLOPs as `matmul`, but BDF weight elements to load: no weight is used twice, so
    the intensity stays near two operations per weight element, whatever the batch.
    Parameters and errors as for `matmul`.
    """
    types = matmul_types(x, w, out, compute)
    B, D, F = positive("B", B), positive("D", D), positive("F", F)
    return Operation(
        name="matmul, a weight per example",
        flops=sum_of_products(D, accumulate_from) * (B * F),
        loaded=types.x.bytes * (B * D) + types.w.bytes * (B * D * F),
        written=types.out.bytes * (B * F),
        compute=types.compute,
    )


@dataclass(frozen=True)
class MatmulTypes:
    """The data types of a matmul: input, weight, output and arithmetic."""

    x: DType
    w: DType
    out: DType
    compute: DType


def matmul_types(
    x: str | DType,
    w: str | DType | None,
    out: str | DType | None,
    compute: str | DType | None,
) -> MatmulTypes:
    read = dtype(x, "x")
    weight = read if w is None else dtype(w, "w")
    return MatmulTypes(
        x=read,
        w=weight,
        out=read if out is None else dtype(out, "out"),
        compute=wider(read, weight) if compute is None else dtype(compute, "compute"),
    )


def sum_of_products(D: Number, accumulate_from: str) -> Number:
    start = one_of("accumulate_from", accumulate_from, ("zero", "product"))
    return 2 * D if start == "zero" else 2 * D - 1
