"""Exercise 3: parts, cases and misconceptions about curves of attainable FLOP/s.

The setting is that of exercise 2. Shared code is duplicated, so that each folder is self-contained.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Exercise, Part
from grading.schema.ranges import Choice, Range, Real, Some, Whole

PEAK, BANDWIDTH = 1.97e14, 8.1e11  # numbers that the exercise states

SIZES = (
    {"B": 64, "D": 4096, "F": 16384},
    {"B": 500, "D": 1024, "F": 8192},
    {"B": 24, "D": 8192, "F": 3072},
)
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

# For questions about the ceiling: the wider range of bandwidths has cases on both sides of it.
BOTH_BOUNDS: dict[str, Range] = {"B": Whole(64, 2048), "bandwidth": Real(5e11, 4e12)}


def moved(B: float, D: float, F: float, x: float = 2, w: float = 1, out: float = 2) -> float:
    return x * B * D + w * D * F + out * B * F


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


MAX_BATCH = 30_000  # tokens; larger critical batches depend too much on rounding the ridge point


def clear(**case: float) -> bool:
    """Return whether a curve clearly reaches the ceiling, or clearly never does."""
    return abs(critical(**case, infinite=False)) < MAX_BATCH


def attainable(
    B: float,
    D: float,
    F: float,
    peak: float,
    bandwidth: float,
    flops: float = 2,
    overlap: Callable[[tuple[float, float]], float] = max,
    **widths: float,
) -> float:
    count = flops * B * D * F
    return count / overlap((count / peak, moved(B, D, F, **widths) / bandwidth))


def no_ceiling(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return 2 * B * D * F / moved(B, D, F) * bandwidth


def small_batch(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return min(peak, 2 * B * bandwidth)


def larger(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return max(peak, no_ceiling(B, D, F, peak, bandwidth))


def time_taken(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return 2 * B * D * F / attainable(B, D, F, peak, bandwidth)


def share(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return attainable(B, D, F, peak, bandwidth) / peak


def straight(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return peak * min(1, B / critical(D, F, peak, bandwidth))


def int8_arithmetic(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return attainable(B, D, F, 2 * peak, bandwidth)


def at_peak(B: float, D: float, F: float, peak: float, bandwidth: float) -> float:
    return peak


def both(small: float, large: float, peak: float, bandwidth: float) -> tuple[float, float]:
    return critical(small, small, peak, bandwidth), critical(large, large, peak, bandwidth)


def ends(sizes: list[int], batches: list[int], peak: float, bandwidth: float) -> tuple[float, ...]:
    """Return at what share of the largest batch each curve reaches its ceiling."""
    return tuple(critical(size, size, peak, bandwidth) / max(batches) for size in sizes)


def apart(sizes: list[int]) -> bool:
    """Return whether each size is at least four times the next smaller one."""
    return all(4 * small <= large for small, large in itertools.pairwise(sorted(sizes)))


def curves(height: Callable[..., float], **counts: Any) -> Callable[..., dict[int, list[float]]]:
    """Return a function that computes a figure's curves: size → FLOP/s per batch."""
    return lambda sizes, batches, peak, bandwidth: {
        size: [height(B, size, size, peak, bandwidth, **counts) for B in batches] for size in sizes
    }


EXERCISE = Exercise(
    name="roofline-plot",
    title="roofline plot",
    parts=(
        Part(
            key="attainable",
            function="attainable",
            points=6,
            hint=N_(
                "First find the time: at perfect overlap, the longer of the arithmetic's and the "
                "traffic's. Then ask how many FLOPs were done in that time. Try a very large "
                "batch: the result must come out at the peak and never above it."
            ),
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
            misconceptions=(
                wrong("no-ceiling", no_ceiling),
                wrong("always-at-peak", at_peak),
                wrong("no-overlap", lambda **case: attainable(**case, overlap=sum)),
                wrong("limit-for-exact", small_batch),
                wrong("bf16-weights", lambda **case: attainable(**case, w=2)),
                wrong("all-in-int8", lambda **case: attainable(**case, x=1, out=1)),
                wrong("widths-swapped", lambda **case: attainable(**case, x=1, w=2, out=1)),
                wrong("output-not-counted", lambda **case: attainable(**case, out=0)),
                wrong("multiply-add-once", lambda **case: attainable(**case, flops=1)),
                wrong("int8-arithmetic", int8_arithmetic),
                wrong("larger-of-the-two", larger),
                wrong("time-for-rate", time_taken),
                wrong("share-of-the-peak", share),
                wrong("straight-line", straight),
            ),
        ),
        Part(
            key="ceiling-batch",
            function="ceiling_batch",
            points=4,
            hint=N_(
                "At the ceiling, arithmetic and traffic take equally long. Write that as an "
                "equation with B as the unknown, with the exact bytes, and collect the terms with "
                "B. If what stands beside B is zero or negative, the two never meet."
            ),
            cases=(
                {"D": 4096, "F": 4096, **GIVEN},
                {"D": 1024, "F": 1024, **GIVEN},
                {"D": 8192, "F": 3072, **CHIPS[1]},
                {"D": 256, "F": 256, **GIVEN},  # never
                {"D": 128, "F": 128, **CHIPS[3]},  # stays far below the ceiling
                {"D": 128, "F": 8192, **GIVEN},  # never
                {"D": 480, "F": 480, **GIVEN},  # just fails to reach the ceiling
                # reaches the ceiling at many thousands of tokens
                {"D": 480, "F": 500, **GIVEN},
                {"D": 4096, "F": 3072, **CHIPS[3]},
            ),
            # D and F start at 128, so that some hidden cases never reach the ceiling.
            ranges={
                "D": Whole(128, 8192, power_of_two=True),
                "F": Whole(128, 8192, multiple_of=128),
                **CHIP_RANGES,
            },
            branches={
                "never": lambda **case: critical(**case) == math.inf,
                "early": lambda **case: critical(**case) < 1_000,
                "very late": lambda **case: 16_000 < critical(**case) < math.inf,
            },
            allowed=clear,
            tolerance=0.01,
            misconceptions=(
                wrong("limit-for-exact", lambda D, F, peak, bandwidth: peak / bandwidth / 2),
                wrong("no-infinity", lambda **case: critical(**case, infinite=False)),
                wrong("bf16-weights", lambda **case: critical(**case, w=2)),
                wrong("all-in-int8", lambda **case: critical(**case, x=1, out=1)),
                wrong("output-not-counted", lambda **case: critical(**case, out=0)),
                wrong("one-side-twice", lambda **case: critical(**case | {"F": case["D"]})),
            ),
        ),
        Part(
            key="delay",
            function="delay",
            points=3,
            hint=N_(
                "You have a function for the batch at which a curve reaches its ceiling. Which "
                "sizes must it be called with for the small matrix, and which for the large one? "
                "The title of the part says how the two batches are compared."
            ),
            cases=(
                {"small": 1024, "large": 4096, **GIVEN},
                {"small": 768, "large": 8192, **CHIPS[2]},
                {"small": 1024, "large": 8192, **GIVEN},
                # Ridge points near 250, whose rounding changes the small matrix's batch visibly.
                {"small": 640, "large": 4096, "peak": 1.9992e14, "bandwidth": 8e11},
                {"small": 640, "large": 4096, "peak": 1.9928e14, "bandwidth": 8e11},
                {"small": 640, "large": 8192, "peak": 1.99056e14, "bandwidth": 8e11},
            ),
            # With ridge points up to 250, the small matrix also reaches the ceiling.
            ranges={
                "small": Whole(640, 2048, multiple_of=128),
                "large": Whole(3072, 16384, multiple_of=128),
                "peak": Real(1.6e14, 2e14),
                "bandwidth": Real(8e11, 9.9e11),
            },
            tolerance=0.01,
            misconceptions=(
                wrong("ratio-of-sides", lambda small, large, **chip: large / small),
                wrong("no-delay", lambda **case: 1),
                wrong("twice", lambda **case: 2),
                wrong("upside-down", lambda **case: both(**case)[1] / both(**case)[0]),
                wrong("difference", lambda **case: both(**case)[0] - both(**case)[1]),
                wrong("increase", lambda **case: both(**case)[0] / both(**case)[1] - 1),
            ),
        ),
        Part(
            key="figure",
            function="plot_throughput",
            points=7,
            hint=N_(
                "Go through the picture as somebody who has not seen your code. For each size: is "
                "there a curve, through all batches, and does something in the picture name its "
                "size? For each axis: is it said what it shows, and in which unit the values are "
                "that you drew?"
            ),
            cases=(
                {"sizes": [4096, 1024], "batches": list(range(1, 513)), **GIVEN},
                {"sizes": [768, 6144, 1536], "batches": list(range(4, 801, 4)), **CHIPS[1]},
            ),
            ranges={
                "sizes": Some((384, 512, 1024, 1536, 2048, 4096, 6144, 8192), least=2, most=3),
                "batches": Choice(list(range(1, 401)), list(range(8, 1025, 8))),
                **CHIP_RANGES,
            },
            branches={
                "three or more sizes in no order": (
                    lambda sizes, **rest: (
                        len(sizes) > 2 and sizes not in (sorted(sizes), sorted(sizes)[::-1])
                    )
                ),
                "a curve at its ceiling": lambda **case: min(ends(**case)) < 0.8,
                "a curve below its ceiling": lambda **case: max(ends(**case)) > 1,
            },
            # Curves are far apart in the first third of the batches, as in the published cases: a
            # label beside a curve there clearly belongs to it.
            allowed=lambda **case: sorted(ends(**case))[1] > 1 / 3 and apart(case["sizes"]),
            kind="figure",
            tolerance=0.01,
            misconceptions=(
                wrong("no-ceiling", curves(no_ceiling)),
                wrong("no-overlap", curves(attainable, overlap=sum)),
                wrong("limit-for-exact", curves(small_batch)),
                wrong("bf16-weights", curves(attainable, w=2)),
                wrong("multiply-add-once", curves(attainable, flops=1)),
                wrong("straight-line", curves(straight)),
            ),
        ),
    ),
    moral=N_(
        "Both sizes reach the same ceiling, and the larger matrix does so with the smaller batch: "
        "of its bytes, activations are the smaller share. The small one needs more, though less "
        "than twice as much."
    ),
    thoughts=N_(
        "Against the intensity both sizes lie on one line, the roofline, since the attainable "
        "FLOP/s depend on nothing else; against the batch they differ, because the same batch "
        "gives the small matrix a lower intensity. Logarithmic axes turn the slope into a "
        "straight line. To choose a batch, the axis should show what is chosen: the batch."
    ),
)
