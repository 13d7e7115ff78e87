"""Parts, cases and misconceptions of exercise 2, a matmul with int8 weights.

It is bf16[B, D] · int8[D, F] → bf16[B, F].
"""

import math
from collections.abc import Callable

from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Exercise, Part
from grading.schema.ranges import Range, Real, Whole

PEAK, BANDWIDTH = 1.97e14, 8.1e11  # numbers that the exercise states

# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 64, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
    {"B": 64, "D": 8192, "F": 8192},
)
# The smallest sizes: counting one element too many changes the answer visibly.
SMALLEST = {"B": 32, "D": 512, "F": 512}
CHIPS = (
    {"peak": PEAK, "bandwidth": BANDWIDTH},
    {"peak": 9e14, "bandwidth": 1.6e12},
    {"peak": 4.6e14, "bandwidth": 2e12},
    {"peak": 9e14, "bandwidth": 8.1e11},
)
GIVEN = CHIPS[0]

SIZE_RANGES: dict[str, Range] = {
    "B": Whole(32, 2048),
    "D": Whole(512, 16384, multiple_of=128),
    "F": Whole(512, 16384, multiple_of=128),
}
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
CHIP_RANGES: dict[str, Range] = {"peak": Real(2e14, 1e15), "bandwidth": Real(5e11, 9.9e11)}

# For questions about both bounds: the wider bandwidths put the ridge point on either side of B.
BOTH_BOUNDS: dict[str, Range] = {"B": Whole(64, 2048), "bandwidth": Real(5e11, 4e12)}

# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE: dict[str, Callable[..., bool]] = {
    "more than 32 bits": lambda B, D, F: 2 * B * D * F >= 2**32,
}


def moved(B: float, D: float, F: float, x: float = 2, w: float = 1, out: float = 2) -> float:
    return x * B * D + w * D * F + out * B * F


def intensity(B: float, D: float, F: float, flops: float = 2, **widths: float) -> float:
    return flops * B * D * F / moved(B, D, F, **widths)


def critical(
    D: float,
    F: float,
    peak: float,
    bandwidth: float,
    flops: float = 2,
    x: float = 2,
    w: float = 1,
    out: float = 2,
    infinite: bool = True,
) -> float:
    ridge = peak / bandwidth
    room = flops - ridge * (x / F + out / D)
    return ridge * w / room if room > 0 or not infinite else math.inf


def lower(
    B: float, D: float, F: float, peak: float, bandwidth: float, speed: float = 1, **widths: float
) -> float:
    return max(2 * B * D * F / (speed * peak), moved(B, D, F, **widths) / bandwidth)


def upper(B: float, D: float, F: float, peak: float, bandwidth: float, **widths: float) -> float:
    return 2 * B * D * F / peak + moved(B, D, F, **widths) / bandwidth


def slower_by(B: float, D: float, F: float, peak: float, bandwidth: float) -> tuple[bool, bool]:
    """Return whether compute takes longer than traffic, for bf16 and int8 weights."""
    arithmetic = 2 * B * D * F / peak
    bf16, int8 = (arithmetic > moved(B, D, F, w=w) / bandwidth for w in (2, 1))
    return bf16, int8


MAX_BATCH = 30_000  # tokens; larger critical batches depend too much on rounding the ridge point


def clear(**case: float) -> bool:
    """Return whether the critical batch is clearly finite or clearly infinite."""
    return abs(critical(**case, infinite=False)) < MAX_BATCH


ENOUGH: dict[str, Callable[..., bool]] = {
    "none is enough": lambda **case: critical(**case) == math.inf,
    "a small one is enough": lambda **case: critical(**case) < 1_000,
    "only a very large one is enough": lambda **case: 16_000 < critical(**case) < math.inf,
}

EXERCISE = Exercise(
    name="int8-weights",
    title="int8 weights, bf16 activations",
    parts=(
        Part(
            key="intensity",
            function="intensity",
            points=4,
            hint=N_(
                "Make a table with a row for each of the three arrays: number of elements, bytes "
                "for one element, product of the two. Only one of the rows has a different type. "
                "The sum of the last column is what the operations are divided by."
            ),
            cases=(*SIZES, SMALLEST),
            ranges=SIZE_RANGES,
            branches=LARGE,
            misconceptions=(
                wrong("bf16-weights", lambda **case: intensity(**case, w=2)),
                wrong("all-in-int8", lambda **case: intensity(**case, x=1, out=1)),
                wrong("widths-swapped", lambda **case: intensity(**case, x=1, w=2, out=1)),
                wrong("input-in-int8", lambda **case: intensity(**case, x=1)),
                wrong("output-in-int8", lambda **case: intensity(**case, out=1)),
                wrong("output-not-counted", lambda **case: intensity(**case, out=0)),
                wrong("multiply-add-once", lambda **case: intensity(**case, flops=1)),
                wrong("limit-for-exact", lambda B, D, F: 2 * B),
                wrong("upside-down", lambda **case: 1 / intensity(**case)),
            ),
        ),
        Part(
            key="critical-batch-limit",
            function="critical_batch_limit",
            points=4,
            hint=N_(
                "Take your intensity and let B be small beside D and F: only the weights' bytes "
                "remain. How does that intensity depend on B? Set it equal to the chip's own ratio "
                "of peak and bandwidth, and solve for B. No factor of the arithmetic changes: it "
                "stays in bf16."
            ),
            cases=CHIPS,
            ranges=CHIP_RANGES,
            tolerance=0.01,
            misconceptions=(
                wrong("ridge-itself", lambda peak, bandwidth: peak / bandwidth),
                wrong("gained-twice", lambda peak, bandwidth: peak / bandwidth / 4),
                wrong("bits-for-bytes", lambda peak, bandwidth: 4 * peak / bandwidth),
                wrong("upside-down", lambda peak, bandwidth: bandwidth / peak),
            ),
        ),
        Part(
            key="critical-batch",
            function="critical_batch",
            points=7,
            hint=N_(
                "Write the equation: your exact intensity on one side, the chip's ratio of peak "
                "and bandwidth on the other. Multiply by the bytes, so that B stands on both "
                "sides. Bring all terms with B to one side. What you divide by at the end can be "
                "zero or negative: what does the question say to return then?"
            ),
            cases=(
                {"D": 4096, "F": 4096, **GIVEN},
                {"D": 1024, "F": 2048, **CHIPS[2]},
                {"D": 8192, "F": 3072, **CHIPS[1]},
                {"D": 256, "F": 512, **GIVEN},  # no batch is enough
                {"D": 128, "F": 128, **CHIPS[3]},  # no batch is enough, by a wide margin
                {"D": 480, "F": 500, **GIVEN},  # a batch of many thousands is enough
                {"D": 4096, "F": 3072, **CHIPS[3]},
            ),
            # D and F start at 128, so that in some hidden cases no batch is enough.
            ranges={
                "D": Whole(128, 8192, power_of_two=True),
                "F": Whole(128, 8192, multiple_of=128),
                **CHIP_RANGES,
            },
            branches=ENOUGH,
            allowed=clear,
            tolerance=0.01,
            misconceptions=(
                wrong("limit-for-exact", lambda D, F, peak, bandwidth: peak / bandwidth / 2),
                wrong("no-infinity", lambda **case: critical(**case, infinite=False)),
                wrong("bf16-weights", lambda **case: critical(**case, w=2)),
                wrong("all-in-int8", lambda **case: critical(**case, x=1, out=1)),
                wrong("widths-swapped", lambda **case: critical(**case, x=1, w=2, out=1)),
                wrong("output-not-counted", lambda **case: critical(**case, out=0)),
                wrong("operations-or-peak", lambda **case: critical(**case, flops=1)),
            ),
        ),
        Part(
            key="speedup",
            function="speedup",
            points=5,
            hint=N_(
                "Write four times: arithmetic and traffic, each with bf16 weights and with int8 "
                "weights. Two of them are equal. With perfect overlap, the longer one of each kind "
                "of weights decides. Only then compare the two."
            ),
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
                "compute-bound with int8 weights": (
                    lambda **case: slower_by(**case) == (False, True)
                ),
                "compute-bound": lambda **case: slower_by(**case) == (True, True),
            },
            misconceptions=(
                wrong("always-two", lambda **case: 2),
                wrong(
                    "no-ceiling",
                    lambda B, D, F, peak, bandwidth: moved(B, D, F, w=2) / moved(B, D, F),
                ),
                wrong("no-overlap", lambda **case: upper(**case, w=2) / upper(**case)),
                wrong(
                    "int8-arithmetic", lambda **case: lower(**case, w=2) / lower(**case, speed=2)
                ),
                wrong("all-in-int8", lambda **case: lower(**case, w=2) / lower(**case, x=1, out=1)),
                wrong(
                    "output-not-counted",
                    lambda **case: lower(**case, w=2, out=0) / lower(**case, out=0),
                ),
                wrong("upside-down", lambda **case: lower(**case) / lower(**case, w=2)),
            ),
        ),
    ),
    moral=N_(
        "Weights in int8 are half the bytes that matter, and the arithmetic stays as it was: so "
        "about half the batch keeps the chip busy. That is why serving quantizes weights, which "
        "it reads for a few tokens at a time."
    ),
    thoughts=N_(
        "The speedup is close to two for a small batch, falls once the int8 layer is "
        "compute-bound, and is one from where the bf16 layer is compute-bound as well. So who "
        "serves one user gains almost a factor of two, and who trains with large batches gains "
        "nothing. Before you recommend it, you would have to know how much worse the model's "
        "answers get: no roofline says that."
    ),
)
