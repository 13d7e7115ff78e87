# ---
# title: "Exercise 3: roofline plot"
# minutes: 45
# difficulty: medium
# read_first: matmul
# description: >-
#   Draw what a matrix multiplication attains against its batch, for two widths, with labels that
#   can be read.
# ---

# %% page [markdown]
# Take the layer and the chip of {ref}`exercise 2 <exercise-int8-weights>`, with square weights of
# two sizes: $D = F =$ {eval}`f"{sizes[0]:,}"` and $D = F =$ {eval}`f"{sizes[1]:,}"`.
#
# - How many FLOP/s are attainable at each batch?
# - Each curve reaches its ceiling at some batch. How many times as large is it for the small
#   matrix?
# - Draw both curves in one figure that a reader understands without any other explanation.
#
# ## Hints
#
# :::{dropdown} Hint: height of a curve
# Attainable FLOP/s are the FLOPs divided by the lower bound of their time.
# :::
#
# :::{dropdown} Hint: what a figure must say
# Cover the title and the code with your hand. Can you still say what is on each axis, in which
# unit, and which curve is which?
# :::
#
# :::{dropdown} Hint: one at a time
# If your function takes one batch and not an array, use a list comprehension over the batches.
# :::

# %% [markdown]
# The setting is that of exercise 2: `bf16[B, D] · int8[D, F] → bf16[B, F]`, arithmetic in bf16. You
# compute how many FLOP/s are attainable at each batch, for a large and for a small square weight
# matrix, find where each curve reaches its ceiling, and draw both in one labeled figure.

# %% given
import matplotlib.pyplot as plt
import numpy as np

from roofkit.check import check

# Given by the exercise: one chip, two square weight matrices (D = F), a span of batches.
peak = 1.97e14  # bf16 FLOP/s, dense
bandwidth = 8.1e11  # HBM, bytes per second
sizes = [4096, 1024]
batches = np.arange(1, 513)

# %% grading
import itertools
import math

from grading.schema import Choice, Made, Real, Whole, part

CHIPS = (
    {"peak": peak, "bandwidth": bandwidth},
    {"peak": 9e14, "bandwidth": 1.6e12},
    {"peak": 4.6e14, "bandwidth": 2e12},
    {"peak": 9e14, "bandwidth": 8.1e11},
)
GIVEN = CHIPS[0]
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
CHIP_RANGES = {"peak": Real(2e14, 1e15), "bandwidth": Real(5e11, 9.9e11)}


def moved(B, D, F, x=2, w=1, out=2):
    return x * B * D + w * D * F + out * B * F


def critical(D, F, peak, bandwidth, flops=2, x=2, w=1, out=2, infinite=True):
    ridge = peak / bandwidth
    room = flops - ridge * (x / F + out / D)
    return ridge * w / room if room > 0 or not infinite else math.inf


def attainable_if(B, D, F, peak, bandwidth, flops=2, overlap=max, **widths):
    count = flops * B * D * F
    return count / overlap((count / peak, moved(B, D, F, **widths) / bandwidth))


def no_ceiling(B, D, F, peak, bandwidth):
    return 2 * B * D * F / moved(B, D, F) * bandwidth


def small_batch(B, D, F, peak, bandwidth):
    return min(peak, 2 * B * bandwidth)


def straight(B, D, F, peak, bandwidth):
    return peak * min(1, B / critical(D, F, peak, bandwidth))


# %% [markdown]
# ## Part 1: attainable FLOP/s (10 points)
#
# How many FLOP/s does the multiplication reach at best, if arithmetic and traffic overlap
# perfectly? Use the exact bytes: loaded and written, each operand in its own type.


# %%
def attainable(B, D, F, peak, bandwidth):
    """FLOP/s of bf16[B, D] · int8[D, F] → bf16[B, F] at the lower bound of its running time.

    B, D, F: whole numbers. peak in FLOP/s, bandwidth in bytes/s. Returns a number.
    """
    flops = 2 * B * D * F
    seconds = max(flops / peak, (2 * B * D + D * F + 2 * B * F) / bandwidth)
    return flops / seconds


# %% grading
SIZES = (
    {"B": 64, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
)
SIZE_RANGES = {
    "B": Whole(32, 2048),
    "D": Whole(512, 16384, multiple_of=128),
    "F": Whole(512, 16384, multiple_of=128),
}
# For questions about the ceiling: the wider range of bandwidths has cases on both sides of it.
BOTH_BOUNDS = {"B": Whole(64, 2048), "bandwidth": Real(5e11, 4e12)}


def larger(B, D, F, peak, bandwidth):
    return max(peak, no_ceiling(B, D, F, peak, bandwidth))


def time_taken(B, D, F, peak, bandwidth):
    return 2 * B * D * F / attainable_if(B, D, F, peak, bandwidth)


def share(B, D, F, peak, bandwidth):
    return attainable_if(B, D, F, peak, bandwidth) / peak


def int8_arithmetic(B, D, F, peak, bandwidth):
    return attainable_if(B, D, F, 2 * peak, bandwidth)


def at_peak(B, D, F, peak, bandwidth):
    return peak


part(
    attainable,
    "First find the time: at perfect overlap, the longer of the arithmetic's and the traffic's. "
    "Then ask how many FLOPs were done in that time. Try a very large batch: the result must "
    "come out at the peak and never above it.",
    cases=(
        {**SIZES[0], **GIVEN},
        {"B": 160, "D": 4096, "F": 4096, **GIVEN},
        {"B": 160, "D": 1024, "F": 1024, **GIVEN},
        {**SIZES[2], **CHIPS[2]},
        {"B": 64, "D": 1024, "F": 4096, **CHIPS[1]},
        {"B": 32, "D": 512, "F": 512, "peak": 9e14, "bandwidth": 5e11},
        {"B": 2048, "D": 512, "F": 512, "peak": 9e14, "bandwidth": 5e11},
        {"B": 1500, "D": 4096, "F": 3072, **GIVEN},  # compute-bound even at twice the peak
    ),
    ranges=SIZE_RANGES | CHIP_RANGES | BOTH_BOUNDS,
    branches={
        "below the ceiling": lambda **case: no_ceiling(**case) < case["peak"],
        "at the ceiling": lambda **case: no_ceiling(**case) > case["peak"],
    },
    wrong={
        "no-ceiling": no_ceiling,
        "always-at-peak": at_peak,
        "no-overlap": lambda **case: attainable_if(**case, overlap=sum),
        "limit-for-exact": small_batch,
        "bf16-weights": lambda **case: attainable_if(**case, w=2),
        "all-in-int8": lambda **case: attainable_if(**case, x=1, out=1),
        "widths-swapped": lambda **case: attainable_if(**case, x=1, w=2, out=1),
        "input-not-counted": lambda **case: attainable_if(**case, x=0),
        "output-not-counted": lambda **case: attainable_if(**case, out=0),
        "multiply-add-once": lambda **case: attainable_if(**case, flops=1),
        "int8-arithmetic": int8_arithmetic,
        "larger-of-the-two": larger,
        "time-for-rate": time_taken,
        "share-of-the-peak": share,
        "straight-line": straight,
    },
)

# %% [markdown]
# ## Part 2: how much later the small one gets there (7 points)
#
# A small square matrix reaches the ceiling, the chip's peak, later than a large one. How many times
# as large must its batch be? “Almost twice” is not enough: compute it, to within 1%. Both of them
# reach it. If you have done exercise 2, look at what you wrote there.


# %%
def delay(small, large, peak, bandwidth):
    """Batch at the ceiling for D = F = small, divided by that for D = F = large: a number."""

    def ceiling_batch(size):
        ridge = peak / bandwidth
        return ridge / (2 - 4 * ridge / size)

    return ceiling_batch(small) / ceiling_batch(large)


# %% grading
def both(small, large, peak, bandwidth, **widths):
    return tuple(critical(size, size, peak, bandwidth, **widths) for size in (small, large))


part(
    delay,
    "At the ceiling, arithmetic and traffic take equally long. Write that as an equation with B "
    "as the unknown, with the exact bytes, and collect the terms with B. Solve it for the small "
    "matrix and for the large one. The title of the part says how the two batches are compared.",
    cases=(
        {"small": 1024, "large": 4096, **GIVEN},
        {"small": 768, "large": 8192, **CHIPS[2]},
        {"small": 1024, "large": 8192, **GIVEN},
        # Ridge points near 250, whose rounding changes the small matrix's batch visibly.
        {"small": 640, "large": 4096, "peak": 1.9992e14, "bandwidth": 8e11},
        {"small": 640, "large": 4096, "peak": 1.9928e14, "bandwidth": 8e11},
        {"small": 640, "large": 8192, "peak": 1.99056e14, "bandwidth": 8e11},
    ),
    # With ridge points up to 1000, the small matrix also reaches the ceiling. They are large, so
    # that whole batches stay within the tolerance, also if somebody tries one after the other and
    # a rounding error of `attainable` hides the first ones at the ceiling.
    ranges={
        "small": Whole(2560, 8192, multiple_of=512),
        "large": Whole(12288, 65536, multiple_of=512),
        "peak": Real(7.4e14, 8e14),
        "bandwidth": Real(8e11, 9.5e11),
    },
    tolerance=0.01,
    wrong={
        "ratio-of-sides": lambda small, large, **chip: large / small,
        "no-delay": lambda **case: 1,
        "twice": lambda **case: 2,
        "divided-the-wrong-way": lambda **case: both(**case)[1] / both(**case)[0],
        "difference": lambda **case: both(**case)[0] - both(**case)[1],
        "increase": lambda **case: both(**case)[0] / both(**case)[1] - 1,
        "all-in-int8": lambda **case: both(**case, x=1, out=1)[0] / both(**case, x=1, out=1)[1],
        "output-not-counted": lambda **case: both(**case, out=0)[0] / both(**case, out=0)[1],
    },
)

# %% [markdown]
# ## Part 3: the figure (3 points)
#
# Draw attainable FLOP/s against the batch on the given matplotlib axis: one curve for each entry of
# `sizes` (a square matrix, `D = F = size`), through all the `batches`. A reader who sees nothing
# but the figure must be able to
#
# - see each curve at every batch: inside the axes, in a color that stands out from the background,
# - tell which curve belongs to which size: a legend names each size as a number, as in `D = 4096`,
#   and the curves look different,
# - tell from a label at each axis what it shows, in any language: the horizontal one says `batch`
#   or `B`, and the vertical one names the unit of its numbers, `FLOP/s`, or `TFLOP/s` if you scale
#   them.
#
# Scales, colors and decoration are up to you. Grading draws with other sizes and batches, so take
# limits and positions of texts from the arguments. Don't create a figure inside the function: draw
# on `ax`.


# %%
def plot_throughput(ax, sizes, batches, peak, bandwidth):
    """Draw one curve of attainable FLOP/s against batch for each size (D = F = size) on `ax`.

    ax: a matplotlib axis. sizes: list of whole numbers. batches: array of whole numbers.
    """
    for size in sizes:
        rates = [attainable(B, size, size, peak, bandwidth) for B in batches]
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable throughput (FLOP/s)")
    ax.set_ylim(bottom=0)
    ax.legend()


# %% [markdown]
# Look at the figure in a cell of your own before you check it:
#
# ```python
# plot_throughput(plt.figure().gca(), sizes, batches, peak, bandwidth)
# ```


# %% grading
def ends(sizes, batches, peak, bandwidth):
    """Return at what share of the largest batch each curve reaches its ceiling."""
    return tuple(critical(size, size, peak, bandwidth) / max(batches) for size in sizes)


def some_sizes(rng):
    return rng.sample((384, 512, 1024, 1536, 2048, 4096, 6144, 8192), rng.randint(2, 3))


def apart(sizes):
    """Return whether each size is at least four times the next smaller one."""
    return all(4 * small <= large for small, large in itertools.pairwise(sorted(sizes)))


def curves(height, **counts):
    """Return a function that computes a figure's curves: size → FLOP/s per batch."""
    return lambda sizes, batches, peak, bandwidth: {
        size: [height(B, size, size, peak, bandwidth, **counts) for B in batches] for size in sizes
    }


part(
    plot_throughput,
    "Go through the picture as somebody who has not seen your code. For each size: is there a "
    "curve, through all batches, and does something in the picture name its size? For each axis: "
    "is it said what it shows, and in which unit the values are that you drew?",
    key="figure",
    kind="figure",
    cases=(
        {"sizes": [4096, 1024], "batches": list(range(1, 513)), **GIVEN},
        {"sizes": [768, 6144, 1536], "batches": list(range(4, 801, 4)), **CHIPS[1]},
    ),
    ranges={
        "sizes": Made(some_sizes, "lists of 2 to 3 sizes in any order"),
        "batches": Choice(list(range(1, 401)), list(range(8, 1025, 8))),
        **CHIP_RANGES,
    },
    # Curves are far apart in the first third of the batches, as in the published cases: a
    # label beside a curve there clearly belongs to it.
    allowed=lambda **case: sorted(ends(**case))[1] > 1 / 3 and apart(case["sizes"]),
    branches={
        "three or more sizes in no order": (
            lambda sizes, **rest: (
                len(sizes) > 2 and sizes not in (sorted(sizes), sorted(sizes)[::-1])
            )
        ),
        "a curve at its ceiling": lambda **case: min(ends(**case)) < 0.8,
        "a curve below its ceiling": lambda **case: max(ends(**case)) > 1,
    },
    tolerance=0.01,
    wrong={
        "no-ceiling": curves(no_ceiling),
        "no-overlap": curves(attainable_if, overlap=sum),
        "limit-for-exact": curves(small_batch),
        "bf16-weights": curves(attainable_if, w=2),
        "multiply-add-once": curves(attainable_if, flops=1),
        "straight-line": curves(straight),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# Draw the same curves on two logarithmic axes, or against the arithmetic intensity and not against
# the batch. In which of the pictures are the two sizes on the same line, and why? Which
# picture would you show to someone who has to choose the batch?

# %% next [markdown]
# Exercise 4 takes away what made the batch help.

# %% moral [markdown]
# Both sizes reach the same ceiling, and the larger matrix does so with the smaller batch: of its
# bytes, activations are the smaller share. The small one needs more, though less than twice as
# much.

# %% thoughts [markdown]
# Against the intensity both sizes lie on one line, the roofline, since the attainable FLOP/s depend
# on nothing else; against the batch they differ, because the same batch gives the small matrix a
# lower intensity. Logarithmic axes turn the slope into a straight line. To choose a batch, the axis
# should show what is chosen: the batch.
