"""Exercise 4: what is asked of int8[B, D] · int8[B, D, F] → int8[B, F]; the known turns."""

import rooflib as rl

from .spec import Choice, Exercise, Pairs, Part, Real, Whole
from .words import turn

SIZES = (
    {"B": 16, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
)
SIZE_RANGES = {
    "B": Whole(3, 1024),
    "D": Whole(256, 16384, multiple_of=128),
    "F": Whole(256, 16384, multiple_of=128),
}
WIDTHS = Choice(0.5, 1, 2, 4)

CATALOGUE = {
    chip.name: (chip.peaks.get("int8", chip.peaks.get("fp8")), chip.bandwidth)
    for chip in rl.chips()
}
# Invented: small peaks beside a wide memory, on both sides of every limit.
INVENTED = {
    "Acorn": (3e11, 4e11),
    "Birch": (6e11, 4e11),
    "Cedar": (1.2e12, 4e11),
    "Dogwood": (2.8e12, 4e11),
    "Elm": (4e13, 4e11),
}


def moved(B, D, F, w=1, out=1):
    return B * D + w * D * F * B + out * B * F


def shared(B, D, F):
    return B * D + D * F + B * F


def below(chips, limit):
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth < limit]


def above(chips, limit):
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth > limit]


EXERCISE = Exercise(
    name="weight-per-example",
    title="a weight matrix per batch element",
    parts=(
        Part(
            key="operations",
            function="operations",
            points=3,
            cases=SIZES,
            ranges=SIZE_RANGES,
            turns=(
                turn("multiply-add-once", lambda B, D, F: B * D * F),
                turn("one-addition-less", lambda B, D, F: B * F * (2 * D - 1)),
                turn("batch-left-out", lambda B, D, F: 2 * D * F),
                turn("batch-twice", lambda B, D, F: 2 * B * B * D * F),
                turn("contraction-left-out", lambda B, D, F: 2 * B * F),
            ),
        ),
        Part(
            key="bytes-moved",
            function="bytes_moved",
            points=5,
            cases=SIZES,
            ranges=SIZE_RANGES,
            turns=(
                turn("one-matrix-for-all", shared),
                turn("output-not-counted", lambda **case: moved(**case, out=0)),
                turn("weights-not-counted", lambda **case: moved(**case, w=0)),
                turn("activations-not-counted", lambda B, D, F: B * D * F),
                turn("two-bytes-for-int8", lambda **case: 2 * moved(**case)),
                turn("bits-for-bytes", lambda **case: 8 * moved(**case)),
            ),
        ),
        Part(
            key="intensity",
            function="intensity",
            points=4,
            cases=SIZES,
            ranges=SIZE_RANGES,
            turns=(
                turn("one-matrix-for-all", lambda B, D, F: 2 * B * D * F / shared(B, D, F)),
                turn("a-factor-of-two", lambda B, D, F: B * D * F / moved(B, D, F)),
                turn("large-limit-for-exact", lambda B, D, F: 2),
                turn("output-not-counted", lambda B, D, F: 2 * B * D * F / moved(B, D, F, out=0)),
                turn("bits-for-bytes", lambda B, D, F: 2 * B * D * F / (8 * moved(B, D, F))),
                turn("upside-down", lambda B, D, F: moved(B, D, F) / (2 * B * D * F)),
            ),
        ),
        Part(
            key="intensity-limit",
            function="intensity_limit",
            points=3,
            cases=(
                {"B": 16, "bytes_per_element": 1},
                {"B": 64, "bytes_per_element": 2},
                {"B": 8, "bytes_per_element": 0.5},
            ),
            ranges={"B": Whole(2, 1024), "bytes_per_element": WIDTHS},
            turns=(
                turn("shared-weights", lambda B, bytes_per_element: 2 * B / bytes_per_element),
                turn("multiply-add-once", lambda B, bytes_per_element: 1 / bytes_per_element),
                turn("width-left-out", lambda B, bytes_per_element: 2),
                turn("width-upside-down", lambda B, bytes_per_element: 2 * bytes_per_element),
                turn("bits-for-bytes", lambda B, bytes_per_element: 2 / (8 * bytes_per_element)),
            ),
        ),
        Part(
            key="compute-bound-chips",
            function="compute_bound_chips",
            points=5,
            cases=(
                {"chips": CATALOGUE, "bytes_per_element": 1},
                {"chips": INVENTED, "bytes_per_element": 1},
                {"chips": INVENTED, "bytes_per_element": 0.5},
                {"chips": INVENTED, "bytes_per_element": 2},
            ),
            ranges={
                "chips": Pairs(8, Real(1e11, 4e12), Real(2e11, 8e11)),
                "bytes_per_element": WIDTHS,
            },
            kind="names",
            turns=(
                turn(
                    "the-others",
                    lambda chips, bytes_per_element: above(chips, 2 / bytes_per_element),
                ),
                turn("all-chips", lambda chips, bytes_per_element: list(chips)),
                turn("no-chips", lambda chips, bytes_per_element: []),
                turn(
                    "multiply-add-once",
                    lambda chips, bytes_per_element: below(chips, 1 / bytes_per_element),
                ),
                turn("width-left-out", lambda chips, bytes_per_element: below(chips, 2)),
            ),
        ),
    ),
)
