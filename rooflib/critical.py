"""Critical sizes: where an operation becomes compute-bound."""

from __future__ import annotations

import math

import numpy as np

from rooflib.catalog import as_chip
from rooflib.checks import Number, Size, one_of, size, sizes
from rooflib.dtypes import Type, dtype
from rooflib.hardware import Chip, Link
from rooflib.operations import all_gather, all_reduce, matmul_types
from rooflib.quantities import quantity


def critical_batch(
    chip: str | Chip,
    D: Size = math.inf,
    F: Size = math.inf,
    x: Type = "bf16",
    *,
    w: Type = "",
    out: Type = "",
    compute: Type = "",
) -> Number:
    """Return the critical batch of x[B, D] · w[D, F] → out[B, F] on one chip.

    >>> critical_batch("H100 SXM", w="int8"), critical_batch("H100 SXM", 4096, 16384)
    (148, 325)

    Set 2BDF ÷ (x·BD + w·DF + out·BF) equal to the ridge point R, with x, w and out in bytes per
    element, and solve for B:

        B = R · w · DF ÷ (2DF - R · (x·D + out·F))

    If the denominator is not positive, loading and storing activations alone takes longer than
    the arithmetic: no batch is large enough, and the result is infinite. As D and F grow, by
    default without end, B approaches R · w ÷ 2 from above: only the weights then cost bytes.
    Source: How To Scale Your Model, "All About Rooflines", with all three arrays counted.

    The result is in rows (tokens) per chip, not rounded. Sizes, data types and errors are those of
    `matmul`, `chip` is that of `Work.on`.
    """
    read, weight, output, kind = matmul_types(x, w, out, compute)
    D, F = sizes(largest=math.inf, D=D, F=F)
    ridge = float(as_chip(chip).ridge(kind))
    # Numerator and denominator are divided by DF, so that large sizes don't lose precision.
    room = np.asarray(2 - ridge * (read.bytes / F + output.bytes / D))
    full = np.full(room.shape, np.inf)
    return quantity(np.divide(ridge * weight.bytes, room, out=full, where=room > 0)[()])


def critical_depth(
    chip: str | Chip,
    link: str | Link,
    N: Size = 2,
    *,
    split: str = "D",
    out: Type = "bf16",
    compute: Type = "bf16",
) -> Number:
    """Return the critical contraction dimension of a matmul sharded over N chips.

    From this D on, the link keeps up with compute.

    With a replicated result, T_math = 2BDF ÷ (N·C). Splitting D sends 2(N-1)/N · out·BF bytes
    (all-reduce), so D = (N - 1) · out · C ÷ W. Splitting B or F sends half of that (all-gather), so
    the threshold is half as high. With an all-reduce in a switch that adds, out·BF bytes, it is
    N/2 · out · C ÷ W. B and F cancel. C is the dense peak, W the link's bandwidth to the group,
    `out` the bytes per element sent.
    Source: How To Scale Your Model, "All About Rooflines", generalized from 2 chips to N.

    The result is the D of the whole multiplication, not rounded, and 0 for one chip. `chip` and
    `link` are those of `Work.on`.
    """
    chip = as_chip(chip)
    over, N = chip.link(link), size("N", N, whole=True)
    reduced = one_of("split", split, ("B", "D", "F")) == "D"
    sent = all_reduce(1, N, in_switch=over.reduces) if reduced else all_gather(1, N)
    seconds = dtype(out, "out").bytes * sent / over.to_group(N)
    return quantity(N / 2 * float(chip[compute]) * seconds)
