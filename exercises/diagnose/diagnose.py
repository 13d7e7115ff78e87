"""Parts, cases and misconceptions of exercise 8: causes of measured times."""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import rooflib as rl
from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Case, Exercise, Part, combinations
from grading.schema.ranges import Choice, Made, Range, Real, Whole

CAUSES = ("compute", "memory", "traffic", "overhead", "cache")

# Measured by roofmeter on an Intel Xeon on 22 November 2026; tests/exercises/test_diagnose.py
# compares these with the stored run. Roofs are best samples; measured times are medians.
PEAK, READ, UPDATE, CALL = 3.58535e11, 3.08800e10, 4.74538e10, 3.37297e-7
MEASURED = {
    "one row": 2.26018e-3,
    "256 rows": 3.06264e-2,
    "one row, same weights": 1.24254e-3,
    "polynomial": 2.43076e-1,
}
WIDTH, DEGREE, ELEMENTS = 4096, 16, 2**25

Operation = dict[str, Any]


def thin(name: str, rows: int) -> Operation:
    """Return the measured matmul x[rows, WIDTH] · w[WIDTH, WIDTH] in fp32."""
    least = 4 * (rows * WIDTH + WIDTH * WIDTH + rows * WIDTH)
    return {
        "name": name,
        "measured": MEASURED[name],
        "flops": 2 * rows * WIDTH * WIDTH,
        "needed": least,
        "moved": least,
        "overhead": CALL,
        "peak": PEAK,
        "bandwidth": READ,
    }


POLYNOMIAL: Operation = {
    "name": "polynomial",
    "measured": MEASURED["polynomial"],
    "flops": 2 * DEGREE * ELEMENTS,
    "needed": 2 * 4 * ELEMENTS,
    # Two passes for each degree: y · x reads two arrays, y + a reads one; each writes one.
    "moved": 5 * DEGREE * 4 * ELEMENTS,
    "overhead": 2 * DEGREE * CALL,
    "peak": PEAK,
    "bandwidth": UPDATE,
}


def tokens_per_second(chips: int) -> float:
    """Return published tokens per second of Llama 2 7B, B = 1, on this many A100."""
    return next(
        step.tokens_per_second
        for step in rl.published_steps()
        if (step.model, step.chips, step.B) == ("Llama 2 7B", chips, 1)
    )


def decode(name: str, chips: int, B: int, overhead: float) -> Operation:
    """Return a published decode step of Llama 2 7B on A100, with counts per chip."""
    (step,) = (
        step
        for step in rl.published_steps()
        if (step.model, step.chips, step.B) == ("Llama 2 7B", chips, B) and "A100" in step.chip
    )
    chip = rl.chip(step.chip)
    return {
        "name": name,
        "measured": step.seconds,
        "flops": float(step.step.flops),
        "needed": float(step.step.bytes),
        "moved": float(step.step.bytes),
        "overhead": overhead,
        "peak": float(chip[step.x]),
        "bandwidth": float(chip["HBM"]),
    }


# --- the time that more chips do not shorten ------------------------------------------------------


def fixed_time(n: float, rate: float, more: float, more_rate: float) -> float:
    return (more / more_rate - n / rate) / (more - n)


def line_in_chips(n: float, rate: float, more: float, more_rate: float) -> float:
    return (more / rate - n / more_rate) / (more - n)


def rates_on_a_line(n: float, rate: float, more: float, more_rate: float) -> float:
    return (more - n) / (more * more_rate - n * rate)


def rate_of_each(n: float, rate: float, more: float, more_rate: float) -> float:
    return (more * more / more_rate - n * n / rate) / (more - n)


def scaling(rng: random.Random) -> tuple[int, float, int, float]:
    """Return two numbers of chips, each with its tokens per second.

    The fixed part of the time is neither tiny nor all of it.
    """
    n, more = sorted(rng.sample((1, 2, 3, 4, 6, 8, 12, 16), 2))
    shared = math.exp(rng.uniform(math.log(2e-3), math.log(0.2)))
    fixed = shared / n * rng.uniform(0.1, 0.6)
    rates = (float(f"{1 / (fixed + shared / count):.6g}") for count in (n, more))
    return n, next(rates), more, next(rates)


# --- which cause explains a measurement -----------------------------------------------------------


def times(operation: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of each cause; "traffic" only if extra bytes are moved."""
    found = {
        "compute": operation["flops"] / operation["peak"],
        "memory": operation["needed"] / operation["bandwidth"],
        "overhead": operation["overhead"],
    }
    if operation["moved"] > operation["needed"]:
        found["traffic"] = operation["moved"] / operation["bandwidth"]
    return found


def longest(of: Mapping[str, float]) -> str:
    return max(of, key=lambda cause: of[cause])


def cause_of(operation: Mapping[str, Any]) -> str:
    of = times(operation)
    return "cache" if operation["measured"] < of["memory"] else longest(of)


def without(*left_out: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that diagnoses an operation but never considers these causes."""

    def found(operation: Mapping[str, Any]) -> str:
        of = {cause: time for cause, time in times(operation).items() if cause not in left_out}
        if "cache" not in left_out and operation["measured"] < of.get("memory", 0):
            return "cache"
        return longest(of)

    return found


def extra_first(operation: Mapping[str, Any]) -> str:
    return "traffic" if operation["moved"] > operation["needed"] else cause_of(operation)


def shortest(operation: Mapping[str, Any]) -> str:
    of = times(operation)
    if operation["measured"] < of["memory"]:
        return "cache"
    return min(of, key=lambda cause: of[cause])


def most_bytes_or_flops(operation: Mapping[str, Any]) -> str:
    """Diagnose by the larger count, bytes or FLOPs, ignoring the rates."""
    if operation["measured"] < times(operation)["memory"]:
        return "cache"
    if operation["flops"] > operation["moved"]:
        return "compute"
    return "traffic" if operation["moved"] > operation["needed"] else "memory"


def named(diagnosis: Callable[[Mapping[str, Any]], str]) -> Callable[..., list[str]]:
    """Return a function that names the operations diagnosed with a given cause."""

    def answer(operations: Sequence[Operation], cause: str) -> list[str]:
        return [one["name"] for one in operations if diagnosis(one) == cause]

    return answer


APART = 1.5  # minimum ratio of the longest time to the next one
SYLLABLES = (("ba", "de", "fi", "go", "ku", "la"), ("mo", "ne", "pi", "ra", "su", "to"))


def six(value: float) -> float:
    return float(f"{value:.6g}")


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def an_operation(rng: random.Random, cause: str) -> Operation:
    """Invent an operation with this cause; its other times are clearly shorter."""
    peak, bandwidth = six(log_uniform(rng, 1e11, 1e15)), six(log_uniform(rng, 1e10, 4e12))
    longest_time = log_uniform(rng, 1e-5, 1e-1)
    lower = [longest_time / log_uniform(rng, APART, 40) for _ in range(3)]
    compute, memory, overhead = lower
    passes = rng.choice((1, 1, 2, 3, 8, 20))
    measured = longest_time * rng.uniform(1.05, 1.6)
    if cause == "compute":
        compute, memory = longest_time, memory / passes
    elif cause == "overhead":
        overhead, memory = longest_time, memory / passes
    elif cause == "traffic":
        passes = rng.choice((2, 3, 5, 12, 40))
        memory = longest_time / passes
    else:
        memory, passes = longest_time, 1
    if cause == "cache":
        measured = longest_time * rng.uniform(0.35, 0.75)
        compute, overhead = (min(time, measured / APART) for time in (compute, overhead))
    needed = 4 * round(memory * bandwidth / 4)
    return {
        "name": "".join(map(rng.choice, SYLLABLES)),
        "measured": six(measured),
        "flops": round(compute * peak),
        "needed": needed,
        "moved": needed * passes,
        "overhead": six(overhead),
        "peak": peak,
        "bandwidth": bandwidth,
    }


def some_operations(rng: random.Random) -> list[Operation]:
    """Return operations of all causes, in any order, with different names."""
    causes = [*CAUSES, *rng.choices(CAUSES, k=rng.randint(2, 4))]
    rng.shuffle(causes)
    found: dict[str, Operation] = {}
    for cause in causes:
        operation = an_operation(rng, cause)
        while operation["name"] in found:
            operation = an_operation(rng, cause)
        found[operation["name"]] = operation
    return list(found.values())


SIX: list[Operation] = [
    thin("one row", 1),
    thin("256 rows", 256),
    thin("one row, same weights", 1),
    POLYNOMIAL,
    decode(
        "one sequence on eight A100",
        8,
        1,
        six(fixed_time(1, tokens_per_second(1), 4, tokens_per_second(4))),
    ),
    decode("60 sequences on one A100", 1, 60, 0.0),
]
# Invented operations for situations that SIX lacks: times of a few microseconds; extra traffic
# that does not decide; extra traffic without which arithmetic would take longest; more bytes than
# FLOPs where compute decides.
OTHER_ROOFS = {"peak": 2e13, "bandwidth": 9e10}
OTHERS: list[Operation] = [
    {"name": "A", "measured": 2.4e-5, "flops": 4 * 10**8, "needed": 10**5, "moved": 4 * 10**5}
    | {"overhead": 2e-7, **OTHER_ROOFS},
    {"name": "B", "measured": 6e-6, "flops": 3 * 10**7, "needed": 10**4, "moved": 3 * 10**4}
    | {"overhead": 5e-6, **OTHER_ROOFS},
    {"name": "C", "measured": 3.4e-5, "flops": 10**5, "needed": 5 * 10**5, "moved": 25 * 10**5}
    | {"overhead": 1e-7, **OTHER_ROOFS},
    {"name": "D", "measured": 1.2e-5, "flops": 10**7, "needed": 10**6, "moved": 10**6}
    | {"overhead": 3e-8, **OTHER_ROOFS},
    {"name": "E", "measured": 3e-6, "flops": 10**7, "needed": 6 * 10**5, "moved": 6 * 10**5}
    | {"overhead": 3e-8, **OTHER_ROOFS},
    {"name": "F", "measured": 9e-6, "flops": 9 * 10**4, "needed": 3 * 10**5, "moved": 3 * 10**5}
    | {"overhead": 3e-8, "peak": 1.2e10, "bandwidth": 9e10},
    {"name": "G", "measured": 3.1e-5, "flops": 24 * 10**7, "needed": 72 * 10**4}
    | {"moved": 216 * 10**4, "overhead": 3e-8, **OTHER_ROOFS},
]


def is_clear(operations: Iterable[Operation], **_: object) -> bool:
    """Return whether each measurement clearly has only one possible cause."""
    for one in operations:
        of = times(one)
        *_others, second, first = sorted(
            time for cause, time in of.items() if cause != "memory" or "traffic" not in of
        )
        if cause_of(one) == "cache":
            ratio = one["measured"] / of["memory"]
            if not (0.3 < ratio < 0.8 and one["moved"] == one["needed"]):
                return False
        elif not 1.03 < one["measured"] / first < 1.7:
            return False
        if first < 1.3 * second or (one["needed"] < one["moved"] < 2 * one["needed"]):
            return False
    return True


# --- which experiment tells two causes apart ------------------------------------------------------

SUSPECTS = ("compute", "memory", "overhead")
TELLING = 1.25  # predicted times that differ by this factor tell two causes apart


def bytes_of(B: float, D: float, F: float, x: float = 1, out: float = 1) -> float:
    return x * B * D + D * F + out * B * F


def predicted(
    old: Sequence[float],
    new: Sequence[float],
    suspect: str,
    moved: Callable[..., float] = bytes_of,
    calls: Callable[[float], float] = lambda rows: 1,
) -> float:
    """Return new time ÷ old time if the suspected cause takes all the time."""
    if suspect == "compute":
        return math.prod(new) / math.prod(old)
    if suspect == "memory":
        return moved(*new) / moved(*old)
    return calls(new[0]) / calls(old[0])


def apart(one: float, other: float) -> bool:
    return max(one, other) >= TELLING * min(one, other)


def telling(
    B: int,
    D: int,
    F: int,
    changes: Mapping[str, Sequence[int]],
    one: str,
    other: str,
    **counted: Any,
) -> list[str]:
    sizes = (B, D, F)
    return [
        name
        for name, new in changes.items()
        if apart(predicted(sizes, new, one, **counted), predicted(sizes, new, other, **counted))
    ]


def telling_by(**counted: Any) -> Callable[..., list[str]]:
    return lambda **case: telling(**case, **counted)


def any_change(
    B: int, D: int, F: int, changes: Mapping[str, Sequence[int]], one: str, other: str
) -> list[str]:
    return [name for name, new in changes.items() if tuple(new) != (B, D, F)]


def only(suspect: str) -> Callable[..., list[str]]:
    """Return a function that lists the experiments that change one suspect's time.

    `suspect` is "one" for the first of two suspected causes, "other" for the second.
    """

    def found(
        B: int, D: int, F: int, changes: Mapping[str, Sequence[int]], one: str, other: str
    ) -> list[str]:
        chosen = {"one": one, "other": other}[suspect]
        return [
            name for name, new in changes.items() if apart(predicted((B, D, F), new, chosen), 1)
        ]

    return found


def either(**case: Any) -> list[str]:
    return list({*only("one")(**case), *only("other")(**case)})


def cannot_tell(**case: Any) -> list[str]:
    return [name for name in case["changes"] if name not in telling(**case)]


FACTORS = (0.25, 0.5, 1, 1, 1, 2, 4)


def changed_sizes(rng: random.Random) -> tuple[int, int, int, dict[str, list[int]], str, str]:
    """Return matmul sizes, experiments that change them, and two suspected causes."""
    B = 2 ** rng.choice((2, 3, 4, 9, 11, 12, 13))
    D, F = (2 ** rng.randint(9, 13) * rng.choice((2, 3)) for _ in "DF")
    sizes = (B, D, F)
    changes: dict[str, list[int]] = {}
    while len(changes) < 5:
        new = [int(size * rng.choice(FACTORS)) for size in sizes]
        name = "".join(map(rng.choice, SYLLABLES))
        if is_far(sizes, new):
            changes[name] = new
    one, other = rng.sample(SUSPECTS, 2)
    return B, D, F, changes, one, other


def is_far(sizes: Sequence[int], new: Sequence[int]) -> bool:
    """Return whether all pairs of predictions either nearly agree or clearly differ.

    No two suspects' predictions differ by nearly the factor that tells them apart.
    """
    of = [predicted(sizes, new, suspect) for suspect in SUSPECTS]
    ratios = [max(a, b) / min(a, b) for a in of for b in of]
    return all(ratio < 1.12 or ratio > 1.55 for ratio in ratios)


def told_apart(*suspects: str) -> Callable[..., bool]:
    return lambda **case: {case["one"], case["other"]} == set(suspects)


# In FEW, D and F are large compared with B; in MANY they aren't.
FEW, MANY = {"B": 4, "D": 4096, "F": 16384}, {"B": 8192, "D": 1024, "F": 2048}
OF_FEW = {
    "four times the rows": [16, 4096, 16384],
    "half of the columns": [4, 4096, 8192],
    "twice the rows, half of the columns": [8, 4096, 8192],
    "twice the depth": [4, 8192, 16384],
    "half of the depth, twice the columns": [4, 2048, 32768],
    "all sizes as they are": [4, 4096, 16384],
}
OF_MANY = {
    "four times the rows": [32768, 1024, 2048],
    "four times the depth": [8192, 4096, 2048],
    "half of the rows, twice the columns": [4096, 1024, 4096],
    "a quarter of all sizes": [2048, 256, 512],
}

# --- what a fix gains -----------------------------------------------------------------------------

FIXES = ("fuse", "one call", "half the bytes", "twice the peak")


def fixed(
    fix: str,
    flops: float,
    needed: float,
    moved: float,
    overhead: float,
    peak: float,
    bandwidth: float,
    over: Callable[[list[float]], float] = max,
) -> float:
    """Return the lower bound after a fix, or without one if `fix` is ""."""
    moved = needed if fix == "fuse" else moved / 2 if fix == "half the bytes" else moved
    peak = 2 * peak if fix == "twice the peak" else peak
    overhead = 0 if fix == "one call" else overhead
    return over([flops / peak, moved / bandwidth, overhead])


def gain(fix: str, over: Callable[[list[float]], float] = max, **case: float) -> float:
    return fixed("", **case, over=over) / fixed(fix, **case, over=over)


def full_gain(fix: str, **case: float) -> float:
    """Return the gain if only the time that the fix shortens counted."""
    if fix == "fuse":
        return case["moved"] / case["needed"]
    return math.inf if fix == "one call" else 2


def no_bytes_left(fix: str, **case: float) -> float:
    return fixed("", **case) / fixed(fix, **case | ({"needed": 0} if fix == "fuse" else {}))


def of_two_roofs(fix: str, **case: float) -> float:
    return gain(fix, **case | {"overhead": 0})


def from_the_least(fix: str, **case: float) -> float:
    """Return the gain if the program moved only the needed bytes from the start."""
    return gain(fix, **case | {"moved": case["needed"]})


FIXED: dict[str, Range] = {"fix": Choice(*FIXES)}


def times_of_a_program(rng: random.Random) -> tuple[float, ...]:
    """Return flops, needed, moved, overhead, peak and bandwidth of a program.

    The times that follow from them are of similar size.
    """
    peak, bandwidth = six(log_uniform(rng, 1e11, 1e15)), six(log_uniform(rng, 1e10, 4e12))
    compute, memory, overhead = (log_uniform(rng, 1e-4, 4e-3) for _ in range(3))
    passes = rng.choice((1, 1.5, 2, 3, 6, 20))
    needed = 4 * round(memory / passes * bandwidth / 4)
    return (
        round(compute * peak),
        needed,
        round(passes * needed),
        six(overhead),
        peak,
        bandwidth,
    )


PROGRAM = "flops, needed, moved, overhead, peak, bandwidth"


def gains(least: float, most: float) -> Callable[..., bool]:
    return lambda **case: least <= gain(**case) <= most


def decides(roof: str) -> Callable[..., bool]:
    """Return a predicate: whether this roof takes longest before the fix."""

    def so(**case: Any) -> bool:
        of = {
            "compute": case["flops"] / case["peak"],
            "bytes": case["moved"] / case["bandwidth"],
            "overhead": case["overhead"],
        }
        return longest(of) == roof

    return so


def of(operation: Operation, fix: str) -> Case:
    """Return the case that applies a fix to a measured operation."""
    left_out = ("name", "measured")
    return {"fix": fix, **{key: operation[key] for key in operation if key not in left_out}}


def program(fix: str, flops: float, needed: float, moved: float, overhead: float) -> Case:
    """Return the case that applies a fix to an invented program."""
    counts = {"flops": flops, "needed": needed, "moved": moved, "overhead": overhead}
    return {"fix": fix, **counts, **OTHER_ROOFS}


def clearly(**case: Any) -> bool:
    """Return whether the fix gains nothing at all, or more than 5%."""
    return gain(**case) == 1 or gain(**case) > 1.05


# --- parts 5 and 6: the flawed analysis that learners repair --------------------------------------


def rates(
    tflops: float,
    sparse: bool,
    gigabytes: float,
    gigabits: float,
    both_ways: bool,
    halved: Callable[[bool], float] = lambda sparse: 2 if sparse else 1,
    giga: float = 1e9,
    bits: float = 8,
    ways: Callable[[bool], float] = lambda both: 2 if both else 1,
) -> dict[str, float]:
    return {
        "peak": tflops * 1e12 / halved(sparse),
        "bandwidth": gigabytes * giga,
        "link": gigabits * 1e9 / bits / ways(both_ways),
    }


def always_one(_: bool) -> float:
    return 1


def always_two(_: bool) -> float:
    return 2


def rates_with(**counted: Any) -> Callable[..., dict[str, float]]:
    return lambda **case: rates(**case, **counted)


def layer(
    B: float,
    D: float,
    F: float,
    peak: float,
    bandwidth: float,
    link: float,
    flops: float = 2,
    out: float = 2,
    over: Callable[[list[float]], float] = max,
) -> dict[str, float]:
    found = [
        flops * B * D * F / peak,
        (2 * B * D + 2 * D * F + out * B * F) / bandwidth,
        2 * B * F / link,
    ]
    return dict(zip(("compute", "memory", "link"), found, strict=True)) | {"bound": over(found)}


def layer_with(**counted: Any) -> Callable[..., dict[str, float]]:
    return lambda **case: layer(**case, **counted)


def binds(**case: float) -> str:
    found = layer(**case)
    return longest({roof: time for roof, time in found.items() if roof != "bound"})


EXERCISE = Exercise(
    name="diagnose",
    title="diagnose",
    parts=(
        Part(
            key="fixed-time",
            function="fixed_time",
            points=3,
            hint=N_(
                "Turn both rates into the time of a step. Write each time as a sum of two terms, "
                "of which one is divided by the number of chips: two equations with two unknowns. "
                "Multiply each by its number of chips, and subtract one from the other: which "
                "unknown is gone?"
            ),
            cases=(
                *(
                    {"n": n, "rate": tokens_per_second(n)}
                    | {"more": more, "more_rate": tokens_per_second(more)}
                    for n, more in ((1, 2), (1, 4), (2, 8))
                ),
                {"n": 3, "rate": 40.0, "more": 7, "more_rate": 72.5},
            ),
            ranges={
                "n, rate, more, more_rate": Made(
                    scaling, N_("two different numbers of chips, each with a rate")
                )
            },
            branches={
                "from one chip": lambda n, **case: n == 1,
                "from several chips": lambda n, **case: n > 1,
            },
            misconceptions=(
                wrong("line-in-chips", line_in_chips),
                wrong("rates-on-a-line", rates_on_a_line),
                wrong("rate-of-each-chip", rate_of_each),
                wrong(
                    "above-perfect-scaling",
                    lambda n, rate, more, more_rate: 1 / more_rate - n / more / rate,
                ),
                wrong(
                    "shared-part",
                    lambda n, rate, more, more_rate: (
                        (1 / rate - fixed_time(n, rate, more, more_rate)) * n
                    ),
                ),
                wrong("milliseconds", lambda **case: 1e3 * fixed_time(**case)),
            ),
        ),
        Part(
            key="explained-by",
            function="explained_by",
            points=4,
            kind="names",
            hint=N_(
                "Write a helper that finds the cause of a single operation. First compare what was "
                "measured with the time of the needed bytes: which cause is the only one that can "
                "make a program faster than that? If it is not that one, compute the other times, "
                "and see which is longest. Then loop over the list."
            ),
            cases=(
                *({"operations": SIX, "cause": cause} for cause in CAUSES),
                *({"operations": OTHERS, "cause": cause} for cause in CAUSES),
                {"operations": SIX[:1], "cause": "overhead"},
            ),
            ranges={
                "operations": Made(some_operations, N_("a list of invented operations")),
                "cause": Choice(*CAUSES),
            },
            allowed=is_clear,
            branches={
                "more traffic than needed does not decide": lambda operations, cause: any(
                    one["moved"] > one["needed"] and cause_of(one) in ("compute", "overhead")
                    for one in operations
                ),
                "more than one": lambda **case: len(named(cause_of)(**case)) > 1,
            },
            misconceptions=(
                wrong("roof-of-memory-always", named(without("cache"))),
                wrong("traffic-left-out", named(without("traffic"))),
                wrong("overhead-left-out", named(without("overhead"))),
                wrong("two-roofs-alone", named(without("cache", "traffic", "overhead"))),
                wrong("extra-traffic-first", named(extra_first)),
                wrong("shortest-time", named(shortest)),
                wrong("counts-without-rates", named(most_bytes_or_flops)),
            ),
        ),
        Part(
            key="telling",
            function="telling",
            points=3,
            kind="names",
            hint=N_(
                "For each experiment, ask each suspect: if you alone took the time, by which "
                "factor would it change? One of them follows the FLOPs, one follows the bytes of "
                "all arrays, and one does not care about sizes. Compare the two answers with each "
                "other, not with the time before."
            ),
            cases=(
                {**FEW, "changes": OF_FEW, "one": "compute", "other": "memory"},
                {**FEW, "changes": OF_FEW, "one": "overhead", "other": "memory"},
                {**FEW, "changes": OF_FEW, "one": "compute", "other": "overhead"},
                {**MANY, "changes": OF_MANY, "one": "memory", "other": "compute"},
                {**MANY, "changes": OF_MANY, "one": "memory", "other": "overhead"},
            ),
            ranges={
                "B, D, F, changes, one, other": Made(
                    changed_sizes, N_("other sizes, experiments and pairs of suspects")
                )
            },
            allowed=lambda B, D, F, changes, **suspects: all(
                is_far((B, D, F), new) for new in changes.values()
            ),
            branches={
                "compute or memory": told_apart("compute", "memory"),
                "compute or overhead": told_apart("compute", "overhead"),
                "memory or overhead": told_apart("memory", "overhead"),
                "few rows": lambda B, **case: B <= 16,
                "many rows": lambda B, **case: B >= 2048,
            },
            misconceptions=(
                wrong("every-change", any_change),
                wrong("one-suspect-alone", only("one")),
                wrong("any-prediction-changes", either),
                wrong("cannot-tell", cannot_tell),
                wrong(
                    "activations-not-counted",
                    telling_by(moved=lambda B, D, F: bytes_of(B, D, F, 0, 0)),
                ),
                wrong("overhead-of-each-row", telling_by(calls=lambda rows: rows)),
            ),
        ),
        Part(
            key="gain",
            function="gain",
            points=4,
            hint=N_(
                "Write three times, for arithmetic, traffic and overhead: the longest is the bound "
                "before the fix. Then change the one quantity that the fix changes, and write all "
                "three again. The longest may be another one now."
            ),
            cases=(
                of(POLYNOMIAL, "fuse"),
                of(SIX[4], "one call"),
                of(SIX[1], "twice the peak"),
                of(SIX[0], "half the bytes"),
                of(SIX[5], "twice the peak"),
                of(POLYNOMIAL, "half the bytes"),
                program("fuse", 3 * 10**10, 10**8, 3 * 10**8, 2e-3),
                program("twice the peak", 5 * 10**10, 10**8, 10**8, 2e-3),
                program("half the bytes", 5 * 10**9, 10**8, 15 * 10**7, 1.2e-3),
                program("fuse", 10**9, 10**6, 4 * 10**6, 2e-5),
                program("twice the peak", 5 * 10**10, 18 * 10**7, 18 * 10**7, 1e-4),
                program("half the bytes", 5 * 10**9, 9 * 10**7, 9 * 10**7, 1.5e-3),
            ),
            ranges=FIXED
            | {PROGRAM: Made(times_of_a_program, N_("counts and rates of other programs"))},
            allowed=clearly,
            branches={
                "gains nothing": gains(1, 1),
                "gains something": gains(1.05, 1.95),
                "gains much": gains(2, math.inf),
                "compute before": decides("compute"),
                "bytes before": decides("bytes"),
                "overhead before": decides("overhead"),
            },
            misconceptions=(
                wrong("next-roof-forgotten", full_gain),
                wrong("times-added", lambda **case: gain(**case, over=sum)),
                wrong("upside-down", lambda **case: 1 / gain(**case)),
                wrong("saved-share", lambda **case: 1 - 1 / gain(**case)),
                wrong("overhead-left-out", of_two_roofs),
                wrong("no-bytes-left", no_bytes_left),
                wrong("traffic-left-out", from_the_least),
            ),
        ),
        Part(
            key="rates",
            function="rates",
            points=3,
            kind="numbers",
            hint=N_(
                "Go through the draft line by line, and say for each figure what the sheet means "
                "by it: which zeros does a peak count, is a prefix a power of ten, is a link "
                "printed in bits or bytes, one way or both? Two of the lines need a condition, "
                "since not every sheet prints in the same way."
            ),
            cases=(
                {"tflops": 1979, "sparse": True, "gigabytes": 3350, "gigabits": 7200}
                | {"both_ways": True},
                {"tflops": 197, "sparse": False, "gigabytes": 819, "gigabits": 1600}
                | {"both_ways": True},
                {"tflops": 624.0, "sparse": True, "gigabytes": 2039, "gigabits": 400}
                | {"both_ways": False},
                {"tflops": 275.25, "sparse": False, "gigabytes": 1228.5, "gigabits": 9601.3}
                | {"both_ways": False},
            ),
            ranges={
                "tflops": Real(100, 5000),
                "sparse": Choice(True, False),
                "gigabytes": Real(500, 8000),
                "gigabits": Real(100, 15_000),
                "both_ways": Choice(True, False),
            },
            branches=combinations(sparse=(True, False), both_ways=(True, False)),
            misconceptions=(
                wrong("sparse-for-dense", rates_with(halved=always_one)),
                wrong("always-halved", rates_with(halved=always_two)),
                wrong("binary-prefix", rates_with(giga=2**30)),
                wrong("bits-for-bytes", rates_with(bits=1)),
                wrong("both-ways", rates_with(ways=always_one)),
                wrong("one-way-always-halved", rates_with(ways=always_two)),
                wrong("link-of-the-draft", rates_with(bits=1, ways=always_one)),
                wrong(
                    "as-in-the-draft",
                    rates_with(halved=always_one, giga=2**30, bits=1, ways=always_one),
                ),
            ),
        ),
        Part(
            key="layer-times",
            function="layer_times",
            points=3,
            kind="numbers",
            hint=N_(
                "Three lines of the draft are wrong. Count what one element of the output takes: "
                "how many multiplications, how many additions? List the arrays that pass through "
                "memory, the result among them. And ask what happens to a total if everything "
                "goes on at the same time."
            ),
            cases=(
                # In these three cases the times are close: each mistake changes the largest time in
                # at least one of them.
                {"B": 256, "D": 4096, "F": 4096, "peak": 2e14, "bandwidth": 7.5e11, "link": 6e10},
                {"B": 2048, "D": 8192, "F": 4096, "peak": 9.9e14, "bandwidth": 1e12}
                | {"link": 1.7e11},
                {"B": 512, "D": 1024, "F": 2048, "peak": 2e14, "bandwidth": 8e11, "link": 1.7e11},
                # Sizes small enough for off-by-one errors to show.
                {"B": 16, "D": 512, "F": 512, "peak": 1e15, "bandwidth": 3.3e12, "link": 4.5e11},
            ),
            ranges={
                "B": Whole(16, 8192),
                "D": Whole(512, 16384, multiple_of=128),
                "F": Whole(512, 16384, multiple_of=128),
                "peak": Real(1e14, 2e15),
                "bandwidth": Real(5e11, 8e12),
                "link": Real(2e10, 9e11),
            },
            branches={
                "compute takes longest": lambda **case: binds(**case) == "compute",
                "memory takes longest": lambda **case: binds(**case) == "memory",
                "the link takes longest": lambda **case: binds(**case) == "link",
            },
            misconceptions=(
                wrong("multiply-add-once", layer_with(flops=1)),
                wrong("output-not-counted", layer_with(out=0)),
                wrong("times-added", layer_with(over=sum)),
                wrong("as-in-the-draft", layer_with(flops=1, out=0, over=sum)),
            ),
        ),
    ),
    moral=N_(
        "A measured time is a clue and not a cause. Each cause predicts a time, and the longest of "
        "them decides; so first find the cause, then compute what its fix can gain, and only then "
        "repair. An experiment is worth its time if two explanations disagree about the outcome."
    ),
    thoughts=N_(
        "It could be the time to start the kernels of each layer, the delay of the messages that "
        "chips exchange, or work that each chip does in full. A step on one chip sends no "
        "messages: if they were the fixed part, it would lie that far below the line through the "
        "steps on two chips and on eight. It lies only a little below, so most of the fixed part "
        "is something else. From four chips on, more than half of a step is fixed. Eight chips "
        "take about a third of the time of one, so a token costs more than twice as much."
    ),
)
