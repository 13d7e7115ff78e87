# ---
# title: "Exercise 2: int8 weights, bf16 activations"
# minutes: 40
# difficulty: hard
# read_first: matmul
# description: >-
#   Weights in int8, activations in bf16: what happens to the intensity and to the critical batch?
# ---

# %% page [markdown]
# The weights are stored in int8. Activations, output and arithmetic stay in bf16:
#
# $$
# \texttt{bf16}[B, D] \cdot \texttt{int8}[D, F] \rightarrow \texttt{bf16}[B, F]
# $$
#
# The chip has a bf16 peak of {eval}`f"{rl.Quantity(peak, 'FLOP/s'):e}"` and an HBM bandwidth of
# {eval}`f"{rl.Quantity(bandwidth, 'B/s'):e}"`.
#
# - What is the exact arithmetic intensity?
# - From what batch on is the multiplication compute-bound, for given $D$ and $F$? There are sizes
#   for which no batch is enough.
# - How many times faster is it than with bf16 weights, at a given batch?
#
# ## Hints
#
# :::{dropdown} Hint: which peak counts?
# The chip converts the weights to bf16 before it multiplies them. Storage and arithmetic are two
# different things: one determines the bytes, the other the peak.
# :::
#
# :::{dropdown} Hint: solving for the batch
# The batch is in both the numerator and the denominator of the intensity. Multiply out, bring the
# terms with the batch to one side, and look at the sign of its coefficient.
# :::
#
# :::{dropdown} Hint: what does it buy?
# Before you divide, ask which roof binds for each of the two layers. There are three combinations.
# :::

# %% [markdown]
# A common way to serve a model: the weights are stored in int8, while activations, output and
# arithmetic stay in bf16, `bf16[B, D] · int8[D, F] → bf16[B, F]`. The chip turns the weights into
# bf16 on their way to the arithmetic, which costs no traffic. You find out what this does to the
# intensity and to the critical batch, and how much time it saves.

# %% given
from roofkit.check import check

# Given by the exercise: the bf16 peak and the HBM bandwidth of one chip.
peak = 1.97e14  # bf16 FLOP/s, dense
bandwidth = 8.1e11  # HBM, bytes per second

# %% grading
import math

from grading.schema import Real, Whole, part

CHIPS = (
    {"peak": peak, "bandwidth": bandwidth},
    {"peak": 9e14, "bandwidth": 1.6e12},
    {"peak": 4.6e14, "bandwidth": 2e12},
    {"peak": 9e14, "bandwidth": 8.1e11},
)
GIVEN = CHIPS[0]
SIZE_RANGES = {
    "B": Whole(32, 2048),
    "D": Whole(512, 16384, multiple_of=128),
    "F": Whole(512, 16384, multiple_of=128),
}
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
CHIP_RANGES = {"peak": Real(2e14, 1e15), "bandwidth": Real(5e11, 9.9e11)}


def moved(B, D, F, x=2, w=1, out=2):
    return x * B * D + w * D * F + out * B * F


# %% [markdown]
# ## Part 1: intensity (6 points)
#
# What is the exact arithmetic intensity? A multiply-add is two FLOPs, and each output element
# starts from an empty accumulator. Count every byte that must be loaded or written once, each
# operand in its own type.


# %%
def intensity(B, D, F):
    """Exact arithmetic intensity of bf16[B, D] · int8[D, F] → bf16[B, F], in FLOP/byte."""
    flops = 2 * B * D * F
    return flops / (2 * B * D + D * F + 2 * B * F)


# %% grading
# With more cases, a fit would find out of which products the bytes are the sum. In the second,
# counting one element too many changes the answer visibly.
FEW = ({"B": 500, "D": 1024, "F": 8192}, {"B": 32, "D": 512, "F": 640})
# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE = {"more than 32 bits": lambda B, D, F: 2 * B * D * F >= 2**32}


def intensity_if(B, D, F, flops=2, **widths):
    return flops * B * D * F / moved(B, D, F, **widths)


part(
    intensity,
    "Make a table with a row for each of the three arrays: number of elements, bytes for one "
    "element, product of the two. Only one of the rows has a different type. The sum of the last "
    "column is what the operations are divided by.",
    cases=FEW,
    ranges=SIZE_RANGES,
    branches=LARGE,
    wrong={
        "bf16-weights": lambda **case: intensity_if(**case, w=2),
        "all-in-int8": lambda **case: intensity_if(**case, x=1, out=1),
        "widths-swapped": lambda **case: intensity_if(**case, x=1, w=2, out=1),
        "input-in-int8": lambda **case: intensity_if(**case, x=1),
        "output-in-int8": lambda **case: intensity_if(**case, out=1),
        "input-not-counted": lambda **case: intensity_if(**case, x=0),
        "output-not-counted": lambda **case: intensity_if(**case, out=0),
        "multiply-add-once": lambda **case: intensity_if(**case, flops=1),
        "one-addition-less": lambda B, D, F: intensity_if(B, D, F, flops=2 - 1 / D),
        "limit-for-exact": lambda B, D, F: 2 * B,
        "upside-down": lambda **case: 1 / intensity_if(**case),
    },
)

# %% [markdown]
# ## Part 2: critical batch (7 points)
#
# For given `D` and `F`, from what batch on is the multiplication compute-bound? Set your exact
# intensity equal to the chip's and solve for `B`. The batch may be a fraction. A value within 1%
# counts, so you may round it at the end; don't round on the way, since where only a very large
# batch is enough, that moves it far.
#
# There are sizes for which no batch is enough, because moving the activations alone takes longer
# than the arithmetic. Then return `math.inf` (or `float("inf")`). No case is so close to the border
# between these sizes and the others that rounding could decide.

# %%
import math


def critical_batch(D, F, peak, bandwidth):
    """Exact critical batch (tokens) for weights of shape [D, F]; math.inf where none is enough."""
    ridge = peak / bandwidth
    room = 2 * D * F - 2 * ridge * (D + F)
    return ridge * D * F / room if room > 0 else math.inf


# %% grading
def critical(D, F, peak, bandwidth, flops=2, x=2, w=1, out=2, infinite=True):
    ridge = peak / bandwidth
    room = flops - ridge * (x / F + out / D)
    return ridge * w / room if room > 0 or not infinite else math.inf


MAX_BATCH = 30_000  # tokens; larger critical batches depend too much on rounding the ridge point


def clear(**case):
    """Return whether the critical batch is clearly finite or clearly infinite."""
    return abs(critical(**case, infinite=False)) < MAX_BATCH


ENOUGH = {
    "none is enough": lambda **case: critical(**case) == math.inf,
    "a small one is enough": lambda **case: critical(**case) < 1_000,
    "only a very large one is enough": lambda **case: 16_000 < critical(**case) < math.inf,
}


part(
    critical_batch,
    "Write the equation: your exact intensity on one side, the chip's ratio of peak and "
    "bandwidth on the other. Multiply by the bytes, so that B stands on both sides. Bring all "
    "terms with B to one side. What you divide by at the end can be zero or negative: what does "
    "the question say to return then?",
    cases=(
        {"D": 4096, "F": 4096, **GIVEN},
        {"D": 1024, "F": 2048, **CHIPS[2]},
        {"D": 8192, "F": 3072, **CHIPS[1]},
        {"D": 256, "F": 512, **GIVEN},  # no batch is enough
        {"D": 128, "F": 128, **CHIPS[3]},  # no batch is enough, by a wide margin
        # No batch is enough, but one would be if input or output had one byte.
        {"D": 1024, "F": 256, **GIVEN},
        {"D": 256, "F": 1024, **GIVEN},
        {"D": 480, "F": 500, **GIVEN},  # a batch of many thousands is enough
        {"D": 4096, "F": 3072, **CHIPS[3]},
    ),
    # D and F start at 128, so that in some hidden cases no batch is enough.
    ranges={
        "D": Whole(128, 8192, power_of_two=True),
        "F": Whole(128, 8192, multiple_of=128),
        **CHIP_RANGES,
    },
    allowed=clear,
    branches=ENOUGH,
    tolerance=0.01,
    wrong={
        "limit-for-exact": lambda D, F, peak, bandwidth: peak / bandwidth / 2,
        "no-infinity": lambda **case: critical(**case, infinite=False),
        "bf16-weights": lambda **case: critical(**case, w=2),
        "all-in-int8": lambda **case: critical(**case, x=1, out=1),
        "widths-swapped": lambda **case: critical(**case, x=1, w=2, out=1),
        "input-not-counted": lambda **case: critical(**case, x=0),
        "output-not-counted": lambda **case: critical(**case, out=0),
        "operations-or-peak": lambda **case: critical(**case, flops=1),
    },
)

# %% [markdown]
# ## Part 3: what it buys (7 points)
#
# How many times faster is the multiplication with int8 weights than with bf16 weights? Compare the
# lower bounds of the two running times, at the same batch, with perfect overlap of arithmetic and
# traffic. The arithmetic is in bf16 both times.


# %%
def speedup(B, D, F, peak, bandwidth):
    """Lower bound with bf16 weights divided by lower bound with int8 weights: a number."""
    t_math = 2 * B * D * F / peak
    activations = 2 * B * D + 2 * B * F
    bf16_weights = max(t_math, (activations + 2 * D * F) / bandwidth)
    int8_weights = max(t_math, (activations + D * F) / bandwidth)
    return bf16_weights / int8_weights


# %% grading
# For questions about both bounds: the wider bandwidths put the ridge point on either side of B.
BOTH_BOUNDS = {"B": Whole(64, 2048), "bandwidth": Real(5e11, 4e12)}


def lower(B, D, F, peak, bandwidth, speed=1, longer=max, **widths):
    return longer(2 * B * D * F / (speed * peak), moved(B, D, F, **widths) / bandwidth)


def upper(B, D, F, peak, bandwidth, **widths):
    return 2 * B * D * F / peak + moved(B, D, F, **widths) / bandwidth


def slower_by(B, D, F, peak, bandwidth):
    """Return whether compute takes longer than traffic, for bf16 and int8 weights."""
    arithmetic = 2 * B * D * F / peak
    bf16, int8 = (arithmetic > moved(B, D, F, w=w) / bandwidth for w in (2, 1))
    return bf16, int8


part(
    speedup,
    "Write four times: arithmetic and traffic, each with bf16 weights and with int8 weights. Two "
    "of them are equal. With perfect overlap, the longer one of each kind of weights decides. "
    "Only then compare the two.",
    cases=(
        {"B": 8, "D": 4096, "F": 16384, **GIVEN},
        {"B": 170, "D": 8192, "F": 8192, **GIVEN},  # memory-bound in bf16 only
        {"B": 2000, "D": 4096, "F": 8192, **GIVEN},
        {"B": 170, "D": 1024, "F": 512, **CHIPS[1]},
        {"B": 170, "D": 4096, "F": 4096, **CHIPS[2]},
        {"B": 90, "D": 8192, "F": 8192, **GIVEN},  # narrowly memory-bound
        {"B": 64, "D": 512, "F": 16384, "peak": 3.2e14, "bandwidth": 4e12},
        {"B": 200, "D": 8192, "F": 2048, **GIVEN},  # compute-bound only with int8 weights
        {"B": 200, "D": 2048, "F": 8192, **GIVEN},
        {"B": 2048, "D": 8192, "F": 8192, "peak": 2e14, "bandwidth": 4e12},
    ),
    ranges=SIZE_RANGES | CHIP_RANGES | BOTH_BOUNDS,
    branches={
        "traffic-bound": lambda **case: slower_by(**case) == (False, False),
        "compute-bound with int8 weights": (lambda **case: slower_by(**case) == (False, True)),
        "compute-bound": lambda **case: slower_by(**case) == (True, True),
    },
    wrong={
        "always-two": lambda **case: 2,
        "no-ceiling": lambda B, D, F, peak, bandwidth: moved(B, D, F, w=2) / moved(B, D, F),
        "no-overlap": lambda **case: upper(**case, w=2) / upper(**case),
        "int8-arithmetic": lambda **case: lower(**case, w=2) / lower(**case, speed=2),
        "multiply-add-once": lambda **case: lower(**case, w=2, speed=2) / lower(**case, speed=2),
        "all-in-int8": lambda **case: lower(**case, w=2) / lower(**case, x=1, out=1),
        "output-not-counted": lambda **case: lower(**case, w=2, out=0) / lower(**case, out=0),
        "activations-not-counted": lambda **case: (
            lower(**case, w=2, x=0, out=0) / lower(**case, x=0, out=0)
        ),
        "shorter-of-the-two": lambda **case: (
            lower(**case, w=2, longer=min) / lower(**case, longer=min)
        ),
        "divided-the-wrong-way": lambda **case: lower(**case) / lower(**case, w=2),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# Plot or tabulate your `speedup` against the batch for the given chip and a square weight matrix of
# your choice. Who gains more from int8 weights: someone who serves one user at a time, or someone
# who trains a model? What would you have to know about the model's answers before you recommend it?

# %% next [markdown]
# Exercise 3 draws what you have just computed.

# %% moral [markdown]
# Weights in int8 are half the bytes that matter, and the arithmetic stays as it was: so about half
# the batch keeps the chip busy. That is why serving quantizes weights, which it reads for a few
# tokens at a time.

# %% thoughts [markdown]
# The speedup is close to two for a small batch, falls once the int8 layer is compute-bound, and is
# one from where the bf16 layer is compute-bound as well. So who serves one user gains almost a
# factor of two, and who trains with large batches gains nothing. Before you recommend it, you would
# have to know how much worse the model's answers get: no roofline says that.
