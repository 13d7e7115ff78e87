"""Parts, cases and misconceptions of exercise 1, an int8 matrix multiplication.

It is int8[B, D] · int8[D, F] → int8[B, F].
"""

from collections.abc import Callable

from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Exercise, Part
from grading.schema.ranges import Range, Real, Whole

PEAK, BANDWIDTH = 3.94e14, 8.1e11  # numbers that the exercise states

# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 64, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
    {"B": 64, "D": 8192, "F": 8192},
)
# The smallest sizes: counting one element too many changes the answer visibly.
SMALLEST = {"B": 2, "D": 512, "F": 512}

CHIPS = (
    {"peak": PEAK, "bandwidth": BANDWIDTH},
    {"peak": 1.1e15, "bandwidth": 1.5e12},
    {"peak": 6.24e14, "bandwidth": 2e12},
    {"peak": PEAK, "bandwidth": 2e12},
)
# The second size, on the third chip, is compute-bound; the others are memory-bound.
BOTH = (
    *(SIZES[size] | CHIPS[chip] for size, chip in enumerate((0, 2, 1, 3))),
    SMALLEST | {"peak": 4e10, "bandwidth": 8e9},  # a slow chip, so that times have enough digits
)

SIZE_RANGES: dict[str, Range] = {
    "B": Whole(2, 1024),
    "D": Whole(512, 16384, multiple_of=128),
    "F": Whole(512, 16384, multiple_of=128),
}
# Range of B for questions that assume a batch much smaller than D and F.
SMALL_BATCH: dict[str, Range] = {"B": Whole(2, 256)}
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
CHIP_RANGES: dict[str, Range] = {"peak": Real(4e14, 4e15), "bandwidth": Real(3e11, 1.9e12)}

# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE: dict[str, Callable[..., bool]] = {
    "more than 32 bits": lambda B, D, F: 2 * B * D * F >= 2**32,
}


def moved(B: float, D: float, F: float, out: float = 1) -> float:
    return B * D + D * F + out * B * F


def times(
    B: float,
    D: float,
    F: float,
    peak: float,
    bandwidth: float,
    flops: float = 2,
    width: float = 1,
    out: float = 1,
) -> tuple[float, float]:
    return flops * B * D * F / peak, width * moved(B, D, F, out) / bandwidth


def bounds(
    B: float, D: float, F: float, peak: float, bandwidth: float, **counts: float
) -> tuple[float, float]:
    pair = times(B, D, F, peak, bandwidth, **counts)
    return max(pair), sum(pair)


BOUND_BY: dict[str, Callable[..., bool]] = {
    "compute-bound": lambda **case: times(**case)[0] > times(**case)[1],
    "traffic-bound": lambda **case: times(**case)[0] < times(**case)[1],
}

EXERCISE = Exercise(
    name="int8-matmul",
    title="int8 matmul",
    parts=(
        Part(
            key="bytes-moved",
            function="bytes_moved",
            points=3,
            hint=N_(
                "Draw the three arrays and write under each how many elements it has, from its two "
                "sides. Then write how many bytes one int8 element takes. Which of the arrays are "
                "read, and which is written? Each belongs into one of the two numbers of the pair."
            ),
            cases=(*SIZES, SMALLEST),
            ranges=SIZE_RANGES,
            kind="numbers",
            misconceptions=(
                wrong("output-not-counted", lambda B, D, F: (B * D + D * F, 0)),
                wrong("two-bytes-for-int8", lambda B, D, F: (2 * (B * D + D * F), 2 * B * F)),
                wrong("bits-for-bytes", lambda B, D, F: (8 * (B * D + D * F), 8 * B * F)),
                wrong("swapped", lambda B, D, F: (B * F, B * D + D * F)),
                wrong("weights-not-counted", lambda B, D, F: (B * D, B * F)),
                wrong("weights-for-each-row", lambda B, D, F: (B * D + B * D * F, B * F)),
            ),
        ),
        Part(
            key="operations",
            function="operations",
            points=2,
            hint=N_(
                "Take one element of the output. It is a sum of products: along which side does "
                "that sum run, and how many products does it have? Write down how many operations "
                "one product costs together with its addition. Then ask how many output elements "
                "there are."
            ),
            cases=(*SIZES, SMALLEST),
            ranges=SIZE_RANGES,
            branches=LARGE,
            misconceptions=(
                wrong("multiply-add-once", lambda B, D, F: B * D * F),
                wrong("one-addition-less", lambda B, D, F: B * F * (2 * D - 1)),
                wrong("batch-left-out", lambda B, D, F: 2 * D * F),
                wrong("contraction-left-out", lambda B, D, F: 2 * B * F),
            ),
        ),
        Part(
            key="intensity",
            function="intensity",
            points=3,
            hint=N_(
                "Write two lines: all operations of the multiplication, and all bytes that it "
                "moves, loaded and written together. You have functions for both from the parts "
                "before. The unit, OP/byte, says which of the lines is divided by which."
            ),
            # In the last case, rounding the intensity to three decimals exceeds the tolerance.
            cases=(*SIZES, {"B": 2, "D": 2048, "F": 4096}),
            ranges=SIZE_RANGES,
            branches=LARGE,
            misconceptions=(
                wrong("output-not-counted", lambda B, D, F: 2 * B * D * F / moved(B, D, F, out=0)),
                wrong("a-factor-of-two", lambda B, D, F: B * D * F / moved(B, D, F)),
                wrong("limit-for-exact", lambda B, D, F: 2 * B),
                wrong("bits-for-bytes", lambda B, D, F: 2 * B * D * F / (8 * moved(B, D, F))),
                wrong("upside-down", lambda B, D, F: moved(B, D, F) / (2 * B * D * F)),
            ),
        ),
        Part(
            key="intensity-small-batch",
            function="intensity_small_batch",
            points=2,
            hint=N_(
                "Write down the bytes as a sum of three terms, one for each array. Put in a small "
                "B beside large D and F: which term is left? Divide the operations by that term "
                "alone and cancel what stands on both sides."
            ),
            cases=SIZES,
            ranges=SIZE_RANGES | SMALL_BATCH,
            misconceptions=(
                wrong("exact-for-limit", lambda B, D, F: 2 * B * D * F / moved(B, D, F)),
                wrong("a-factor-of-two", lambda B, D, F: B),
                wrong("bits-for-bytes", lambda B, D, F: B / 4),
                wrong("large-batch-limit", lambda B, D, F: 2 * D * F / (D + F)),
            ),
        ),
        Part(
            key="critical-batch",
            function="critical_batch",
            points=3,
            hint=N_(
                "A chip has an intensity of its own: what it can compute while it moves one byte. "
                "Write it down from its two figures. The multiplication is compute-bound once its "
                "intensity reaches that number. Put in what you found for small batches, and solve "
                "for the batch."
            ),
            # The last critical batch is over 6,000, beyond answers that try only small batches.
            cases=(*CHIPS, {"peak": 3.9e15, "bandwidth": 3.2e11}),
            ranges=CHIP_RANGES,
            tolerance=0.01,
            misconceptions=(
                wrong("ridge-itself", lambda peak, bandwidth: peak / bandwidth),
                wrong("bits-for-bytes", lambda peak, bandwidth: 4 * peak / bandwidth),
                wrong("upside-down", lambda peak, bandwidth: bandwidth / peak),
            ),
        ),
        Part(
            key="times",
            function="times",
            points=4,
            hint=N_(
                "Each of the two times is an amount, and a rate at which it is worked off. Write "
                "down both amounts (the parts before gave them) and both rates (they are "
                "arguments), with their units. The units must cancel so that seconds remain."
            ),
            cases=BOTH,
            ranges=SIZE_RANGES | CHIP_RANGES,
            branches=BOUND_BY,
            kind="numbers",
            misconceptions=(
                wrong("output-not-counted", lambda **case: times(**case, out=0)),
                wrong("multiply-add-once", lambda **case: times(**case, flops=1)),
                wrong("two-bytes-for-int8", lambda **case: times(**case, width=2)),
                wrong("bits-for-bytes", lambda **case: times(**case, width=8)),
                wrong("milliseconds", lambda **case: tuple(1e3 * t for t in times(**case))),
                wrong("swapped", lambda **case: times(**case)[::-1]),
            ),
        ),
        Part(
            key="bounds",
            function="bounds",
            points=3,
            hint=N_(
                "Draw the two times as bars on a time axis, once side by side from the same start, "
                "once one after the other. When is everything over in the first picture? When in "
                "the second?"
            ),
            cases=BOTH,
            ranges=SIZE_RANGES | CHIP_RANGES,
            branches=BOUND_BY,
            kind="numbers",
            misconceptions=(
                wrong("swapped", lambda **case: bounds(**case)[::-1]),
                wrong(
                    "shorter-of-the-two", lambda **case: (min(times(**case)), sum(times(**case)))
                ),
                wrong("the-two-times", lambda **case: tuple(sorted(times(**case)))),
                wrong(
                    "one-time-twice", lambda **case: (max(times(**case)), 2 * max(times(**case)))
                ),
                wrong("output-not-counted", lambda **case: bounds(**case, out=0)),
                wrong("multiply-add-once", lambda **case: bounds(**case, flops=1)),
                wrong("two-bytes-for-int8", lambda **case: bounds(**case, width=2)),
                wrong("milliseconds", lambda **case: tuple(1e3 * t for t in bounds(**case))),
            ),
        ),
    ),
    moral=N_(
        "Half the bytes and twice the operations per second move both roofs by the same factor. "
        "So int8 everywhere leaves the critical batch about where it is in bf16; what it halves "
        "is the time, at every batch."
    ),
    thoughts=N_(
        "The two critical batches are the same: in bf16 the ridge point is half as high, and so "
        "is the intensity at each batch. Using int8 everywhere halves the lower bound of the "
        "time, whichever roof binds. So you notice it far below the critical batch, too: there "
        "the time is that of the bytes, and there are half as many."
    ),
)
