# ---
# title: "Exercise 4: a weight matrix per batch element"
# minutes: 25
# difficulty: easy
# read_first: matmul
# description: >-
#   Give every element of the batch a weight matrix of its own, and see what is left of the
#   intensity.
# ---

# %% page [markdown]
# So far all rows of a batch shared one weight matrix. Now each row has its own:
#
# $$
# \texttt{int8}[B, D] \cdot \texttt{int8}[B, D, F] \rightarrow \texttt{int8}[B, F]
# $$
#
# - How many operations does it take, and how many bytes must be moved?
# - What is the arithmetic intensity, and what does it come close to for large $D$ and $F$?
# - On which chips of the catalog can this operation ever be compute-bound?
#
# ## Hints
#
# :::{dropdown} Hint: what has become larger?
# Compare the three shapes with those of {ref}`exercise 1 <exercise-int8-matmul>`. One of them has
# one more index. Does that change the number of operations?
# :::
#
# :::{dropdown} Hint: ever?
# “Ever” means for the best batch and sizes that you can think of. What is the largest intensity
# that this operation can have, and with which figure of a chip do you compare it?
# :::

# %% [markdown]
# So far all rows of the batch shared one weight matrix. Now each row has its own matrix:
# `int8[B, D] · int8[B, D, F] → int8[B, F]`. Row `b` of the input is multiplied by matrix `b` only.
# You work out what that does to the intensity, and which chips it could ever keep busy.

# %% given
import rooflib as rl
from roofkit.check import check

# The 8-bit peak of every chip in the course's tables that has one (int8, or else fp8), in
# operations per second, and its HBM bandwidth in bytes per second: name → (peak, bandwidth).
catalog = {
    chip.name: (chip.rates.get("int8", chip.rates.get("fp8")), chip["HBM"])
    for chip in rl.chips()
    if {"int8", "fp8"} & chip.rates.keys()
}

# %% grading


from grading.schema import Choice, Made, Real, Whole, invented, part

# With more cases, a fit would find out of which products the bytes are the sum. The second has more
# rows than columns, and columns so few that the limit is another number than the exact value.
FEW = ({"B": 16, "D": 12288, "F": 16384}, {"B": 1000, "D": 384, "F": 256})
SIZE_RANGES = {
    "B": Whole(3, 1024),
    "D": Whole(256, 16384, multiple_of=128),
    "F": Whole(256, 16384, multiple_of=128),
}
WIDTHS = Choice(0.5, 1, 2, 4)
# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE = {"more than 32 bits": lambda B, D, F, **others: 2 * B * D * F >= 2**32}


def moved(B, D, F, w=1, out=1):
    return B * D + w * D * F * B + out * B * F


def shared(B, D, F):
    return B * D + D * F + B * F


# %% [markdown]
# ## Part 1: bytes (5 points)
#
# How many bytes must be loaded and written in all? Everything is stored in int8, and each element
# is moved once.


# %%
def bytes_moved(B, D, F):
    """HBM traffic of int8[B, D] · int8[B, D, F] → int8[B, F], loaded and written, in bytes."""
    return B * D + B * D * F + B * F


# %% grading
part(
    bytes_moved,
    "Write the shapes of all three arrays under each other, and multiply out how many elements "
    "each has. One of them has three sides here. Every element is moved once, and int8 says how "
    "many bytes it takes.",
    cases=FEW,
    ranges=SIZE_RANGES,
    branches=LARGE,
    wrong={
        "one-matrix-for-all": shared,
        "output-not-counted": lambda **case: moved(**case, out=0),
        "weights-not-counted": lambda **case: moved(**case, w=0),
        "activations-not-counted": lambda B, D, F: B * D * F,
        "two-bytes-for-int8": lambda **case: 2 * moved(**case),
        "bits-for-bytes": lambda **case: 8 * moved(**case),
    },
)

# %% [markdown]
# ## Part 2: intensity, and its limit (9 points)
#
# What is the exact arithmetic intensity? Count a multiply-add as two operations, and start each
# output element from an empty accumulator. And what does the intensity approach as `D` and `F`
# grow?
#
# Answer both for elements of any width: all three arrays take `bytes_per_element` bytes per element
# (1 for int8, ½ for int4, and so on). Either answer may be a fraction.


# %%
def intensities(B, D, F, bytes_per_element):
    """Arithmetic intensity, and its limit for large D and F.

    Returns a pair (exact, limit), both in OP/byte.
    """
    exact = 2 * B * D * F / (bytes_per_element * bytes_moved(B, D, F))
    return exact, 2 / bytes_per_element


# %% grading
def intensities_if(B, D, F, bytes_per_element, exact=2, limit=2, **counts):
    """Return the pair if `exact` and `limit` are the operations of a multiply-add in it."""
    size = bytes_per_element * moved(B, D, F, **counts)
    return exact * B * D * F / size, limit / bytes_per_element


def one_matrix(B, D, F, bytes_per_element):
    exact = 2 * B * D * F / (bytes_per_element * shared(B, D, F))
    return exact, 2 * B / bytes_per_element


def batch_twice(B, **case):
    return intensities_if(B, **case, exact=2 * B, limit=2 * B)


part(
    intensities,
    "Row b of the input meets matrix b and no other: write down how many operations one row "
    "costs, and how often that happens. Divide by the bytes, which are a sum of three terms, each "
    "with the width of an element. For the limit, ask which of the terms grows fastest as D and F "
    "grow, and divide by that one alone. What cancels?",
    kind="numbers",
    cases=tuple(
        size | {"bytes_per_element": width} for size, width in zip(FEW, (4, 0.5), strict=True)
    ),
    ranges=SIZE_RANGES | {"bytes_per_element": WIDTHS},
    branches=LARGE,
    wrong={
        "one-matrix-for-all": one_matrix,
        "shared-weights": lambda B, **case: intensities_if(B, **case, limit=2 * B),
        "multiply-add-once": lambda **case: intensities_if(**case, exact=1, limit=1),
        "a-factor-of-two": lambda **case: intensities_if(**case, exact=1),
        "half-the-intensity": lambda **case: intensities_if(**case, limit=1),
        "batch-left-out": lambda B, **case: intensities_if(B, **case, exact=2 / B),
        "batch-twice": batch_twice,
        "large-limit-for-exact": lambda bytes_per_element, **sizes: (2 / bytes_per_element,) * 2,
        "exact-for-limit": lambda **case: intensities_if(**case)[:1] * 2,
        "swapped": lambda **case: intensities_if(**case)[::-1],
        "output-not-counted": lambda **case: intensities_if(**case, out=0),
        "one-addition-less": lambda **case: intensities_if(**case, exact=2 - 1 / case["D"]),
        "width-left-out": lambda **case: intensities_if(**case | {"bytes_per_element": 1}),
        "limit-of-one-byte": lambda **case: (intensities_if(**case)[0], 2),
        "width-upside-down": lambda bytes_per_element, **sizes: intensities_if(
            **sizes, bytes_per_element=1 / bytes_per_element
        ),
        "bits-for-bytes": lambda bytes_per_element, **sizes: intensities_if(
            **sizes, bytes_per_element=8 * bytes_per_element
        ),
        "upside-down": lambda **case: tuple(1 / value for value in intensities_if(**case)),
    },
)

# %% [markdown]
# ## Part 3: on which chips (6 points)
#
# On which chips can this operation ever be compute-bound, whatever the batch and however large `D`
# and `F` are? Return their names, or an empty list if there are none. Start with `catalog` above.
# The check also asks about invented chips and elements of other widths, for which the answer is
# different: compute it from the figures, don't list names that you know. Some of the invented chips
# need exactly the limit of part 2, or slightly less. Which of them can large but finite sizes keep
# busy?


# %%
def compute_bound_chips(chips, bytes_per_element):
    """Names of the chips on which the operation turns compute-bound for large enough D and F.

    chips: dictionary from name to a pair (peak in OP/s, bandwidth in bytes/s), as `catalog`
    above. All three arrays have elements of bytes_per_element bytes. Returns a list of names, in
    any order.
    """
    limit = 2 / bytes_per_element
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth < limit]


# %% grading
CATALOG = {name: (float(peak), float(bandwidth)) for name, (peak, bandwidth) in catalog.items()}
# Invented chips with ridge points just above and below each limit of the intensity.
INVENTED = {
    "Acorn": (3.8e11, 4e11),
    "Birch": (6.3e11, 6e11),
    "Cedar": (7.6e11, 4e11),
    "Dogwood": (1.26e12, 6e11),
    "Elm": (3.04e12, 8e11),
    "Fir": (2.1e12, 5e11),
    "Hazel": (4e13, 4e11),
}
# Ridge points exactly at each intensity limit, or just below it, as close as the hidden ones.
JUST_BELOW = 0.99999
BORDERLINE = {
    f"{name} {bytes_per_element}": (factor * 2 / bytes_per_element * bandwidth, bandwidth)
    for name, factor, bandwidth in (("Rowan", 1, 4e11), ("Sorrel", JUST_BELOW, 6e11))
    for bytes_per_element in (0.5, 1, 2, 4)
}
FEW = {"Willow": (2.6e11, 5e11), "Acorn": (3.84e11, 8e11)}


def below(chips, limit):
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth < limit]


def above(chips, limit):
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth > limit]


def share(chips, bytes_per_element):
    """Return the fraction of the chips that the answer names."""
    return len(below(chips, 2 / bytes_per_element)) / len(chips)


def ratios(chips, bytes_per_element):
    """Return each chip's ridge point divided by the limit of the intensity."""
    return [peak / bandwidth * bytes_per_element / 2 for peak, bandwidth in chips.values()]


def other_chips(rng):
    """Return the peaks and bandwidths of 3 to 8 invented chips."""
    peaks, bandwidths = Real(1e11, 4e12).draws(rng), Real(2e11, 8e11).draws(rng)
    return {name: (next(peaks), next(bandwidths)) for name in invented(rng.randint(3, 8), rng)}


def one_at(ratio):
    """Return a function that moves a chip's ridge to `ratio` × the intensity limit."""

    def moved_onto(case, rng):
        name = rng.choice(sorted(case["chips"]))
        _, bandwidth = case["chips"][name]
        peak = ratio * 2 / case["bytes_per_element"] * bandwidth
        return {**case, "chips": {**case["chips"], name: (peak, bandwidth)}}

    return moved_onto


part(
    compute_bound_chips,
    "A chip can be kept busy if the operation offers more operations for each byte than the chip "
    "can do while it moves one. The part before gives what the operation offers at best. Write "
    "down what the chip asks for, from its pair, and compare the two for each chip.",
    kind="names",
    cases=(
        {"chips": INVENTED, "bytes_per_element": 1},
        {"chips": CATALOG, "bytes_per_element": 1},
        {"chips": INVENTED, "bytes_per_element": 0.5},
        {"chips": INVENTED, "bytes_per_element": 2},
        {"chips": FEW, "bytes_per_element": 4},
        {"chips": BORDERLINE, "bytes_per_element": 1},
        {"chips": BORDERLINE, "bytes_per_element": 4},
        {"chips": FEW, "bytes_per_element": 0.5},
    ),
    ranges={
        "chips": Made(other_chips, "a dictionary of 3 to 8 invented chips"),
        "bytes_per_element": WIDTHS,
    },
    branches={
        "no chip": lambda **case: share(**case) == 0,
        "some chips": lambda **case: 0 < share(**case) < 1,
        "all chips": lambda **case: share(**case) == 1,
        "one exactly at the limit": lambda **case: 1 in ratios(**case),
        "one just below the limit": lambda **case: any(
            0 < 1 - ratio < 2e-5 for ratio in ratios(**case)
        ),
    },
    boundaries={
        "one exactly at the limit": one_at(1),
        "one just below the limit": one_at(JUST_BELOW),
    },
    wrong={
        "the-others": lambda chips, bytes_per_element: above(chips, 2 / bytes_per_element),
        "all-chips": lambda chips, bytes_per_element: list(chips),
        "no-chips": lambda chips, bytes_per_element: [],
        "multiply-add-once": lambda chips, bytes_per_element: below(chips, 1 / bytes_per_element),
        "width-left-out": lambda chips, bytes_per_element: below(chips, 2),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# Where does an operation like this turn up in a model? Think of attention while it generates: each
# sequence has its own keys and values. What could you change (the shapes, the types, what is
# shared between rows) so that a weight is used more than once after it is loaded?

# %% next [markdown]
# Exercise 5 reads a chip's peak and bandwidth off its data sheet.

# %% moral [markdown]
# Where every row brings its own weights, the batch cancels: the intensity is a constant, far below
# the ridge point of every chip in the catalog. Such an operation is always communication-bound.

# %% thoughts [markdown]
# Attention in decode is such an operation: each sequence has keys and values of its own, and no
# batch helps. What helps is sharing them, among heads of queries or among sequences that begin
# alike, since then a loaded element is used more than once. A smaller type does not raise the
# number of uses, but each use costs fewer bytes.
