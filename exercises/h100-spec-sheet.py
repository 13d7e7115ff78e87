# ---
# title: "Exercise 5: H100 from its spec sheet"
# minutes: 35
# difficulty: medium
# read_first: hardware
# description: >-
#   From a spec sheet as printed to a dense peak and a critical batch, for one chip and then for
#   any.
# ---

# %% page [markdown]
# Look up two figures on [the data sheet of the
# H100](https://www.nvidia.com/en-us/data-center/h100/) {cite:p}`nvidia2024h100`, in its column for
# SXM: the peak of the tensor cores in bf16, with its footnote, and the bandwidth of the memory.
#
# :::{dropdown} What it prints
# {eval}`f"{peak.printed:,} {peak.unit}"`, “with sparsity”, and
# {eval}`f"{memory.printed:,} {memory.unit}"`.
# :::
#
# - What is the peak for dense matrices?
# - What is a printed bandwidth in bytes per second, one way?
# - From what batch on is a matmul in bf16 compute-bound, in the small-batch limit?
# - Is a batch of a given number of sequences, each with so many tokens, large enough?
#
# ## Hints
#
# :::{dropdown} Hint: what is sparse?
# With structured sparsity half of the entries of one matrix are zero, in a fixed pattern, and the
# chip skips them. The sheet counts the skipped operations as done.
# :::
#
# :::{dropdown} Hint: one table of units
# Put the units into a dictionary from name to factor, once, and use it in each part. Watch out for
# the unit with bits.
# :::
#
# :::{dropdown} Hint: rows
# A matmul in a Transformer doesn't know where a sentence ends. What is a row of its input?
# :::

# %% [markdown]
# A data sheet is written to impress. It may print peaks that hold only for matrices with structured
# sparsity (half of the entries zero, in a fixed pattern), links counted in both directions, bits
# where you need bytes, and a new prefix on each line. You look up the [sheet of the
# H100](https://www.nvidia.com/en-us/data-center/h100/), read its column for SXM as printed, find
# the batch from which a bf16 matmul is compute-bound, and then do the same for the other chips in
# the course's tables.

# %% given
import rooflib as rl
from roofkit.check import check

# The figures as the data sheets print them, nothing converted.
printed = {(figure.chip, figure.what): figure for figure in rl.figures() if figure.chosen}
sheets = [
    {
        "name": chip.name,
        "peak": printed[chip.name, "peak bf16"].printed,
        "peak_unit": printed[chip.name, "peak bf16"].unit,
        "sparse": printed[chip.name, "peak bf16"].sparse,
        "bandwidth": printed[chip.name, "bandwidth"].printed,
        "bandwidth_unit": printed[chip.name, "bandwidth"].unit,
    }
    for chip in rl.chips()
    if "bf16" in chip
]
h100 = next(sheet for sheet in sheets if sheet["name"] == "H100 SXM")
h100

# %% page
peak = printed["H100 SXM", "peak bf16"]
memory = printed["H100 SXM", "bandwidth"]

# %% grading
import itertools

from grading.schema import Choice, Made, Printed, Whole, combinations, invented, part

# The units that the questions name, and their factors to FLOP/s and bytes/s.
PEAK_UNITS = {"TFLOP/s": 1e12, "PFLOP/s": 1e15}
BANDWIDTH_UNITS = {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
PEAKS = Printed(2e14, 4e15, PEAK_UNITS)
BANDWIDTHS = Printed(7e11, 9.9e11, BANDWIDTH_UNITS)
PREFIX = {"P": 1e15, "T": 1e12, "G": 1e9}
BINARY = {"P": 2**50, "T": 2**40, "G": 2**30}


H100, B200, V5E = (
    {key: value for key, value in sheet.items() if key != "name"}
    for sheet in sheets
    if sheet["name"] in ("H100 SXM", "B200", "TPU v5e")
)
# Invented chips with other names, in another order, using every unit.
HEADS = ("name", "peak", "peak_unit", "sparse", "bandwidth", "bandwidth_unit")
INVENTED = [
    dict(zip(HEADS, row, strict=True))
    for row in (
        ("Willow", 1.2, "PFLOP/s", True, 6400, "Gbit/s"),
        ("Acorn", 480, "TFLOP/s", False, 9.6e11, "B/s"),
        ("Maple", 2.5, "PFLOP/s", False, 0.8, "TB/s"),
        ("Elm", 300, "TFLOP/s", True, 819, "GB/s"),
    )
]


def scale(unit, prefixes=PREFIX):
    return prefixes.get(unit[0], 1) / (8 if unit.endswith("bit/s") else 1)


def dense(printed, unit, sparse, factor=None, prefixes=PREFIX):
    share = (0.5 if sparse else 1) if factor is None else factor
    return printed * scale(unit, prefixes) * share


def one_way(printed, unit, both_ways=False, share=0.5, prefixes=PREFIX):
    return printed * scale(unit, prefixes) * (share if both_ways else 1)


def batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit, factor=None):
    return dense(peak, peak_unit, sparse, factor) / one_way(bandwidth, bandwidth_unit)


def upside_down(**sheet):
    return 1 / batch(**sheet)


def int8_weights(**sheet):
    return batch(**sheet) / 2


def one_digit(peak, peak_unit, sparse, **memory):
    rounded = float(f"{dense(peak, peak_unit, sparse):.0e}")
    return rounded / one_way(memory["bandwidth"], memory["bandwidth_unit"])


def sparse_for_dense(**sheet):
    return batch(**sheet, factor=1)


def always_halved(**sheet):
    return batch(**sheet, factor=0.5)


def one_prefix_for_all(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    return dense(peak, "TFLOP/s", sparse) / one_way(bandwidth, "TB/s")


def bits_for_bytes(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    memory = one_way(bandwidth, bandwidth_unit.replace("bit", "B"))
    return dense(peak, peak_unit, sparse) / memory


def for_each(way):
    """Return a function that applies `way` to each of a list of sheets."""
    return lambda sheets: {
        sheet["name"]: way(**{key: value for key, value in sheet.items() if key != "name"})
        for sheet in sheets
    }


def on_sheets(entry, value):
    """Return a predicate: whether any sheet has this value in this field."""
    return lambda sheets, **rest: any(sheet[entry] == value for sheet in sheets)


ON_SHEETS = {
    f"{entry} = {value}": on_sheets(entry, value)
    for entry, values in (
        ("peak_unit", PEAK_UNITS),
        ("bandwidth_unit", BANDWIDTH_UNITS),
        ("sparse", (True, False)),
    )
    for value in values
}

# %% [markdown]
# ## Part 1: the dense peak (5 points)
#
# What is the peak for dense matrices in FLOP/s? A sheet's figure with `sparse=True` counts the
# operations that structured sparsity skips, which doubles the figure; with `sparse=False` it is
# dense as printed. Units are `"TFLOP/s"` and `"PFLOP/s"`.


# %%
def dense_peak(printed, unit, sparse):
    """Dense peak in FLOP/s.

    printed: the figure on the sheet. unit: "TFLOP/s" or "PFLOP/s". sparse: True or False.
    """
    factor = {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit]
    return printed * factor / (2 if sparse else 1)


# %% grading
SWAPPED = {"P": 1e12, "T": 1e15}


part(
    dense_peak,
    "Go through one sheet's figure by hand. First turn the prefix of its unit into a power of "
    "ten. Then look at `sparse`: what does the question say that sparsity does to a printed "
    "figure? Must each figure be corrected, or only some?",
    cases=(
        *(
            {"printed": sheet["peak"], "unit": sheet["peak_unit"], "sparse": sheet["sparse"]}
            for sheet in (H100, B200, V5E)
        ),
        {"printed": H100["peak"], "unit": "TFLOP/s", "sparse": False},
        {"printed": 2.5, "unit": "PFLOP/s", "sparse": False},
    ),
    ranges={"printed, unit": Printed(1e14, 4e15, PEAK_UNITS), "sparse": Choice(True, False)},
    branches=combinations(unit=tuple(PEAK_UNITS), sparse=(True, False)),
    wrong={
        "sparse-for-dense": lambda **case: dense(**case, factor=1),
        "always-halved": lambda **case: dense(**case, factor=0.5),
        "doubled": lambda **case: dense(**case, factor=2 if case["sparse"] else 1),
        "prefix-ignored": lambda printed, unit, sparse: printed / (1 + sparse),
        "one-prefix-for-all": lambda printed, unit, sparse: dense(printed, "TFLOP/s", sparse),
        "binary-prefix": lambda **case: dense(**case, prefixes=BINARY),
        "prefixes-swapped": lambda **case: dense(**case, prefixes=SWAPPED),
        "condition-turned-round": lambda **case: dense(**case, factor=1 if case["sparse"] else 0.5),
    },
)

# %% [markdown]
# ## Part 2: bandwidth (4 points)
#
# What is a printed bandwidth in bytes per second, one way? Memory bandwidth is printed one way
# (`both_ways=False`). Links such as NVLink are often printed as the sum of both directions
# (`both_ways=True`). Units are `"B/s"`, `"GB/s"`, `"TB/s"` and `"Gbit/s"`; prefixes are powers of
# ten.


# %%
def one_way_bandwidth(printed, unit, both_ways):
    """Bandwidth in bytes/s, one way.

    printed: the figure on the sheet. unit: "B/s", "GB/s", "TB/s" or "Gbit/s". both_ways: True or
    False.
    """
    factor = {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}[unit]
    return printed * factor / (2 if both_ways else 1)


# %% grading
part(
    one_way_bandwidth,
    "There are three separate questions for a figure: which power of ten is its prefix, does the "
    "unit count bits or bytes, and are both directions counted? Make a table with a row for each "
    "of the four units, and fill in how many bytes per second one of that unit is.",
    cases=(
        {"printed": 3.35, "unit": "TB/s", "both_ways": False},
        {"printed": 900, "unit": "GB/s", "both_ways": True},
        {"printed": 400, "unit": "Gbit/s", "both_ways": False},
        {"printed": 8e12, "unit": "B/s", "both_ways": False},
        {"printed": 640, "unit": "Gbit/s", "both_ways": True},
    ),
    ranges={
        "printed, unit": Printed(5e10, 8e12, BANDWIDTH_UNITS),
        "both_ways": Choice(True, False),
    },
    branches=combinations(unit=tuple(BANDWIDTH_UNITS), both_ways=(True, False)),
    wrong={
        "both-ways": lambda **case: one_way(**case, share=1),
        "bits-for-bytes": lambda printed, unit, both_ways: one_way(
            printed, unit.replace("bit", "B"), both_ways
        ),
        "prefix-ignored": lambda printed, unit, both_ways: printed / (1 + both_ways),
        "one-prefix-for-all": lambda printed, unit, both_ways: one_way(printed, "TB/s", both_ways),
        "binary-prefix": lambda **case: one_way(**case, prefixes=BINARY),
        "both-ways-doubled": lambda **case: one_way(**case, share=2),
        "one-way-halved": lambda printed, unit, both_ways: one_way(printed, unit, True),
        "condition-turned-round": lambda printed, unit, both_ways: one_way(
            printed, unit, not both_ways
        ),
    },
)

# %% [markdown]
# ## Part 3: the critical batch (6 points)
#
# From what batch on is a matmul with everything in bf16, `bf16[B, D] · bf16[D, F] → bf16[B, F]`,
# compute-bound in the small-batch limit? The arguments are the entries of a sheet, each in any of
# the units that parts 1 and 2 name. A value within 2% counts: you may round each
# figure to three digits, but two may not be enough.


# %%
def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    """Critical batch (tokens) of a bf16 matmul on a chip, from its sheet's figures: a number."""
    compute = dense_peak(peak, peak_unit, sparse)
    memory = one_way_bandwidth(bandwidth, bandwidth_unit, both_ways=False)
    return compute / memory


# %% grading
part(
    critical_batch,
    "Turn both figures into base units first, with your functions of the parts before. Memory is "
    "printed one way. Then write the intensity of a bf16 matmul in the small-batch limit: how "
    "many operations and how many bytes does one weight bring for each row of the batch? Set it "
    "equal to what the chip asks for.",
    cases=(
        H100,
        B200,
        V5E,
        H100 | {"bandwidth": 9600, "bandwidth_unit": "Gbit/s"},
        V5E | {"peak": 0.8, "peak_unit": "PFLOP/s"},
        B200 | {"bandwidth": 2.4e12, "bandwidth_unit": "B/s"},
        H100 | {"bandwidth": 3350, "bandwidth_unit": "GB/s"},
        V5E | {"bandwidth": 0.9, "bandwidth_unit": "TB/s"},
        V5E | {"bandwidth": 1.71, "bandwidth_unit": "TB/s"},  # a batch rounded to tens is off
    ),
    ranges={
        "peak, peak_unit": PEAKS,
        "sparse": Choice(True, False),
        "bandwidth, bandwidth_unit": BANDWIDTHS,
    },
    branches=combinations(peak_unit=tuple(PEAK_UNITS), sparse=(True, False)),
    # Accept answers with a peak rounded from 989.5 to 1000, a little over 1% off.
    tolerance=0.02,
    wrong={
        "sparse-for-dense": sparse_for_dense,
        "always-halved": always_halved,
        "int8-weights": int8_weights,
        "rounded-to-tens": lambda **sheet: round(batch(**sheet), -1),
        "peak-of-one-digit": one_digit,
        "upside-down": upside_down,
        "one-prefix-for-all": one_prefix_for_all,
        "bits-for-bytes": bits_for_bytes,
    },
)

# %% [markdown]
# ## Part 4: is this batch enough? (5 points)
#
# A training run gives each replica `sequences` sequences of `length` tokens in every step, and each
# replica is one chip. On which of the chips is its bf16 matmul compute-bound, in the small-batch
# limit? Return their names. `sheets` above holds the chips in the course's tables; other lists hold
# other chips. Every batch differs from the critical ones by at least 3%, so values that counted
# above are good enough here.


# %%
def enough_on(sheets, sequences, length):
    """Names of the chips on which the batch of one replica is above the critical batch.

    sheets: list of dictionaries as above. sequences, length: whole numbers. Returns a list of
    names, in any order; an empty list if there are none.
    """
    names = []
    for sheet in sheets:
        figures = {key: value for key, value in sheet.items() if key != "name"}
        if sequences * length > critical_batch(**figures):
            names.append(sheet["name"])
    return names


# %% grading
def other_sheets(rng):
    """Return the data sheets of 4 to 12 invented chips, about half of them sparse."""
    peaks, bandwidths = PEAKS.draws(rng), BANDWIDTHS.draws(rng)
    return [
        dict(zip(HEADS, (name, *next(peaks), rng.random() < 0.5, *next(bandwidths)), strict=True))
        for name in invented(rng.randint(4, 12), rng)
    ]


def close_to(tokens):
    """Return sheets of chips with a critical batch 4% above or below `tokens`.

    The sheets cover all units.
    """
    memory = 9e11
    return [
        {
            "name": f"{name}{number}",
            "peak": float(f"{ratio * tokens * memory * (1 + sparse) / peak_factor:.6g}"),
            "peak_unit": peak_unit,
            "sparse": sparse,
            "bandwidth": memory / memory_factor,
            "bandwidth_unit": bandwidth_unit,
        }
        for name, ratio in (("Rowan ", 0.96), ("Sorrel ", 1.04))
        for number, (
            sparse,
            (peak_unit, peak_factor),
            (bandwidth_unit, memory_factor),
        ) in enumerate(
            itertools.product((True, False), PEAK_UNITS.items(), BANDWIDTH_UNITS.items()), start=1
        )
    ]


def names(tokens, way=batch):
    """Return a function that lists the chips whose critical batch is exceeded.

    The number of tokens is `tokens(sequences, length)`.
    """
    return lambda sheets, sequences, length: [
        name for name, needed in for_each(way)(sheets).items() if tokens(sequences, length) > needed
    ]


def product(sequences, length):
    return sequences * length


def ratios(sheets, sequences, length):
    """Return the number of tokens divided by each chip's critical batch."""
    return [sequences * length / needed for needed in for_each(batch)(sheets).values()]


part(
    enough_on,
    "A row of the matmul is a token. Write down how many tokens one replica has in a step, from "
    "the two numbers. Each sheet is a dictionary, whose entries are the arguments of your function "
    "of the part before: it says from which batch on that chip is compute-bound. On which side of "
    "that must the tokens be?",
    kind="names",
    cases=(
        {"sheets": sheets, "sequences": 2, "length": 128},
        {"sheets": sheets, "sequences": 160, "length": 2},
        {"sheets": sheets, "sequences": 1, "length": 4096},
        {"sheets": sheets, "sequences": 8, "length": 16},
        {"sheets": sheets, "sequences": 16, "length": 32},  # half of it and the sum differ
        {"sheets": close_to(256), "sequences": 4, "length": 64},
        {"sheets": INVENTED, "sequences": 2, "length": 2048},
        {"sheets": INVENTED, "sequences": 16, "length": 16},
    ),
    ranges={
        "sheets": Made(other_sheets, "the data sheets of 4 to 12 invented chips"),
        "sequences": Whole(2, 512, power_of_two=True),
        "length": Whole(2, 512, power_of_two=True),
    },
    # Part 3 accepts a rounded critical batch, so rounding must not change any answer here.
    allowed=lambda **case: all(abs(ratio - 1) > 0.03 for ratio in ratios(**case)),
    branches=ON_SHEETS
    | {
        "no chip": lambda **case: max(ratios(**case)) < 1,
        "some chips": lambda **case: min(ratios(**case)) < 1 < max(ratios(**case)),
        "all chips": lambda **case: min(ratios(**case)) > 1,
    },
    wrong={
        "sequences-for-tokens": names(lambda sequences, length: sequences),
        "length-alone": names(lambda sequences, length: length),
        "sum-for-product": names(lambda sequences, length: sequences + length),
        "shared-among-chips": lambda sheets, sequences, length: names(product)(
            sheets, sequences / len(sheets), length
        ),
        "sparse-for-dense": names(product, sparse_for_dense),
        "always-halved": names(product, always_halved),
        "one-prefix-for-all": names(product, one_prefix_for_all),
        "int8-weights": names(product, int8_weights),
        "multiply-add-once": names(lambda sequences, length: sequences * length / 2),
        "bits-for-bytes": names(product, bits_for_bytes),
        "all-sheets": lambda sheets, **batch: [sheet["name"] for sheet in sheets],
        "the-others": lambda sheets, sequences, length: [
            name
            for name, needed in for_each(batch)(sheets).items()
            if not sequences * length > needed
        ],
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# Some texts round the dense peak of the H100 to a power of ten before they divide. By how many per
# cent does that move the critical batch? Name a decision that this difference could change, and one
# that it couldn't. And put all the `sheets` above into your `critical_batch`: is there one rule of
# thumb for the batch that is right on all of these chips?

# %% next [markdown]
# With this exercise the core ends; those after it go further. The chapter “Summary and cheat sheet”
# puts the formulas on one page.

# %% moral [markdown]
# Half of the sheet's headline, divided by the bandwidth, is the critical batch: on an H100 it is of
# the same order as on a TPU. Read the footnotes before you divide.

# %% thoughts [markdown]
# The rounding moves the peak, and with it the critical batch, by about one per cent. That decides
# nothing where real kernels miss the roof by much more; it could decide whether a batch just at the
# border counts as compute-bound, which no one should build on. No rule of thumb fits all chips: the
# largest critical batch of the catalog is several times the smallest.
