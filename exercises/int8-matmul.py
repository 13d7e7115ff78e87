# ---
# title: "Exercise 1: int8 matmul"
# minutes: 35
# difficulty: easy
# read_first: matmul
# description: >-
#   Count bytes and operations of a matrix multiplication in int8, and find its intensity, its
#   critical batch and its time.
# ---

# %% page [markdown]
# A layer multiplies a batch of activations by a weight matrix, and everything is stored in int8:
#
# $$
# \texttt{int8}[B, D] \cdot \texttt{int8}[D, F] \rightarrow \texttt{int8}[B, F]
# $$
#
# The chip has an int8 peak of {eval}`f"{rl.Quantity(peak, 'OP/s'):e}"` and an HBM bandwidth of
# {eval}`f"{rl.Quantity(bandwidth, 'B/s'):e}"`. (The catalog has {eval}`f"{catalog:e}"`
# for the same chip, and {ref}`two editions <hardware-editions>` of its source differ. Use the
# figures given here.)
#
# - How many bytes are loaded, and how many written?
# - How many operations does it take?
# - What is the arithmetic intensity, exactly and for a small batch?
# - From what batch on is the multiplication compute-bound?
# - How long do the arithmetic and the traffic take, and between which bounds does the running time
#   lie?
#
# ## Hints
#
# :::{dropdown} Hint: where do the bytes come from?
# Write down the shape of each of the three arrays, and next to it how often its elements move
# between HBM and the chip. Only then multiply by the width of an element.
# :::
#
# :::{dropdown} Hint: when does it turn?
# The chip has an intensity of its own: operations per second over bytes per second. At the batch
# that you're looking for, the two intensities are equal. How does each of the two depend on the
# data type?
# :::
#
# :::{dropdown} Hint: two bounds
# Think of the two times as two people working on one job. When is it done if they work side by
# side? And if the second waits for the first?
# :::

# %% [markdown]
# A layer multiplies a batch of activations by a weight matrix, and everything is stored in int8:
# `int8[B, D] · int8[D, F] → int8[B, F]`. You work out what this costs on one chip, first in
# operations and bytes, then in seconds: how long it takes at least and at most, and from what
# batch on the chip's arithmetic is the bottleneck.
#
# `B` is the number of rows (tokens), `D` the contraction dimension, `F` the number of columns of
# the weights.

# %% given
from roofkit.check import check

# Given by the exercise: one chip, one int8 peak, one HBM bandwidth.
peak = 3.94e14  # int8 operations per second (OP/s), dense
bandwidth = 8.1e11  # HBM, bytes per second

# %% page
import rooflib as rl

catalog = rl.chip("TPU v5e")["HBM"]

# %% grading


from grading.schema import Real, Whole, part

# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 64, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
    {"B": 64, "D": 8192, "F": 8192},
)
# The smallest sizes: counting one element too many changes the answer visibly.
SMALLEST = {"B": 2, "D": 512, "F": 512}
# For answers that are sums of a few products: with more cases, a fit would find out which ones.
# The second is so small that three decimals of an intensity are not enough.
FEW = (SIZES[1], {"B": 2, "D": 2048, "F": 4096})
CHIPS = (
    {"peak": peak, "bandwidth": bandwidth},
    {"peak": 1.1e15, "bandwidth": 1.5e12},
    {"peak": 6.24e14, "bandwidth": 2e12},
    {"peak": peak, "bandwidth": 2e12},
)
# The second size, on the third chip, is compute-bound; the others are memory-bound.
BOTH = (
    *(SIZES[size] | CHIPS[chip] for size, chip in enumerate((0, 2, 1, 3))),
    SMALLEST | {"peak": 4e10, "bandwidth": 8e9},  # a slow chip, so that times have enough digits
)
SIZE_RANGES = {
    "B": Whole(2, 1024),
    "D": Whole(512, 16384, multiple_of=128),
    "F": Whole(512, 16384, multiple_of=128),
}
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
CHIP_RANGES = {"peak": Real(4e14, 4e15), "bandwidth": Real(3e11, 1.9e12)}


def moved(B, D, F, out=1):
    return B * D + D * F + out * B * F


def times_if(B, D, F, peak, bandwidth, flops=2, width=1, out=1):
    return flops * B * D * F / peak, width * moved(B, D, F, out) / bandwidth


BOUND_BY = {
    "compute-bound": lambda **case: times_if(**case)[0] > times_if(**case)[1],
    "traffic-bound": lambda **case: times_if(**case)[0] < times_if(**case)[1],
}

# %% [markdown]
# ## Part 1: bytes (5 points)
#
# How many bytes must be loaded from HBM, and how many written back to it? Count the least that any
# implementation must move: each input element loaded once, each output element written once. The
# output is stored in int8 too.


# %%
def bytes_moved(B, D, F):
    """HBM traffic of int8[B, D] · int8[D, F] → int8[B, F].

    B, D, F: whole numbers. Returns a pair (loaded, written), both in bytes.
    """
    return B * D + D * F, B * F


# %% grading
part(
    bytes_moved,
    "Draw the three arrays and write under each how many elements it has, from its two sides. "
    "Then write how many bytes one int8 element takes. Which of the arrays are read, and which "
    "is written? Each belongs into one of the two numbers of the pair.",
    kind="numbers",
    cases=FEW,
    ranges=SIZE_RANGES,
    wrong={
        "output-not-counted": lambda B, D, F: (B * D + D * F, 0),
        "input-not-counted": lambda B, D, F: (D * F, B * F),
        "two-bytes-for-int8": lambda B, D, F: (2 * (B * D + D * F), 2 * B * F),
        "bits-for-bytes": lambda B, D, F: (8 * (B * D + D * F), 8 * B * F),
        "swapped": lambda B, D, F: (B * F, B * D + D * F),
        "weights-not-counted": lambda B, D, F: (B * D, B * F),
        "weights-for-each-row": lambda B, D, F: (B * D + B * D * F, B * F),
        "output-twice": lambda B, D, F: (moved(B, D, F), B * F),
        "total-for-written": lambda B, D, F: (B * D + D * F, moved(B, D, F)),
    },
)

# %% [markdown]
# ## Part 2: operations, and operations per byte (8 points)
#
# How many operations does the multiplication take? Count a multiply-add as two operations. Each
# output element starts from an empty accumulator, so every product is also added.
#
# What is the arithmetic intensity, exactly: operations for each byte that is loaded or written?
#
# Often the batch is much smaller than the weights' two sides. What does the intensity approach when
# `B` is much smaller than `D` and `F`? Give the limit itself, not the exact value.


# %%
def operations_per_byte(B, D, F):
    """Operations of int8[B, D] · int8[D, F] → int8[B, F], and how many there are for each byte.

    Returns three numbers: (operations, exact intensity in OP/byte, its limit for a small batch).
    """
    loaded, written = bytes_moved(B, D, F)
    operations = 2 * B * D * F
    return operations, operations / (loaded + written), 2 * B


# %% grading
def counted(B, D, F, flops=2, width=1, out=1):
    """Return operations, intensity and its limit, if they are counted in this way."""
    operations, limit = flops * B * D * F, flops * B / width
    return operations, operations / (width * moved(B, D, F, out)), limit


def instead(intensity=None, limit=None):
    """Return a function that gives these answers in place of the right ones."""

    def found(B, D, F):
        operations, exact, small_batch = counted(B, D, F)
        return (
            operations,
            intensity(B, D, F) if intensity else exact,
            limit(B, D, F) if limit else small_batch,
        )

    return found


part(
    operations_per_byte,
    "Take one element of the output. It is a sum of products: how many products, and how many "
    "operations does one cost together with its addition? All of them, divided by all bytes, are "
    "the intensity. For the limit, write the bytes as a sum of three terms and put in a small B "
    "beside large D and F: which term is left?",
    key="intensity",
    kind="numbers",
    cases=FEW,
    ranges=SIZE_RANGES | {"B": Whole(2, 256)},  # smaller than D and F
    # A count of operations that overflows 32-bit integers.
    branches={"more than 32 bits": lambda B, D, F: 2 * B * D * F >= 2**32},
    wrong={
        "multiply-add-once": lambda **case: counted(**case, flops=1),
        "one-addition-less": lambda B, D, F: (*counted(B, D, F, flops=2 - 1 / D)[:2], 2 * B),
        "batch-left-out": lambda B, D, F: counted(B, D, F, flops=2 / B),
        "contraction-left-out": lambda B, D, F: counted(B, D, F, flops=2 / D),
        "output-not-counted": lambda **case: counted(**case, out=0),
        "two-bytes-for-int8": lambda B, D, F: (2 * B * D * F, *counted(B, D, F, width=2)[1:]),
        "a-factor-of-two": instead(lambda B, D, F: B * D * F / moved(B, D, F)),
        "limit-for-exact": instead(lambda B, D, F: 2 * B),
        "exact-for-limit": instead(limit=lambda B, D, F: 2 * B * D * F / moved(B, D, F)),
        "large-batch-limit": instead(limit=lambda B, D, F: 2 * D * F / (D + F)),
        "bits-for-bytes": lambda **case: counted(**case, width=8),
        "upside-down": instead(lambda B, D, F: moved(B, D, F) / (2 * B * D * F)),
    },
)

# %% [markdown]
# ## Part 3: two times (4 points)
#
# How long does the arithmetic take at peak, and how long does moving the bytes take at full
# bandwidth? Use the exact counts again.


# %%
def times(B, D, F, peak, bandwidth):
    """Time of the arithmetic and time of the HBM traffic.

    peak in OP/s, bandwidth in bytes/s. Returns a pair (T_math, T_comms), both in seconds.
    """
    loaded, written = bytes_moved(B, D, F)
    return 2 * B * D * F / peak, (loaded + written) / bandwidth


# %% grading
part(
    times,
    "Each of the two times is an amount, and a rate at which it is worked off. Write down both "
    "amounts (the parts before gave them) and both rates (they are arguments), with their units. "
    "The units must cancel so that seconds remain.",
    kind="numbers",
    cases=BOTH,
    ranges=SIZE_RANGES | CHIP_RANGES,
    branches=BOUND_BY,
    wrong={
        "output-not-counted": lambda **case: times_if(**case, out=0),
        "activations-not-counted": lambda **case: (
            times_if(**case)[0],
            case["D"] * case["F"] / case["bandwidth"],
        ),
        "multiply-add-once": lambda **case: times_if(**case, flops=1),
        "two-bytes-for-int8": lambda **case: times_if(**case, width=2),
        "bits-for-bytes": lambda **case: times_if(**case, width=8),
        "milliseconds": lambda **case: tuple(1e3 * t for t in times_if(**case)),
        "swapped": lambda **case: times_if(**case)[::-1],
    },
)

# %% [markdown]
# ## Part 4: between which bounds (3 points)
#
# How long does the whole operation take at least, if arithmetic and traffic overlap perfectly? And
# at most, if they don't overlap at all?


# %%
def bounds(B, D, F, peak, bandwidth):
    """Lower and upper bound of the running time: a pair (lower, upper), both in seconds."""
    t_math, t_comms = times(B, D, F, peak, bandwidth)
    return max(t_math, t_comms), t_math + t_comms


# %% grading
def bounds_if(B, D, F, peak, bandwidth, **counts):
    pair = times_if(B, D, F, peak, bandwidth, **counts)
    return max(pair), sum(pair)


part(
    bounds,
    "Draw the two times as bars on a time axis, once side by side from the same start, once one "
    "after the other. When is everything over in the first picture? When in the second?",
    kind="numbers",
    cases=BOTH,
    ranges=SIZE_RANGES | CHIP_RANGES,
    branches=BOUND_BY,
    wrong={
        "swapped": lambda **case: bounds_if(**case)[::-1],
        "shorter-of-the-two": lambda **case: (min(times_if(**case)), sum(times_if(**case))),
        "the-two-times": lambda **case: tuple(sorted(times_if(**case))),
        "times-for-bounds": times_if,
        "one-time-twice": lambda **case: (max(times_if(**case)), 2 * max(times_if(**case))),
        "output-not-counted": lambda **case: bounds_if(**case, out=0),
        "multiply-add-once": lambda **case: bounds_if(**case, flops=1),
        "two-bytes-for-int8": lambda **case: bounds_if(**case, width=2),
        "milliseconds": lambda **case: tuple(1e3 * t for t in bounds_if(**case)),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# From what batch on is the multiplication compute-bound on the given chip, in the limit of part 2?
# Then do the same for bf16 on this chip, where an element takes two bytes and the peak is half as
# high. Compare the two batches. What did using int8 everywhere change, if not the critical batch?
# Would you notice it at a batch far below the critical one?

# %% next [markdown]
# Exercise 2 keeps the weights in int8 and goes back to bf16 for everything else.

# %% moral [markdown]
# Half the bytes and twice the operations per second move both roofs by the same factor. So int8
# everywhere leaves the critical batch about where it is in bf16; what it halves is the time, at
# every batch.

# %% thoughts [markdown]
# The two critical batches are the same: in bf16 the ridge point is half as high, and so is the
# intensity at each batch. Using int8 everywhere halves the lower bound of the time, whichever roof
# binds. So you notice it far below the critical batch, too: there the time is that of the bytes,
# and there are half as many.
