"""Critical sizes: where an operation becomes compute-bound."""

from __future__ import annotations

import math

import numpy as np

from rooflib._arguments import Number, Size, divide, larger, non_negative, one_of, positives, whole
from rooflib.bounds import COMPUTE, bound
from rooflib.catalog import as_chip
from rooflib.collectives import all_gather, all_reduce
from rooflib.dtypes import Type, dtype
from rooflib.hardware import Chip, Link
from rooflib.models import Model
from rooflib.operations import matmul_types


def critical_batch_limit(
    chip: str | Chip,
    x: Type = "bf16",
    *,
    w: Type | None = None,
    compute: Type | None = None,
) -> float:
    """Return the critical batch of a matmul if only the weights cost bytes.

    >>> critical_batch_limit("H100 SXM", w="int8")
    147.6865671641791

    2B ÷ (bytes per weight) = ridge point, so B = ridge · (bytes per weight) ÷ 2. It is a
    lower limit: `critical_batch` approaches it from above as D and F grow, and has the same
    parameters, errors and unit. Source: How To Scale Your Model, "All About Rooflines".
    """
    _, weight, _, kind = matmul_types(x, w, None, compute)
    return as_chip(chip).ridge(kind) * weight.bytes / 2


def critical_batch(
    chip: str | Chip,
    D: Size,
    F: Size,
    x: Type = "bf16",
    *,
    w: Type | None = None,
    out: Type | None = None,
    compute: Type | None = None,
) -> Number:
    """Return the critical batch of x[B, D] · w[D, F] → out[B, F] on one chip.

    Set 2BDF ÷ (x·BD + w·DF + out·BF) equal to the ridge point R, with x, w and out in bytes per
    element, and solve for B:

        B = R · w · DF ÷ (2DF - R · (x·D + out·F))

    If the denominator is not positive, loading and storing activations alone takes longer than
    the arithmetic: no batch is large enough, and the result is infinite.
    Source: How To Scale Your Model, "All About Rooflines", with all three arrays counted.

    The result is in rows (tokens) per chip, not rounded. Sizes, data types and errors are those of
    `matmul`, `chip` is that of `bound`; a `compute` type without a peak on it raises a ValueError.
    """
    read, weight, output, kind = matmul_types(x, w, out, compute)
    D, F = positives(D=D, F=F)
    ridge = as_chip(chip).ridge(kind)
    # Numerator and denominator are divided by DF, so that large sizes don't lose precision.
    denominator = 2 - ridge * (read.bytes / F + output.bytes / D)
    return divide(ridge * weight.bytes, larger(denominator, 0.0))


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
    (all-reduce), so D = (N - 1) · out · C ÷ W; splitting B or F sends half of that (all-gather), so
    the threshold is half as high. With an all-reduce in a switch that adds, out·BF bytes, it is
    N/2 · out · C ÷ W. B and F cancel. C is the dense peak, W the link's bandwidth to the group,
    `out` the bytes per element sent.
    Source: How To Scale Your Model, "All About Rooflines", generalized from 2 chips to N.

    The result is the D of the whole multiplication, not rounded, and 0 for one chip. `chip` and
    `link` are those of `bound`. An unknown chip, link, data type or split, and an N that is not a
    whole number, raise a ValueError.
    """
    chip = as_chip(chip)
    over, N = chip.link(link), whole("N", N)
    sent = all_reduce(1, N, in_switch=over.reduces) if split == "D" else all_gather(1, N)
    one_of("split", split, ("B", "D", "F"))
    return sent * N / 2 * dtype(out, "out").bytes * chip.peak(compute) / over.to_group(N)


def critical_training_batch(
    model: Model,
    chip: str | Chip,
    link: str | Link,
    S: Size,
    chips: Size,
    *,
    recompute: bool = False,
    x: Type = "bf16",
    gradients: Type = "bf16",
) -> Number:
    """Return the fewest sequences per chip whose arithmetic hides the link's time.

    >>> from rooflib.catalog import model
    >>> critical_training_batch(model("Llama 3 70B"), "H100 SXM", "NVLink", S=4096, chips=256)
    1

    Bytes sent don't depend on the batch, and FLOPs are proportional to it: the link's time ÷ the
    time of one sequence's arithmetic, rounded up. S is the tokens of a sequence. Errors, and the
    other arguments, are those of `Model.train` and `bound`.
    """
    step = model.train(1, S, chips, recompute=recompute, x=x, gradients=gradients)
    times = bound(step, chip, link).times
    sending = times[as_chip(chip).link(link).name]
    return first_whole_from(divide(sending, times[COMPUTE]))


def first_whole_from(value: Size) -> Number:
    """Return the smallest whole number that is not below `value`.

    From a threshold of `critical_depth` on, a link takes no longer than the arithmetic, ties
    included. Where it must take less, use `first_whole_above`, which takes the same values.

    >>> first_whole_from(297.3), first_whole_from(298)
    (298, 298)
    """
    above = first_whole_above(value)
    return above - (above - 1 == value)


def first_whole_above(value: Size) -> Number:
    """Return the smallest whole number strictly above `value`.

    `value` is a number or an array, zero or above; infinity gives infinity.

    >>> first_whole_above(297.3), first_whole_above(298)
    (298, 299)
    """
    value = non_negative("value", value, largest=math.inf)
    if isinstance(value, np.ndarray):
        return np.floor(value) + 1
    return math.inf if math.isinf(value) else math.floor(value) + 1
