"""Operations: exact FLOPs and bytes from shapes and data types.

Bytes are the minimum that any implementation must move between HBM and the chip: every input
element is loaded once, every output element is written once.

A multiply-add counts as two FLOPs. `accumulate_from` sets how a sum of D products starts: from
"zero" (2D FLOPs, as in a matrix unit) or from the first "product" (2D - 1 FLOPs). Accumulators stay
on the chip and cost no bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rooflib import _arguments as check
from rooflib._arguments import Number, ReadOnlyDict, Size, divide, same_fields
from rooflib.dtypes import DTYPES, DType, Type, common_type, dtype
from rooflib.table import Table, from_rows
from rooflib.units import breakable, span

ANY_LINK = "link"
"""The key in `Operation.sent` for bytes whose link is chosen in `bound`."""


@dataclass(frozen=True, repr=False, eq=False)
class Operation:
    """The work of one chip in FLOPs and bytes; made by `matmul` and others.

    Operations are equal if all their fields are equal, arrays included.

    Attributes
    ----------
    name
        A label.
    flops
        FLOPs each chip performs (integer operations for integer types).
    loaded, written
        Bytes each chip reads from and writes to its HBM.
    compute
        The data type of the arithmetic, which determines the peak.
    sent
        Bytes each chip sends to other chips, one way, by link name, if only chips add.
    spared
        Bytes of `sent` that a link spares whose switch adds, by link name.
    resident
        Bytes each chip must hold in HBM at the same time; None if equal to `loaded + written`.
    chips
        Number of chips that share the operation.
    vector, vector_compute
        FLOPs each chip performs on its vector units, in addition to `flops`; and their data type.
    hops
        Sequential messages each chip sends, by link name; each adds the latency of the link.
    exponentials
        Exponentials each chip computes on its special-function units.
    parts
        Kinds of operations that this one consists of, if it is a step of a model: their counts add
        up to its own.
    """

    name: str
    flops: Number
    loaded: Number
    written: Number
    compute: DType
    sent: Mapping[str, Number] = field(default_factory=dict)
    resident: Number | None = None
    chips: Number = 1
    vector: Number = 0
    vector_compute: DType = DTYPES["fp32"]
    hops: Mapping[str, Number] = field(default_factory=dict)
    exponentials: Number = 0
    parts: tuple[Operation, ...] = ()
    spared: Mapping[str, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("sent", "hops", "spared"):
            object.__setattr__(self, name, ReadOnlyDict(getattr(self, name)))

    __eq__ = same_fields

    @cached_property
    def bytes(self) -> Number:
        """Bytes each chip moves between HBM and its compute units: loaded and written."""
        return self.loaded + self.written

    @property
    def intensity(self) -> Number:
        """Arithmetic intensity in FLOP/byte: infinite without bytes, zero without FLOPs."""
        return divide(self.flops, self.bytes)

    @property
    def held(self) -> Number:
        """Bytes that must be in HBM at the same time."""
        return self.bytes if self.resident is None else self.resident

    @property
    def table(self) -> Table:
        """Table of the counts of one chip; arrays show their range."""
        rows = {"FLOPs": span(self.flops, "FLOP"), "computed in": self.compute.name}
        rows |= {label.removeprefix("of "): shown for label, shown in self._others.items()}
        rows |= {"loaded": span(self.loaded, "B"), "written": span(self.written, "B")}
        rows |= {f"sent over {link}": span(size, "B") for link, size in self.sent.items()}
        rows["intensity"] = span(self.intensity, "FLOP/B")
        return from_rows((self.name, ""), rows.items())

    def __repr__(self) -> str:
        parts = [f"{span(self.flops, 'FLOP')} in {self.compute.name}"]
        parts += [f"{shown} {label}" for label, shown in self._others.items()]
        parts += [span(self.bytes, "B")]
        parts += [f"{span(size, 'B')} over {link}" for link, size in self.sent.items()]
        parts.append(span(self.intensity, "FLOP/B"))
        return breakable(f"<Operation {self.name}: {', '.join(parts)}>")

    @property
    def _others(self) -> dict[str, str]:
        """The vector FLOPs and exponentials as text; those that are zero are left out."""
        others = {}
        if np.any(self.vector):
            shown = f"{span(self.vector, 'FLOP')} in {self.vector_compute.name}"
            others["on vector units"] = shown
        if np.any(self.exponentials):
            others["of exponentials"] = span(self.exponentials, "OP")
        return others

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


def operation(
    flops: Size = 0,
    bytes: Size = 0,
    compute: Type = "bf16",
    *,
    sent: Size | Mapping[str, Size] = 0,
    name: str = "operation",
    hops: Size | Mapping[str, Size] = 0,
    vector: Size = 0,
    vector_compute: Type = "fp32",
    exponentials: Size = 0,
) -> Operation:
    """Make a custom operation from its FLOPs and its bytes.

    >>> operation(flops=1e9, bytes=4e9, compute="fp32").intensity
    0.25

    Arguments are those of `Operation`, zero or above; `bytes` counts those loaded and written.
    `sent` and `hops` are numbers, or mappings from link name to number. Errors are those of
    `matmul`.
    """
    ways, waits = _by_link("sent", sent), _by_link("hops", hops)
    given = {"flops": flops, "bytes": bytes, "vector": vector, "exponentials": exponentials}
    counts: Any = {count: check.kept(count, size) for count, size in given.items()}
    check.broadcastable(counts | ways | {f"hops[{link!r}]": n for link, n in waits.items()})
    counts |= {"loaded": counts.pop("bytes"), "written": 0, "sent": ways, "hops": waits}
    kind, beside = dtype(compute, "compute"), dtype(vector_compute, "vector_compute")
    return Operation(name, compute=kind, vector_compute=beside, **counts)


def dot(
    N: Size,
    x: Type = "bf16",
    *,
    compute: Type | None = None,
    accumulate_from: str = "product",
) -> Operation:
    """Count a dot product of two vectors of shape [N] into one number of their type.

    2N - 1 FLOPs, 2N elements loaded, one written: an intensity of ½ FLOP/byte in bf16 for
    long vectors. `compute` is the type of the arithmetic and defaults to `x`. With
    `accumulate_from="zero"`, 2N FLOPs are counted. Errors are those of `matmul`.
    Source: How To Scale Your Model, "All About Rooflines".

    >>> dot(1000).flops, dot(1000).bytes
    (1999, 4002)
    """
    read, _, _, kind = matmul_types(x, None, None, compute)
    N = check.positive("N", N, check.MAX_SIZE)
    flops = sum_of_products(N, accumulate_from)
    return Operation("dot product", flops, 2 * N * read.bytes, read.bytes, kind)


def elementwise(
    N: Size,
    inputs: Size = 1,
    flops_per_element: Size = 1,
    x: Type = "bf16",
    *,
    out: Type | None = None,
    compute: Type | None = None,
) -> Operation:
    """Count an element-wise operation: `inputs` arrays of N elements in, one out.

    N · flops_per_element FLOPs, inputs · N elements of type `x` loaded, N of type `out` written.
    An addition has two inputs and one FLOP per element; a ReLU has one of each. `out` and
    `compute` default to `x`. Errors are those of `matmul`. Counted from the definition.
    """
    read, _, result, kind = matmul_types(x, None, out, compute)
    N, inputs = check.positives(N=N, inputs=inputs)
    each = check.non_negative("flops_per_element", flops_per_element)
    check.broadcastable({"N": N, "inputs": inputs, "flops_per_element": each})
    loaded = inputs * N * read.bytes
    return Operation("element-wise", N * each, loaded, N * result.bytes, kind)


def rms_norm(B: Size, D: Size, x: Type = "bf16", *, compute: Type | None = None) -> Operation:
    """Count RMS normalization of B rows of D elements, with a gain of shape [D].

    A row stays on the chip between its two passes, so it is loaded once. Per row: D squares,
    D - 1 additions, a division by D, an addition of ε and a reciprocal square root, then two
    multiplications per element: 4D + 2 FLOPs. Source of the formula: Zhang & Sennrich, "Root
    Mean Square Layer Normalization", 2019. Errors are those of `matmul`.
    """
    read, _, _, kind = matmul_types(x, None, None, compute)
    B, D = check.positives(B=B, D=D)
    loaded, written = (B * D + D) * read.bytes, B * D * read.bytes
    return Operation("RMS norm", B * (4 * D + 2), loaded, written, kind)


def matmul(
    B: Size,
    D: Size,
    F: Size,
    x: Type = "bf16",
    *,
    w: Type | None = None,
    out: Type | None = None,
    compute: Type | None = None,
    accumulate_from: str = "zero",
) -> Operation:
    """Count a matrix multiplication x[B, D] · w[D, F] → out[B, F].

    2BDF FLOPs; BD and DF elements loaded, BF written. Source: How To Scale Your Model,
    "All About Rooflines".

    >>> layer = matmul(10, 20, 30, w="int8")
    >>> layer.flops, layer.loaded, layer.written
    (12000, 1000, 600)

    Raises a ValueError for an unknown data type, types without a common type, a size that is not
    above zero and finite, or shapes that don't broadcast; a TypeError for a size that is no number.

    Parameters
    ----------
    B, D, F
        Rows of the input (tokens), contraction dimension, columns of the weight: numbers, or
        arrays that broadcast.
    x, w, out, compute
        Data types of input, weight, output and arithmetic. `w` and `out` default to `x`; `compute`
        defaults to the common type of `x` and `w`, such as bf16 for int8 and bf16, and is required
        if there is none.
    accumulate_from
        "zero" counts 2BDF FLOPs, "product" counts BF(2D - 1).
    """
    read, weight, result, kind = matmul_types(x, w, out, compute)
    B, D, F = check.positives(B=B, D=D, F=F)
    outputs, loaded = B * F, D * (read.bytes * B + weight.bytes * F)
    flops = sum_of_products(D, accumulate_from) * outputs
    return Operation("matmul", flops, loaded, result.bytes * outputs, kind)


def matmul_per_example(
    B: Size,
    D: Size,
    F: Size,
    x: Type = "bf16",
    *,
    w: Type | None = None,
    out: Type | None = None,
    compute: Type | None = None,
    accumulate_from: str = "zero",
) -> Operation:
    """Count a matmul with weights per row: x[B, D] · w[B, D, F] → out[B, F].

    It takes as many FLOPs as `matmul` but loads BDF weight elements. No weight is reused, so the
    intensity stays near two FLOPs per weight element at any batch size.
    Parameters and errors are those of `matmul`. Counted from the definition.
    """
    read, weight, result, kind = matmul_types(x, w, out, compute)
    B, D, F = check.positives(B=B, D=D, F=F)
    flops = sum_of_products(D, accumulate_from) * (B * F)
    loaded = read.bytes * (B * D) + weight.bytes * (B * D * F)
    return Operation("matmul, a weight per example", flops, loaded, result.bytes * (B * F), kind)


def matmul_types(
    x: Type, w: Type | None, out: Type | None, compute: Type | None, second: str = "w"
) -> tuple[DType, DType, DType, DType]:
    """Return the data types of a matmul: input, weight, output, arithmetic.

    `second` is the name of the weight argument in error messages.
    """
    read = dtype(x, "x")
    weight = dtype_or(second, w, read)
    kind = common_type(read, weight) if compute is None else dtype(compute, "compute")
    return read, weight, dtype_or("out", out, read), kind


def dtype_or(argument: str, given: Type | None, read: DType) -> DType:
    """Return the given data type, or that of the input."""
    return read if given is None else dtype(given, argument)


def _by_link(name: str, given: Size | Mapping[str, Size]) -> dict[str, Number]:
    if not isinstance(given, Mapping):
        return over_any_link(check.kept(name, given))
    return {link: check.kept(f"{name}[{link!r}]", size) for link, size in given.items()}


def over_any_link(size: Number) -> dict[str, Number]:
    """Return {ANY_LINK: size}, for bytes or messages; an empty dict if all are zero."""
    return {ANY_LINK: size} if np.any(size) else {}


def sum_of_products(D: Number, accumulate_from: str) -> Number:
    """Return the FLOPs of a sum of D products."""
    start = check.one_of("accumulate_from", accumulate_from, ("zero", "product"))
    return 2 * D if start == "zero" else 2 * D - 1


def share(
    compute: DType,
    chips: Number,
    name: str,
    *,
    flops: Number = 0,
    loaded: Number = 0,
    written: Number = 0,
    held: Number = 0,
    sent: Number = 0,
    hops: Number = 0,
    spared: Number = 0,
) -> Operation:
    """Make an operation from the counts of one chip.

    `bound` chooses the link that carries what is sent.
    """
    over, waits, less = map(over_any_link, (sent, hops, spared))
    counts = name, flops, loaded, written, compute, over, held, chips
    return Operation(*counts, hops=waits, spared=less)


def total(name: str, parts: tuple[Operation, ...]) -> Operation:
    """Return the operation that consists of `parts`; its counts are their sums.

    Parts that compute, move and send nothing are left out.
    """
    # FLOPs needn't be checked: parts that compute also move bytes.
    parts = tuple(part for part in parts if np.count_nonzero(part.bytes) or part.sent)
    first, *_ = parts

    def added(count: str) -> Number:
        return sum(getattr(part, count) for part in parts)

    def over_links(way: str) -> dict[str, Number]:
        return over_any_link(sum(getattr(part, way).get(ANY_LINK, 0) for part in parts))

    counts = added("flops"), added("loaded"), added("written"), first.compute
    held, (sent, hops, spared) = added("held"), map(over_links, ("sent", "hops", "spared"))
    more = sent, held, first.chips
    return Operation(name, *counts, *more, hops=hops, parts=parts, spared=spared)
