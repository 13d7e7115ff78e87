"""Parts, cases and misconceptions of exercise 7: a matmul shared on a ring."""

import math
import random
from collections.abc import Callable

from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Case, Exercise, Part
from grading.schema.ranges import Choice, Range, Real, Whole

PEAK, BANDWIDTH, LINK = 4.1e14, 1.7e12, 7e10  # numbers that the exercise states
GIVEN = {"peak": PEAK, "link": LINK}
OTHER = {"peak": 9e14, "link": 4.6e11}

# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 700, "D": 12288, "F": 3072, "N": 4, **GIVEN},
    {"B": 24, "D": 4096, "F": 12288, "N": 8, **OTHER},
    {"B": 3000, "D": 12288, "F": 9216, "N": 2, "peak": PEAK, "link": 4.6e11},
    {"B": 700, "D": 5120, "F": 12288, "N": 16, "peak": 9e14, "link": LINK},
    {"B": 9, "D": 640, "F": 512, "N": 2, **GIVEN},  # shows off-by-one errors
)
SIZE_RANGES: dict[str, Range] = {
    "B": Whole(8, 4096),
    "D": Whole(512, 32768, multiple_of=128),
    "F": Whole(512, 32768, multiple_of=128),
    "N": Choice(2, 4, 8, 16),
}
PEAKS, LINKS = Real(1e14, 2e15), Real(2e10, 9e11)
CHIP_RANGES: dict[str, Range] = {"peak": PEAKS, "link": LINKS}
RING: dict[str, Range] = {
    "N": Whole(2, 64),
    "link": Real(2e10, 9e11),
    "delay": Real(5e-7, 2e-5),
}


def sent(size: float, N: float, laps: float = 2) -> float:
    return laps * (N - 1) / N * size


def as_for_two(size: float, N: float) -> float:
    return size


def one_lap(size: float, N: float) -> float:
    return sent(size, N, laps=1)


def not_whole(size: float, N: float) -> bool:
    """Return whether rounding the sent bytes to an integer exceeds the tolerance."""
    return 0.1 < sent(size, N) % 1 < 0.9 and sent(size, N) < 4000


def times(
    B: float,
    D: float,
    F: float,
    N: float,
    peak: float,
    link: float,
    flops: float = 2,
    ring: Callable[[float, float], float] = sent,
    sums: float = 2,
) -> tuple[float, float]:
    """Return arithmetic and network time in seconds.

    Each partial sum takes `sums` bytes.
    """
    return flops * B * D * F / (N * peak), ring(sums * B * F, N) / link


def network_times(factor: Callable[[float], float]) -> Callable[..., tuple[float, float]]:
    """Return a variant of `times` that multiplies the network time by `factor(N)`."""

    def found(**case: float) -> tuple[float, float]:
        arithmetic, network = times(**case)
        return arithmetic, factor(case["N"]) * network

    return found


def binds(**case: float) -> str:
    arithmetic, network = times(**case)
    return "compute" if arithmetic > network else "network"


def depth(N: float, peak: float, link: float) -> float:
    """Return the width at which arithmetic and network take equally long, unrounded."""
    return 2 * (N - 1) * peak / link


# Equivalent formulas whose results round differently in floating point.
WRITINGS: tuple[Callable[[float, float, float], float], ...] = (
    lambda N, peak, link: 2 * (N - 1) * peak / link,
    lambda N, peak, link: 2 * (N - 1) / link * peak,
    lambda N, peak, link: 2 * (N - 1) / (link / peak),
    lambda N, peak, link: (1 - 1 / N) * 2 * N * (peak / link),
    lambda N, peak, link: 2 * (N - 1) / N * 2 / link * peak * N / 2,
    lambda N, peak, link: 2 * (N - 1) / N * 2 / link / (2 / (N * peak)),
    lambda N, peak, link: 2 * (N - 1) * 2 / (N * link) * (N * peak) / 2,
    lambda N, peak, link: 2 * (N - 1) * (peak / 1e9) / (link / 1e9),
    lambda N, peak, link: 2 * (N - 1) * (1000 * (peak / 1e12)) / (link / 1e9),
    lambda N, peak, link: 2 * (N - 1) * (peak / 1e12) / (link / 1e9) * 1000,
)


def exact_quotient(case: Case, rng: random.Random) -> Case:
    """Return a case whose arithmetic and network time are equal at a whole width.

    The ratio of peak and link is a power of two, and so is the number of chips, so that floats
    compute both times without rounding; the quotient is an integer in every formula.
    """
    N = rng.choice((2, 4, 8))
    while True:
        link = float(f"{rng.uniform(LINKS.low, LINKS.high):.2e}")
        peaks = [2.0**power * link for power in range(20)]
        peak = rng.choice([peak for peak in peaks if PEAKS.low <= peak <= PEAKS.high])
        if len({written(N, peak, link) for written in WRITINGS}) == 1:
            return {**case, "N": N, "peak": peak, "link": link}


def is_whole(**case: float) -> bool:
    return depth(**case) % 1 == 0


def roofs(
    B: float,
    D: float,
    F: float,
    N: float,
    peak: float,
    bandwidth: float,
    link: float,
    ring: Callable[[float, float], float] = sent,
    sums: float = 2,
    width: float = 2,
    written: Callable[[float], float] = lambda N: 1,
) -> tuple[float, float, float]:
    """Return arithmetic, HBM and network time on N chips, in seconds.

    width: bytes of an element in HBM. written: the share of the output that each chip writes.
    """
    arithmetic, network = times(B, D, F, N, peak, link, ring=ring, sums=sums)
    moved = width * (B * D / N + D * F / N + written(N) * B * F)
    return arithmetic, moved / bandwidth, network


def gain(over: Callable[[list[float]], float] = max, without: str = "", **case: float) -> float:
    """Return the speedup over one chip, without the roof that `without` names."""
    found = []
    for N in (1, case["N"]):
        named = zip(("compute", "HBM", "network"), roofs(**case | {"N": N}), strict=True)
        found.append(over([time for roof, time in named if roof != without]))
    return found[0] / found[1]


def gain_by(**counted: object) -> Callable[..., float]:
    """Return a function that computes the speedup with these arguments of `roofs`."""

    def found(**case: float) -> float:
        *alone, _ = roofs(**case | {"N": 1}, **counted)
        return max(alone) / max(roofs(**case, **counted))

    return found


def longest(**case: float) -> str:
    found = roofs(**case)
    return ("compute", "HBM", "network")[found.index(max(found))]


def alone(**case: float) -> str:
    """Return the roof that binds on one chip."""
    return longest(**case | {"N": 1})


def waiting(
    size: float,
    N: float,
    link: float,
    delay: float,
    delays: float | None = None,
    laps: float = 2,
) -> tuple[float, float]:
    """Return the total delay and the transfer time of a ring, in seconds.

    `delays` is the number of delays, by default one per step.
    """
    steps = laps * (N - 1)
    return (steps if delays is None else delays) * delay, sent(size, N, laps) / link


def between_numbers(value: float) -> bool:
    """Return whether rounding the value to an integer would exceed the tolerance."""
    return abs(value - round(value)) > 1.2e-5 * value


def small_and_uneven(case: Case, rng: random.Random) -> Case:
    """Return a case in which bandwidth · delay is small and not an integer."""
    while True:
        link = float(f"{rng.uniform(2e10, 3e10):.5e}")
        delay = float(f"{rng.uniform(5e-7, 6e-7):.5e}")
        if between_numbers(2 * link * delay):
            return {**case, "N": 2, "link": link, "delay": delay}


EXERCISE = Exercise(
    name="many-chips",
    title="many chips",
    parts=(
        Part(
            key="bytes-sent",
            function="bytes_sent",
            points=3,
            hint=N_(
                "How large is one piece? In each step of a lap, a chip sends one piece. A piece "
                "starts on one chip and has to visit all others: how many steps is that? Count "
                "the steps of both laps, and multiply by the piece. What comes out for a single "
                "chip, and does that make sense?"
            ),
            cases=(
                {"size": 73_400_320, "N": 4},
                {"size": 900_000, "N": 12},
                {"size": 73_400_320, "N": 2},
                {"size": 5_000_000_000, "N": 4},
                {"size": 900_000, "N": 1},
                {"size": 1001, "N": 12},  # neither a piece nor the total is an integer
            ),
            ranges={"size": Whole(1000, 10**10), "N": Whole(1, 64)},
            branches={
                "one chip": lambda size, N: N == 1,
                "two chips": lambda size, N: N == 2,
                "more": lambda size, N: N > 4,
                "more than 32 bits": lambda size, N: size >= 2**32,
                "not a whole number": not_whole,
            },
            misconceptions=(
                wrong("one-lap", one_lap),
                wrong("as-for-two", as_for_two),
                wrong("a-piece-to-itself", lambda size, N: 2 * size),
                wrong("whole-array-each-step", lambda size, N: 2 * (N - 1) * size),
                wrong("all-chips-together", lambda size, N: N * sent(size, N)),
                wrong("whole-array-to-each", lambda size, N: (N - 1) * size),
                wrong("one-step-a-lap", lambda size, N: 2 * size / N),
            ),
        ),
        Part(
            key="times",
            function="times",
            points=4,
            kind="numbers",
            hint=N_(
                "Write the shapes of what one chip multiplies: which side is shorter than in the "
                "whole multiplication? Count its FLOPs. Then write the shape of its partial sums, "
                "and how many bytes they take. That is the array that your function of the part "
                "before is about."
            ),
            cases=SIZES,
            ranges=SIZE_RANGES | CHIP_RANGES,
            branches={
                "compute takes longer": lambda **case: binds(**case) == "compute",
                "the network takes longer": lambda **case: binds(**case) == "network",
            },
            misconceptions=(
                wrong(
                    "arithmetic-not-shared",
                    lambda **case: (case["N"] * times(**case)[0], times(**case)[1]),
                ),
                wrong("multiply-add-once", lambda **case: times(**case, flops=1)),
                wrong(
                    "one-lap",
                    lambda **case: times(**case, ring=one_lap),
                    excluded_by="bytes-sent",
                ),
                wrong("sums-in-one-byte", lambda **case: times(**case, sums=1)),
                wrong("both-ways", network_times(lambda N: 1 / 2)),
                wrong(
                    "as-for-two",
                    lambda **case: times(**case, ring=as_for_two),
                    excluded_by="bytes-sent",
                ),
                wrong("sums-in-parts", network_times(lambda N: 1 / N)),
                wrong("links-together", network_times(lambda N: 1 / N)),
                wrong(
                    "whole-array-each-step", network_times(lambda N: N), excluded_by="bytes-sent"
                ),
                wrong("all-chips-together", network_times(lambda N: N)),
                wrong(
                    "everything-sent",
                    lambda B, D, F, N, peak, link: (
                        2 * B * D * F / (N * peak),
                        sent(2 * (B * D + D * F + B * F), N) / link,
                    ),
                ),
                wrong("swapped", lambda **case: times(**case)[::-1]),
                wrong("milliseconds", lambda **case: tuple(1e3 * t for t in times(**case))),
            ),
        ),
        Part(
            key="first-depth",
            function="first_depth",
            points=4,
            hint=N_(
                "Set your two times equal. Three of the letters stand on both sides and cancel; "
                "solve for the width. The number of chips stands below the fraction bar on both "
                "sides: what of it is left? At the end, ask which of the two whole numbers next "
                "to your quotient is still too narrow."
            ),
            cases=(
                {"N": 4, **GIVEN},
                {"N": 8, **OTHER},
                {"N": 2, **GIVEN},
                {"N": 4, "peak": 9e14, "link": 2.1e11},
                {"N": 6, "peak": 1.97e14, "link": 9e10},
                {"N": 4, "peak": 5.12e14, "link": 1.25e11},  # whole quotients
                {"N": 8, "peak": 1.8432e15, "link": 9e11},
            ),
            ranges={"N": Choice(2, 3, 4, 6, 8), **CHIP_RANGES},
            # Widths small enough to show off-by-one errors, and either integers or far from any.
            allowed=lambda **case: (
                300 < depth(**case) < 40_000
                and (is_whole(**case) or 0.05 < depth(**case) % 1 < 0.95)
            ),
            branches={
                "more than ten thousand": lambda **case: depth(**case) > 10_000,
                "a whole quotient": is_whole,
            },
            boundaries={"a whole quotient": exact_quotient},
            misconceptions=(
                wrong("rounded-down", lambda **case: math.floor(depth(**case))),
                wrong("past-the-tie", lambda **case: math.floor(depth(**case)) + 1),
                wrong("not-whole", depth),
                wrong("one-lap", lambda **case: math.ceil(depth(**case) / 2)),
                wrong("sums-in-one-byte", lambda **case: math.ceil(depth(**case) / 2)),
                wrong("both-ways", lambda **case: math.ceil(depth(**case) / 2)),
                wrong("product-counted-more", lambda **case: math.ceil(depth(**case) / 2)),
                wrong("as-for-two", lambda N, peak, link: math.ceil(N * peak / link)),
                wrong("width-for-a-pair", lambda N, peak, link: math.ceil(2 * peak / link)),
                wrong("width-of-a-part", lambda **case: math.ceil(depth(**case) / case["N"])),
                wrong("multiply-add-once", lambda **case: math.ceil(2 * depth(**case))),
                wrong("longer-network", lambda **case: math.ceil(2 * depth(**case))),
            ),
        ),
        Part(
            key="speedup",
            function="speedup",
            points=4,
            hint=N_(
                "Write down five times: arithmetic and HBM on one chip, and arithmetic, HBM and "
                "network on each of many. Which bytes are divided among the chips, and which does "
                "each chip write whole? The longest of each group decides. Only then compare."
            ),
            cases=(
                {"B": 700, "D": 12288, "F": 3072, "N": 4, **GIVEN, "bandwidth": BANDWIDTH},
                {"B": 24, "D": 4096, "F": 12288, "N": 8, **OTHER, "bandwidth": BANDWIDTH},
                # Two roofs are nearly equal: a wrong element width in either changes the answer.
                {"B": 3000, "D": 30720, "F": 9216, "N": 2, "peak": 9e14, "link": LINK}
                | {"bandwidth": 3e12},
                {"B": 150, "D": 12288, "F": 9216, "N": 4, "peak": 9e14, "link": 5e10}
                | {"bandwidth": 8e11},
                {"B": 200, "D": 5120, "F": 9216, "N": 8, **GIVEN, "bandwidth": BANDWIDTH},
                {"B": 700, "D": 1024, "F": 12288, "N": 16, **GIVEN, "bandwidth": 3e12},
                # Sizes small enough for off-by-one errors to show.
                {"B": 24, "D": 512, "F": 512, "N": 2, "peak": 1e14, "link": 2e10}
                | {"bandwidth": 6e12},
                {"B": 9, "D": 512, "F": 512, "N": 16, **OTHER, "bandwidth": 5e11},
                # Times long enough not to be zero when rounded to milliseconds.
                {"B": 4096, "D": 12288, "F": 30720, "N": 16, "peak": 4.1e14, "link": 2e10}
                | {"bandwidth": 3e12},
            ),
            ranges=SIZE_RANGES | CHIP_RANGES | {"bandwidth": Real(5e11, 6e12)},
            branches={
                "slower than one": lambda **case: gain(**case) < 0.98,
                "bound by the network, and faster": lambda **case: (
                    longest(**case) == "network" and gain(**case) > 1.02
                ),
                "bound by HBM": lambda **case: longest(**case) == "HBM",
                "bound by compute": lambda **case: longest(**case) == "compute",
                # Here HBM bytes affect only the numerator of the speedup.
                "HBM on one chip, the network on many": lambda **case: (
                    (alone(**case), longest(**case)) == ("HBM", "network")
                ),
            },
            misconceptions=(
                wrong("as-many-times", lambda **case: case["N"]),
                wrong("network-left-out", lambda **case: gain(**case, without="network")),
                wrong("hbm-left-out", lambda **case: gain(**case, without="HBM")),
                wrong("no-overlap", lambda **case: gain(sum, **case)),
                wrong("one-lap", gain_by(ring=one_lap), excluded_by="times"),
                wrong("sums-in-one-byte", gain_by(sums=1), excluded_by="times"),
                wrong("both-ways", gain_by(sums=1), excluded_by="times"),
                wrong("as-for-two", gain_by(ring=as_for_two), excluded_by="times"),
                wrong("writes-shared", gain_by(written=lambda N: 1 / N)),
                wrong("hbm-in-one-byte", gain_by(width=1)),
                wrong("upside-down", lambda **case: 1 / gain(**case)),
            ),
        ),
        Part(
            key="all-reduce-time",
            function="all_reduce_time",
            points=3,
            hint=N_(
                "Draw one chip's messages on a line, one after the other: how many are there in "
                "both laps? Each of them takes its delay, and then the time of its bytes. How "
                "large is one message?"
            ),
            cases=(
                {"size": 73_400_320, "N": 4, "link": LINK, "delay": 3e-6},
                {"size": 30_000, "N": 12, "link": LINK, "delay": 1.5e-6},
                {"size": 1_500_000, "N": 4, "link": 4.6e11, "delay": 1.5e-6},
                {"size": 30_000, "N": 2, "link": 4.6e11, "delay": 3e-6},
                {"size": 1_500_000, "N": 64, "link": LINK, "delay": 2e-5},
                {"size": 100_000, "N": 64, "link": 2e10, "delay": 5e-7},  # pieces of 1562.5 bytes
            ),
            ranges={"size": Real(1e5, 1e9), **RING},
            branches={
                "the delays take longer": lambda **case: waiting(**case)[0] > waiting(**case)[1],
                "the bytes take longer": lambda **case: waiting(**case)[0] < waiting(**case)[1],
            },
            misconceptions=(
                wrong("delay-left-out", lambda **case: waiting(**case)[1]),
                wrong("one-delay", lambda **case: sum(waiting(**case, delays=1))),
                wrong("one-lap", lambda **case: sum(waiting(**case, laps=1))),
                wrong(
                    "a-piece-to-itself",
                    lambda size, N, link, delay: 2 * N * delay + 2 * size / link,
                ),
                wrong(
                    "whole-array-each-step",
                    lambda size, N, link, delay: 2 * (N - 1) * (delay + size / link),
                    excluded_by="bytes-sent",
                ),
                wrong(
                    "all-chips-together",
                    lambda **case: waiting(**case)[0] + case["N"] * waiting(**case)[1],
                ),
                wrong("longer-of-the-two", lambda **case: max(waiting(**case))),
                wrong("milliseconds", lambda **case: 1e3 * sum(waiting(**case))),
            ),
        ),
        Part(
            key="equal-size",
            function="equal_size",
            points=2,
            hint=N_(
                "Take the two terms of your time with a delay and set them equal. What cancels, "
                "and what is left for the size? Look whether it is the size of a message or of "
                "the whole array."
            ),
            cases=(
                {"N": 4, "link": LINK, "delay": 3.1e-6},
                {"N": 12, "link": LINK, "delay": 1.5e-6},
                {"N": 4, "link": 4.6e11, "delay": 1.5e-6},
                {"N": 2, "link": 4.6e11, "delay": 7e-6},
                {"N": 2, "link": 2.5e10, "delay": 5.0001e-7},  # not a whole number
            ),
            ranges=RING,
            branches={
                "not a whole number": lambda N, link, delay: between_numbers(N * link * delay)
            },
            boundaries={"not a whole number": small_and_uneven},
            misconceptions=(
                wrong("one-message", lambda N, link, delay: link * delay),
                wrong("one-delay", lambda N, link, delay: N * link * delay / (2 * (N - 1))),
                wrong("array-sent-once", lambda N, link, delay: 2 * (N - 1) * link * delay),
                wrong("laps-apart", lambda N, link, delay: 2 * N * link * delay),
            ),
        ),
    ),
    moral=N_(
        "With D split, each chip sends nearly the same however many there are, while its share of "
        "the arithmetic shrinks: so the model must be wider for each chip that joins. For small "
        "arrays the delay decides, and neither width nor bandwidth helps."
    ),
    thoughts=N_(
        "Below that width, more chips still help where HBM binds and not arithmetic: with a small "
        "batch, most bytes are weights, and each chip loads only its part of them. The output "
        "that they exchange is small then. A step for a few sequences sends little more than "
        "nothing, so it is a matter of delay, and that grows with the number of chips."
    ),
)
