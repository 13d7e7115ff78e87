"""Parts, cases and misconceptions of exercise 4, a matmul with weights per row.

It is int8[B, D] · int8[B, D, F] → int8[B, F].
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

import rooflib as rl
from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Exercise, Part
from grading.schema.ranges import Choice, Pairs, Range, Real, Whole

# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 16, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
    {"B": 16, "D": 8192, "F": 8192},
)
# SMALLEST: one extra element changes the answer visibly. TALL: more rows than columns.
SMALLEST = {"B": 3, "D": 256, "F": 256}
TALL = {"B": 1000, "D": 256, "F": 384}
SIZE_RANGES: dict[str, Range] = {
    "B": Whole(3, 1024),
    "D": Whole(256, 16384, multiple_of=128),
    "F": Whole(256, 16384, multiple_of=128),
}
WIDTHS = Choice(0.5, 1, 2, 4)

CATALOG = {
    chip.name: (float(chip.rates.get("int8") or chip["fp8"]), float(chip["HBM"]))
    for chip in rl.chips()
    if {"int8", "fp8"} & chip.rates.keys()
}
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
# Ridge points exactly at each intensity limit, or 0.01% below: too close to tell by trying sizes.
BORDERLINE = {
    f"{name} {bytes_per_element}": (factor * 2 / bytes_per_element * bandwidth, bandwidth)
    for name, factor, bandwidth in (("Rowan", 1, 4e11), ("Sorrel", 0.9999, 6e11))
    for bytes_per_element in (0.5, 1, 2, 4)
}
FEW = {"Willow": (2.6e11, 5e11), "Acorn": (3.84e11, 8e11)}

# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE: dict[str, Callable[..., bool]] = {
    "more than 32 bits": lambda B, D, F: 2 * B * D * F >= 2**32,
}


def moved(B: float, D: float, F: float, w: float = 1, out: float = 1) -> float:
    return B * D + w * D * F * B + out * B * F


def shared(B: float, D: float, F: float) -> float:
    return B * D + D * F + B * F


def below(chips: dict[str, tuple[float, float]], limit: float) -> list[str]:
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth < limit]


def above(chips: dict[str, tuple[float, float]], limit: float) -> list[str]:
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth > limit]


def share(chips: dict[str, tuple[float, float]], bytes_per_element: float) -> float:
    """Return the fraction of the chips that the answer names."""
    return len(below(chips, 2 / bytes_per_element)) / len(chips)


def ratios(chips: dict[str, tuple[float, float]], bytes_per_element: float) -> list[float]:
    """Return each chip's ridge point divided by the limit of the intensity."""
    return [peak / bandwidth * bytes_per_element / 2 for peak, bandwidth in chips.values()]


def one_at(ratio: float) -> Callable[[Mapping[str, Any], random.Random], dict[str, Any]]:
    """Return a function that moves a chip's ridge to `ratio` × the intensity limit."""

    def moved_onto(case: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        name = rng.choice(sorted(case["chips"]))
        _, bandwidth = case["chips"][name]
        peak = ratio * 2 / case["bytes_per_element"] * bandwidth
        return {**case, "chips": {**case["chips"], name: (peak, bandwidth)}}

    return moved_onto


JUST_BELOW = 0.9999

EXERCISE = Exercise(
    name="weight-per-example",
    title="a weight matrix per batch element",
    parts=(
        Part(
            key="operations",
            function="operations",
            points=3,
            hint=N_(
                "Row b of the input meets matrix b and no other. Write down what one row costs "
                "with its own matrix. Then ask how often that happens. Does it differ from a "
                "multiplication in which all rows share one matrix?"
            ),
            cases=(*SIZES, SMALLEST, TALL),
            ranges=SIZE_RANGES,
            branches=LARGE,
            misconceptions=(
                wrong("multiply-add-once", lambda B, D, F: B * D * F),
                wrong("one-addition-less", lambda B, D, F: B * F * (2 * D - 1)),
                wrong("batch-left-out", lambda B, D, F: 2 * D * F),
                wrong("batch-twice", lambda B, D, F: 2 * B * B * D * F),
                wrong("contraction-left-out", lambda B, D, F: 2 * B * F),
            ),
        ),
        Part(
            key="bytes-moved",
            function="bytes_moved",
            points=5,
            hint=N_(
                "Write the shapes of all three arrays under each other, and multiply out how many "
                "elements each has. One of them has three sides here. Every element is moved once, "
                "and int8 says how many bytes it takes."
            ),
            cases=(*SIZES, SMALLEST, TALL),
            ranges=SIZE_RANGES,
            branches=LARGE,
            misconceptions=(
                wrong("one-matrix-for-all", shared),
                wrong("output-not-counted", lambda **case: moved(**case, out=0)),
                wrong("weights-not-counted", lambda **case: moved(**case, w=0)),
                wrong("activations-not-counted", lambda B, D, F: B * D * F),
                wrong("two-bytes-for-int8", lambda **case: 2 * moved(**case)),
                wrong("bits-for-bytes", lambda **case: 8 * moved(**case)),
            ),
        ),
        Part(
            key="intensity",
            function="intensity",
            points=4,
            hint=N_(
                "Use your functions of the parts before. Which is divided by which follows from "
                "the unit, OP/byte. To see whether it is plausible, double B and look what happens "
                "to both."
            ),
            # With small D and F, the exact intensity and its limit differ in the second decimal.
            cases=(*SIZES, {"B": 3, "D": 256, "F": 384}),
            ranges=SIZE_RANGES,
            branches=LARGE,
            misconceptions=(
                wrong("one-matrix-for-all", lambda B, D, F: 2 * B * D * F / shared(B, D, F)),
                wrong("a-factor-of-two", lambda B, D, F: B * D * F / moved(B, D, F)),
                wrong("large-limit-for-exact", lambda B, D, F: 2),
                wrong("output-not-counted", lambda B, D, F: 2 * B * D * F / moved(B, D, F, out=0)),
                wrong("bits-for-bytes", lambda B, D, F: 2 * B * D * F / (8 * moved(B, D, F))),
                wrong("upside-down", lambda B, D, F: moved(B, D, F) / (2 * B * D * F)),
            ),
        ),
        Part(
            key="intensity-limit",
            function="intensity_limit",
            points=3,
            hint=N_(
                "Write down the bytes as a sum of three terms, one for each array, with the width "
                "of an element in each. Which term grows fastest as D and F grow? Divide the "
                "operations by that one alone. What cancels, and what remains?"
            ),
            cases=(
                {"B": 16, "bytes_per_element": 1},
                {"B": 64, "bytes_per_element": 2},
                {"B": 8, "bytes_per_element": 0.5},
                {"B": 64, "bytes_per_element": 4},
            ),
            ranges={"B": Whole(2, 1024), "bytes_per_element": WIDTHS},
            misconceptions=(
                wrong("shared-weights", lambda B, bytes_per_element: 2 * B / bytes_per_element),
                wrong("half-the-intensity", lambda B, bytes_per_element: 1 / bytes_per_element),
                wrong("width-left-out", lambda B, bytes_per_element: 2),
                wrong("width-upside-down", lambda B, bytes_per_element: 2 * bytes_per_element),
                wrong("bits-for-bytes", lambda B, bytes_per_element: 2 / (8 * bytes_per_element)),
            ),
        ),
        Part(
            key="compute-bound-chips",
            function="compute_bound_chips",
            points=5,
            hint=N_(
                "A chip can be kept busy if the operation offers more operations for each byte "
                "than the chip can do while it moves one. The part before gives what the operation "
                "offers at best. Write down what the chip asks for, from its pair, and compare the "
                "two for each chip."
            ),
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
                "chips": Pairs(3, 8, Real(1e11, 4e12), Real(2e11, 8e11)),
                "bytes_per_element": WIDTHS,
            },
            branches={
                "no chip": lambda **case: share(**case) == 0,
                "some chips": lambda **case: 0 < share(**case) < 1,
                "all chips": lambda **case: share(**case) == 1,
                "one exactly at the limit": lambda **case: 1 in ratios(**case),
                "one just below the limit": lambda **case: any(
                    0 < 1 - ratio < 2e-4 for ratio in ratios(**case)
                ),
            },
            boundaries={
                "one exactly at the limit": one_at(1),
                "one just below the limit": one_at(JUST_BELOW),
            },
            kind="names",
            misconceptions=(
                wrong(
                    "the-others",
                    lambda chips, bytes_per_element: above(chips, 2 / bytes_per_element),
                ),
                wrong("all-chips", lambda chips, bytes_per_element: list(chips)),
                wrong("no-chips", lambda chips, bytes_per_element: []),
                wrong(
                    "multiply-add-once",
                    lambda chips, bytes_per_element: below(chips, 1 / bytes_per_element),
                ),
                wrong("width-left-out", lambda chips, bytes_per_element: below(chips, 2)),
            ),
        ),
    ),
    moral=N_(
        "Where every row brings its own weights, the batch cancels: the intensity is a constant, "
        "far below the ridge point of every chip in the catalog. Such an operation is always "
        "communication-bound."
    ),
    thoughts=N_(
        "Attention in decode is such an operation: each sequence has keys and values of its own, "
        "and no batch helps. What helps is sharing them, among heads of queries or among "
        "sequences that begin alike, since then a loaded element is used more than once. A "
        "smaller type does not raise the number of uses, but each use costs fewer bytes."
    ),
)
