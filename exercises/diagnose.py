# ---
# title: "Exercise 8: diagnose"
# minutes: 50
# difficulty: medium
# read_first: machine
# description: >-
#   Find what explains six measured times, which experiment would tell, what a fix gains, and what
#   is wrong in an analysis.
# ---

# %% page [markdown]
# The other exercises ask how fast a program could be. This one starts from how fast six programs
# were: four on the machine of {ref}`chapter-machine`, whose arithmetic has a roof of
# {eval}`rl.Quantity(peak, "FLOP/s")` and whose memory is read at {eval}`rl.Quantity(read, "B/s")`,
# and two that others have published. Each took longer than its lower bound, or less time than its
# memory seems to allow.
#
# - Part of a step takes the same time however many chips share it. How long does it take?
# - Which of five causes explains each time: arithmetic, memory, extra traffic, overhead, or a
#   cache?
# - Two suspects are left. Which experiment tells them apart?
# - How many times as fast is a program after a fix, and which fix gains nothing?
# - An analysis of ten lines runs without an error. Which of its lines are wrong?
#
# ## Hints
#
# :::{dropdown} Hint: one cause after the other
# Each cause predicts a time from numbers that you have. Write all of them in a row before you
# choose: the longest is the one that the others can hide behind.
# :::
#
# :::{dropdown} Hint: what would be different?
# An experiment is worth its time if the two explanations disagree about its outcome. That both of
# them predict a change is not enough.
# :::
#
# :::{dropdown} Hint: read the analysis twice
# Once as a program, from the definitions to the result; once as a reader of data sheets, who asks
# of each figure what it counts.
# :::

# %% [markdown]
# A bound says how fast a program could be, and a measurement says how fast it was. In this exercise
# you explain the difference. You find the causes of six measured times, the experiments that tell
# two causes apart, and what a fix would gain. At the end you find the wrong lines of an analysis
# that runs without an error.

# %% [markdown]
# You start from six measurements. Four come from the run of the chapter “Your own machine”: numpy
# on an Intel Xeon with two cores, on 22 November 2026. Three of them multiply `x[B, D] · w[D, F]`
# in fp32 with `D` and `F` of 4,096: one row, 256 rows, and one row again with the same weights each
# time. The fourth is a polynomial of degree 16 by Horner's rule, for each number of a long array,
# one whole-array operation at a time. Roofs are the best samples of that run, times the typical
# ones.
#
# Two are published decode steps of Llama 2 7B on A100 chips: one sequence on eight chips with
# gpt-fast (its README of 15 September 2024), and 60 sequences on one chip with TensorRT-LLM 0.6.1
# (its page has no date). `rl.published_steps()` has their sources. Their roofs are those of the
# data sheet, and their counts are those of one chip.
#
# Each measurement is a dictionary:
#
# - `measured`: the time in seconds.
# - `flops`: operations. `peak`: the roof of the arithmetic in FLOP/s.
# - `needed`: bytes of all inputs and outputs, each once. `moved`: bytes that the program moves,
#   pass by pass. They are the same number, or `moved` is at least twice as large.
# - `bandwidth`: the roof of the memory in bytes/s.
# - `overhead`: seconds that pass even without any work, such as the time of the calls.

# %% given
import rooflib as rl
from roofkit.check import check

# Roofs of the Xeon: fp32 in FLOP/s; reading and updating memory in bytes/s; a call in seconds.
peak, read, update, call = 3.58535e11, 3.08800e10, 4.74538e10, 3.37297e-7


def thin(name, B, measured):
    """A matmul x[B, 4096] · w[4096, 4096] in fp32, one call."""
    size = 4 * (B * 4096 + 4096 * 4096 + B * 4096)
    counts = {"flops": 2 * B * 4096**2, "needed": size, "moved": size, "overhead": call}
    return {"name": name, "measured": measured, **counts, "peak": peak, "bandwidth": read}


def decode(name, chips, B):
    """A published step, as one of its chips sees it. Its overhead is not known yet."""
    (step,) = [
        step
        for step in rl.published_steps()
        if (step.model, step.chips, step.B) == ("Llama 2 7B", chips, B) and "A100" in step.chip
    ]
    size = float(step.step.bytes)
    counts = {"flops": float(step.step.flops), "needed": size, "moved": size, "overhead": 0.0}
    roofs = {"peak": rl.chip(step.chip)[step.x], "bandwidth": rl.chip(step.chip)["HBM"]}
    return {"name": name, "measured": step.seconds, **counts, **roofs}


array = 4 * 2**25  # bytes of the polynomial's array
polynomial = {
    "name": "polynomial",
    "measured": 2.43076e-1,
    "flops": 2 * 16 * 2**25,
    "needed": 2 * array,  # x is read, y is written
    "moved": 16 * (3 + 2) * array,  # 16 times: y = y * x moves three arrays, y = y + 1 moves two
    "overhead": 2 * 16 * call,
    "peak": peak,
    "bandwidth": update,
}
operations = [
    thin("one row", 1, 2.26018e-3),
    thin("256 rows", 256, 3.06264e-2),
    thin("one row, same weights", 1, 1.24254e-3),
    polynomial,
    decode("one sequence on eight A100", 8, 1),
    decode("60 sequences on one A100", 1, 60),
]

# Seven invented programs; the check of part 2 asks about them, too.
columns = ("name", "measured", "flops", "needed", "moved", "overhead", "peak", "bandwidth")
rows = [
    ("A", 2.4e-5, 400e6, 0.1e6, 0.4e6, 2e-7, 2e13, 9e10),
    ("B", 6e-6, 30e6, 0.01e6, 0.03e6, 5e-6, 2e13, 9e10),
    ("C", 3.4e-5, 0.1e6, 0.5e6, 2.5e6, 1e-7, 2e13, 9e10),
    ("D", 1.2e-5, 10e6, 1e6, 1e6, 3e-8, 2e13, 9e10),
    ("E", 3e-6, 10e6, 0.6e6, 0.6e6, 3e-8, 2e13, 9e10),
    ("F", 9e-6, 0.09e6, 0.3e6, 0.3e6, 3e-8, 1.2e10, 9e10),
    ("G", 3.1e-5, 260e6, 1.1e6, 2.2e6, 3e-8, 2e13, 9e10),
]
invented = [dict(zip(columns, row, strict=True)) for row in rows]

rl.Table(
    {
        "operation": [one["name"] for one in operations],
        "measured": [rl.Quantity(one["measured"], "s") for one in operations],
    }
)

# %% grading
import math

from grading.schema import Choice, Made, part


def tokens_per_second(chips):
    """Return published tokens per second of Llama 2 7B, B = 1, on this many A100."""
    return next(
        step.tokens_per_second
        for step in rl.published_steps()
        if (step.model, step.chips, step.B) == ("Llama 2 7B", chips, 1)
    )


def longest(of):
    return max(of, key=lambda cause: of[cause])


SYLLABLES = (("ba", "de", "fi", "go", "ku", "la"), ("mo", "ne", "pi", "ra", "su", "to"))


def six(value):
    return float(f"{value:.6g}")


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


OTHER_ROOFS = {"peak": 2e13, "bandwidth": 9e10}


def fixed(fix, flops, needed, moved, overhead, peak, bandwidth, over=max):
    """Return the lower bound after a fix, or without one if `fix` is ""."""
    moved = needed if fix == "fuse" else moved / 2 if fix == "half the bytes" else moved
    peak = 2 * peak if fix == "twice the peak" else peak
    overhead = 0 if fix == "one call" else overhead
    return over([flops / peak, moved / bandwidth, overhead])


def of(operation, fix):
    """Return the case that applies a fix to a measured operation."""
    left_out = ("name", "measured")
    return {"fix": fix, **{key: operation[key] for key in operation if key not in left_out}}


# %% [markdown]
# ## Part 1: what more chips don't shorten (3 points)
#
# A decode step writes one token. It ran on `n` chips at `rate` tokens per second, and on `more`
# chips at `more_rate`; a rate is that of all chips together. Take the time of a step as a sum of
# two parts: one that the chips share equally, and a fixed one that is the same on any number of
# chips. How many seconds is the fixed part?
#
# The published rates on one, two, four and eight chips are 104.9, 168.84, 254.02 and 328.43 tokens
# per second. Two of them give the fixed part. The other two tell you whether to believe it.


# %%
def fixed_time(n, rate, more, more_rate):
    """Fixed part of the time of a step, in seconds: a number.

    n, more: two numbers of chips. rate, more_rate: tokens per second on so many chips.
    """
    t, t_more = 1 / rate, 1 / more_rate
    return (more * t_more - n * t) / (more - n)


# %% grading
def line_in_chips(n, rate, more, more_rate):
    return (more / rate - n / more_rate) / (more - n)


def rates_on_a_line(n, rate, more, more_rate):
    return (more - n) / (more * more_rate - n * rate)


def rate_of_each(n, rate, more, more_rate):
    return (more * more / more_rate - n * n / rate) / (more - n)


def scaling(rng):
    """Return two numbers of chips, each with its tokens per second.

    The fixed part of the time is neither tiny nor all of it.
    """
    n, more = sorted(rng.sample((1, 2, 3, 4, 6, 8, 12, 16), 2))
    shared = math.exp(rng.uniform(math.log(2e-3), math.log(0.2)))
    fixed = shared / n * rng.uniform(0.1, 0.6)
    rates = (float(f"{1 / (fixed + shared / count):.6g}") for count in (n, more))
    return n, next(rates), more, next(rates)


part(
    fixed_time,
    "Turn both rates into the time of a step. Write each time as a sum of two terms, of which "
    "one is divided by the number of chips: two equations with two unknowns. Multiply each by "
    "its number of chips, and subtract one from the other: which unknown is gone?",
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
            scaling, "two different numbers of chips, each with a rate"
        )
    },
    branches={
        "from one chip": lambda n, **case: n == 1,
        "from several chips": lambda n, **case: n > 1,
    },
    wrong={
        "line-in-chips": line_in_chips,
        "rates-on-a-line": rates_on_a_line,
        "rate-of-each-chip": rate_of_each,
        "above-perfect-scaling": lambda n, rate, more, more_rate: 1 / more_rate - n / more / rate,
        "shared-part": lambda n, rate, more, more_rate: (
            (1 / rate - fixed_time(n, rate, more, more_rate)) * n
        ),
        "milliseconds": lambda **case: 1e3 * fixed_time(**case),
    },
)

# %% [markdown]
# ## Part 2: the cause (4 points)
#
# Four causes predict a time. With perfect overlap, the longest of these times is the cause of what
# was measured:
#
# - `"compute"`: the arithmetic, at the peak.
# - `"memory"`: the needed bytes, at the bandwidth.
# - `"traffic"`: the moved bytes, at the bandwidth, if the program moves more than the needed ones.
# - `"overhead"`: the overhead.
#
# The fifth is `"cache"`: the measured time is shorter than the needed bytes take from memory, so
# they did not come from there, and the roof of the memory is the wrong one.
#
# Which operations does a given cause explain? Return their names. Each operation has exactly one
# cause, and none is close to another: the longest time is at least 1.3 times the next one, and the
# measured time is at least 3% longer than it. Only with `"cache"` is it shorter, by at least 20%,
# and such a program moves no more than the needed bytes.
#
# Try it with the six. Part 1 gives the overhead of the fifth, as far as chips don't share it:
#
# ```python
# operations[4]["overhead"] = fixed_time(1, 104.9, 4, 254.02)
# for cause in ("compute", "memory", "traffic", "overhead", "cache"):
#     print(cause, explained_by(operations, cause))
# ```


# %%
def explained_by(operations, cause):
    """Names of the operations that this cause explains: a list, maybe empty.

    operations: list of dictionaries as above. cause: "compute", "memory", "traffic", "overhead" or
    "cache".
    """
    names = []
    for one in operations:
        bytes_that_count = "traffic" if one["moved"] > one["needed"] else "memory"
        times = {
            "compute": one["flops"] / one["peak"],
            bytes_that_count: one["moved"] / one["bandwidth"],
            "overhead": one["overhead"],
        }
        found = max(times, key=times.get)
        if one["measured"] < times[found]:
            found = "cache"
        if found == cause:
            names.append(one["name"])
    return names


# %% grading
CAUSES = ("compute", "memory", "traffic", "overhead", "cache")


def times(operation):
    """Return the seconds of each cause; "traffic" only if extra bytes are moved."""
    found = {
        "compute": operation["flops"] / operation["peak"],
        "memory": operation["needed"] / operation["bandwidth"],
        "overhead": operation["overhead"],
    }
    if operation["moved"] > operation["needed"]:
        found["traffic"] = operation["moved"] / operation["bandwidth"]
    return found


def cause_of(operation):
    of = times(operation)
    return "cache" if operation["measured"] < of["memory"] else longest(of)


def without(*left_out):
    """Return a function that diagnoses an operation but never considers these causes."""

    def found(operation):
        of = {cause: time for cause, time in times(operation).items() if cause not in left_out}
        if "cache" not in left_out and operation["measured"] < of.get("memory", 0):
            return "cache"
        return longest(of)

    return found


def extra_first(operation):
    return "traffic" if operation["moved"] > operation["needed"] else cause_of(operation)


def shortest(operation):
    of = times(operation)
    if operation["measured"] < of["memory"]:
        return "cache"
    return min(of, key=lambda cause: of[cause])


def most_bytes_or_flops(operation):
    """Diagnose by the larger count, bytes or FLOPs, ignoring the rates."""
    if operation["measured"] < times(operation)["memory"]:
        return "cache"
    if operation["flops"] > operation["moved"]:
        return "compute"
    return "traffic" if operation["moved"] > operation["needed"] else "memory"


def named(diagnosis):
    """Return a function that names the operations diagnosed with a given cause."""

    def answer(operations, cause):
        return [one["name"] for one in operations if diagnosis(one) == cause]

    return answer


APART = 1.5  # minimum ratio of the longest time to the next one


def an_operation(rng, cause):
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


def some_operations(rng):
    """Return operations of all causes, in any order, with different names."""
    causes = [*CAUSES, *rng.choices(CAUSES, k=rng.randint(2, 4))]
    rng.shuffle(causes)
    found = {}
    for cause in causes:
        operation = an_operation(rng, cause)
        while operation["name"] in found:
            operation = an_operation(rng, cause)
        found[operation["name"]] = operation
    return list(found.values())


def numbers(operation):
    """Return an operation with plain numbers, such as JSON has."""
    return {key: value if key == "name" else float(value) for key, value in operation.items()}


SIX = [numbers(operation) for operation in operations]
SIX[4]["overhead"] = six(fixed_time(1, tokens_per_second(1), 4, tokens_per_second(4)))
# They have what SIX lack: times of a few microseconds; extra traffic that does not decide; extra
# traffic without which arithmetic would take longest; more bytes than FLOPs where compute decides.
OTHERS = [numbers(operation) for operation in invented]


def is_clear(operations, **_):
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


part(
    explained_by,
    "Write a helper that finds the cause of a single operation. First compare what was measured "
    "with the time of the needed bytes: which cause is the only one that can make a program "
    "faster than that? If it is not that one, compute the other times, and see which is longest. "
    "Then loop over the list.",
    kind="names",
    cases=(
        *({"operations": SIX, "cause": cause} for cause in CAUSES),
        *({"operations": OTHERS, "cause": cause} for cause in CAUSES),
        {"operations": SIX[:1], "cause": "overhead"},
    ),
    ranges={
        "operations": Made(some_operations, "a list of invented operations"),
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
    wrong={
        "roof-of-memory-always": named(without("cache")),
        "traffic-left-out": named(without("traffic")),
        "overhead-left-out": named(without("overhead")),
        "two-roofs-alone": named(without("cache", "traffic", "overhead")),
        "extra-traffic-first": named(extra_first),
        "shortest-time": named(shortest),
        "counts-without-rates": named(most_bytes_or_flops),
    },
)

# %% [markdown]
# ## Part 3: the experiment (4 points)
#
# A matmul `x[B, D] · w[D, F]` takes longer than you expected, and you suspect two of three causes:
# `"compute"`, `"memory"` and `"overhead"`. Each predicts how the time changes with the sizes. If it
# is compute, the time follows the FLOPs. If it is memory, it follows the bytes of all three arrays,
# whose elements have the same width. If it is overhead, it stays the same, since one call takes all
# rows.
#
# An experiment times the same program at other sizes. For each suspect, divide the predicted time
# at the new sizes by that at the old ones. The experiment tells the two suspects apart if the
# larger of the two factors is at least 1.25 times the smaller. Which experiments do? Return their
# names. None is close to that limit.


# %%
def telling(B, D, F, changes, one, other):
    """Names of the experiments that tell two suspects apart: a list, maybe empty.

    B, D, F: sizes at which both explain the measured time. changes: dictionary from the name of an
    experiment to its sizes [B, D, F]. one, other: two of "compute", "memory" and "overhead".
    """
    names = []
    for name, (rows, depth, columns) in changes.items():
        factors = {
            "compute": rows / B * depth / D * columns / F,
            "memory": (rows * depth + depth * columns + rows * columns) / (B * D + D * F + B * F),
            "overhead": 1,
        }
        ratio = factors[one] / factors[other]
        if max(ratio, 1 / ratio) >= 1.25:
            names.append(name)
    return names


# %% grading
SUSPECTS = ("compute", "memory", "overhead")
TELLING = 1.25  # predicted times that differ by this factor tell two causes apart


def bytes_of(B, D, F, x=1, w=1, out=1):
    return x * B * D + w * D * F + out * B * F


def predicted(old, new, suspect, moved=bytes_of, calls=lambda rows: 1):
    """Return new time ÷ old time if the suspected cause takes all the time."""
    if suspect == "compute":
        return math.prod(new) / math.prod(old)
    if suspect == "memory":
        return moved(*new) / moved(*old)
    return calls(new[0]) / calls(old[0])


def apart(one, other):
    return max(one, other) >= TELLING * min(one, other)


def telling_if(B, D, F, changes, one, other, **counted):
    sizes = (B, D, F)
    return [
        name
        for name, new in changes.items()
        if apart(predicted(sizes, new, one, **counted), predicted(sizes, new, other, **counted))
    ]


def telling_by(**counted):
    return lambda **case: telling_if(**case, **counted)


def by_bytes(**counts):
    return telling_by(moved=lambda B, D, F: bytes_of(B, D, F, **counts))


def any_change(B, D, F, changes, one, other):
    return [name for name, new in changes.items() if tuple(new) != (B, D, F)]


def only(suspect):
    """Return a function that lists the experiments that change one suspect's time.

    `suspect` is "one" for the first of two suspected causes, "other" for the second.
    """

    def found(B, D, F, changes, one, other):
        chosen = {"one": one, "other": other}[suspect]
        return [
            name for name, new in changes.items() if apart(predicted((B, D, F), new, chosen), 1)
        ]

    return found


def either(**case):
    return list({*only("one")(**case), *only("other")(**case)})


def cannot_tell(**case):
    return [name for name in case["changes"] if name not in telling_if(**case)]


FACTORS = (0.25, 0.5, 1, 1, 1, 2, 4)


def changed_sizes(rng):
    """Return matmul sizes, experiments that change them, and two suspected causes."""
    B = 2 ** rng.choice((2, 3, 4, 9, 11, 12, 13))
    D, F = (2 ** rng.randint(9, 13) * rng.choice((2, 3)) for _ in "DF")
    sizes = (B, D, F)
    changes = {}
    while len(changes) < 5:
        new = [int(size * rng.choice(FACTORS)) for size in sizes]
        name = "".join(map(rng.choice, SYLLABLES))
        if is_far(sizes, new):
            changes[name] = new
    one, other = rng.sample(SUSPECTS, 2)
    return B, D, F, changes, one, other


def is_far(sizes, new):
    """Return whether all pairs of predictions either nearly agree or clearly differ.

    No two suspects' predictions differ by nearly the factor that tells them apart.
    """
    of = [predicted(sizes, new, suspect) for suspect in SUSPECTS]
    ratios = [max(a, b) / min(a, b) for a in of for b in of]
    return all(ratio < 1.12 or ratio > 1.55 for ratio in ratios)


def told_apart(*suspects):
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
# The first of these tells apart which arrays are counted, and how wide.
OF_ALL = {
    "a quarter of the rows, four times all else": [2048, 16384, 16384],
    "twice the depth, half of the columns": [8192, 8192, 2048],
}


part(
    telling,
    "For each experiment, ask each suspect: if you alone took the time, by which factor would it "
    "change? One of them follows the FLOPs, one follows the bytes of all arrays, and one does "
    "not care about sizes. Compare the two answers with each other, not with the time before.",
    kind="names",
    cases=(
        {**FEW, "changes": OF_FEW, "one": "compute", "other": "memory"},
        {**FEW, "changes": OF_FEW, "one": "overhead", "other": "memory"},
        {**FEW, "changes": OF_FEW, "one": "compute", "other": "overhead"},
        {**MANY, "changes": OF_MANY, "one": "memory", "other": "compute"},
        {**MANY, "changes": OF_MANY, "one": "memory", "other": "overhead"},
        {"B": 8192, "D": 4096, "F": 4096, "changes": OF_ALL, "one": "compute", "other": "memory"},
    ),
    ranges={
        "B, D, F, changes, one, other": Made(
            changed_sizes, "other sizes, experiments and pairs of suspects"
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
    wrong={
        "every-change": any_change,
        "one-suspect-alone": only("one"),
        "any-prediction-changes": either,
        "cannot-tell": cannot_tell,
        "activations-not-counted": by_bytes(x=0, out=0),
        "input-not-counted": by_bytes(x=0),
        "output-not-counted": by_bytes(out=0),
        "input-twice": by_bytes(x=2),
        "output-twice": by_bytes(out=2),
        "weights-at-half-width": by_bytes(w=0.5),
        "overhead-of-each-row": telling_by(calls=lambda rows: rows),
    },
)

# %% [markdown]
# ## Part 4: what a fix gains (4 points)
#
# Before you repair a program, compute what that can gain. There are four fixes:
#
# - `"fuse"`: the program moves only the needed bytes.
# - `"one call"`: the overhead is gone.
# - `"half the bytes"`: elements have half the width, so half as many bytes are needed and moved.
# - `"twice the peak"`: the arithmetic runs at twice the rate.
#
# Take the lower bound as the time of a program: the longest of the times for arithmetic, moved
# bytes and overhead. How many times as fast is the program after the fix? If a fix changes nothing,
# the answer is 1.


# %%
def gain(fix, flops, needed, moved, overhead, peak, bandwidth):
    """Time before the fix divided by time after it: a number.

    fix: "fuse", "one call", "half the bytes" or "twice the peak". The rest: as in `operations`.
    """
    before = max(flops / peak, moved / bandwidth, overhead)
    if fix == "fuse":
        moved = needed
    elif fix == "one call":
        overhead = 0
    elif fix == "half the bytes":
        moved = moved / 2
    else:
        peak = 2 * peak
    return before / max(flops / peak, moved / bandwidth, overhead)


# %% grading
FIXES = ("fuse", "one call", "half the bytes", "twice the peak")


def gain_if(fix, over=max, **case):
    return fixed("", **case, over=over) / fixed(fix, **case, over=over)


def full_gain(fix, **case):
    """Return the gain if only the time that the fix shortens counted."""
    if fix == "fuse":
        return case["moved"] / case["needed"]
    return math.inf if fix == "one call" else 2


def also(wider, change):
    """Return a function that computes gains as if the fix `wider` changed these quantities, too."""
    return lambda fix, **case: (
        fixed("", **case) / fixed(fix, **case | (change(case) if fix == wider else {}))
    )


def no_bytes_left(fix, **case):
    return fixed("", **case) / fixed(fix, **case | ({"needed": 0} if fix == "fuse" else {}))


def of_two_roofs(fix, **case):
    return gain_if(fix, **case | {"overhead": 0})


def from_the_least(fix, **case):
    """Return the gain if the program moved only the needed bytes from the start."""
    return gain_if(fix, **case | {"moved": case["needed"]})


FIXED = {"fix": Choice(*FIXES)}


def times_of_a_program(rng):
    """Return flops, needed, moved, overhead, peak and bandwidth of a program.

    The times that follow from them are of similar size.
    """
    peak, bandwidth = six(log_uniform(rng, 1e11, 1e15)), six(log_uniform(rng, 1e10, 4e12))
    compute, memory, overhead = (log_uniform(rng, 1e-4, 4e-3) for _ in range(3))
    passes = rng.choice((1, 1.5, 2, 3, 6, 20))
    needed = 4 * round(memory / passes * bandwidth / 4)
    return (round(compute * peak), needed, round(passes * needed), six(overhead), peak, bandwidth)


PROGRAM = "flops, needed, moved, overhead, peak, bandwidth"


def gains(least, most):
    return lambda **case: least <= gain_if(**case) <= most


def decides(roof):
    """Return a predicate: whether this roof takes longest before the fix."""

    def so(**case):
        of = {
            "compute": case["flops"] / case["peak"],
            "bytes": case["moved"] / case["bandwidth"],
            "overhead": case["overhead"],
        }
        return longest(of) == roof

    return so


def program(fix, flops, needed, moved, overhead):
    """Return the case that applies a fix to an invented program."""
    counts = {"flops": flops, "needed": needed, "moved": moved, "overhead": overhead}
    return {"fix": fix, **counts, **OTHER_ROOFS}


def clearly(**case):
    """Return whether the fix gains nothing at all, or more than 5%."""
    return gain_if(**case) == 1 or gain_if(**case) > 1.05


part(
    gain,
    "Write three times, for arithmetic, traffic and overhead: the longest is the bound before "
    "the fix. Then change the one quantity that the fix changes, and write all three again. The "
    "longest may be another one now.",
    cases=(
        of(SIX[3], "fuse"),
        of(SIX[4], "one call"),
        of(SIX[1], "twice the peak"),
        of(SIX[0], "half the bytes"),
        of(SIX[5], "twice the peak"),
        of(SIX[3], "half the bytes"),
        program("fuse", 3 * 10**10, 10**8, 3 * 10**8, 2e-3),
        program("twice the peak", 5 * 10**10, 10**8, 10**8, 2e-3),
        program("half the bytes", 5 * 10**9, 10**8, 15 * 10**7, 1.2e-3),
        program("fuse", 10**9, 10**6, 4 * 10**6, 2e-5),
        program("twice the peak", 5 * 10**10, 18 * 10**7, 18 * 10**7, 1e-4),
        program("half the bytes", 5 * 10**9, 9 * 10**7, 9 * 10**7, 1.5e-3),
        program("half the bytes", 4 * 10**10, 27 * 10**7, 27 * 10**7, 1e-4),
        program("one call", 10**9, 9 * 10**6, 9 * 10**7, 1.5e-3),
    ),
    ranges=FIXED | {PROGRAM: Made(times_of_a_program, "counts and rates of other programs")},
    allowed=clearly,
    branches={
        "gains nothing": gains(1, 1),
        "gains something": gains(1.05, 1.95),
        "gains much": gains(2, math.inf),
        "compute before": decides("compute"),
        "bytes before": decides("bytes"),
        "overhead before": decides("overhead"),
    },
    wrong={
        "next-roof-forgotten": full_gain,
        "times-added": lambda **case: gain_if(**case, over=sum),
        "divided-the-wrong-way": lambda **case: 1 / gain_if(**case),
        "saved-share": lambda **case: 1 - 1 / gain_if(**case),
        "overhead-left-out": of_two_roofs,
        "no-bytes-left": no_bytes_left,
        "arithmetic-faster-too": also("half the bytes", lambda case: {"peak": 2 * case["peak"]}),
        "fused-too": also("one call", lambda case: {"moved": case["needed"]}),
        "traffic-left-out": from_the_least,
    },
)

# %% [markdown]
# ## Part 5: which lines are wrong (5 points)
#
# An analysis of one layer, `bf16[B, D] · bf16[D, F] → bf16[B, F]`, whose output a chip sends to its
# neighbor over a link, has ten lines. It starts from a data sheet, and runs without an error:
#
# ```python
# peak = sheet["tflops"] * 1e12  # FLOP/s, dense
# bandwidth = sheet["gigabytes"] * 2**30  # bytes/s
# link = sheet["gigabits"] * 1e9  # bytes/s, one way
# flops = B * D * F
# moved = 2 * (B * D + D * F)  # bytes: each array passes through memory once
# sent = 2 * B * F  # bytes: the output
# compute = flops / peak
# memory = moved / bandwidth
# network = sent / link
# bound = compute + memory + network  # all three work at the same time
# ```
#
# Which of its lines are wrong? Write a function that finds them, in this analysis and in others
# that make other mistakes. It gets the value of each line: `analysis` is a dictionary from the name
# of a line to its value, in this order. A line is wrong if it doesn't follow from the sheet, the
# sizes and the values of the lines above it; a line that goes on correctly from a wrong value is
# right. A wrong value is off by at least 3%.
#
# A sheet prints
#
# - `tflops`: a peak in TFLOP/s, for dense matrices, or if `sparse` is true for structured sparsity,
#   which doubles it;
# - `gigabytes`: a memory bandwidth in GB/s, a power of ten;
# - `gigabits`: a link in Gbit/s, one way, or if `both_ways` is true the sum of both directions.


# %%
def wrong_lines(sheet, B, D, F, analysis):
    """Names of the lines that are wrong: a list, maybe empty.

    sheet: dictionary with "tflops", "sparse", "gigabytes", "gigabits" and "both_ways". analysis:
    dictionary from the name of a line to its value.
    """
    one = analysis
    right = {
        "peak": sheet["tflops"] * 1e12 / (2 if sheet["sparse"] else 1),
        "bandwidth": sheet["gigabytes"] * 1e9,
        "link": sheet["gigabits"] * 1e9 / 8 / (2 if sheet["both_ways"] else 1),
        "flops": 2 * B * D * F,
        "moved": 2 * (B * D + D * F + B * F),
        "sent": 2 * B * F,
        "compute": one["flops"] / one["peak"],
        "memory": one["moved"] / one["bandwidth"],
        "network": one["sent"] / one["link"],
        "bound": max(one["compute"], one["memory"], one["network"]),
    }
    return [line for line, value in right.items() if abs(one[line] / value - 1) > 0.01]


# %% grading
LINES = ("peak", "bandwidth", "link", "flops", "moved", "sent", "compute", "memory", "network")
LINES += ("bound",)


def line_if(
    line,
    sheet,
    sizes,
    above,
    sparse=2,
    dense=1,
    giga=1e9,
    bits=8,
    both=2,
    one_way=1,
    flops=2,
    out=1,
    width=2,
    rate="",
    over=max,
):
    """Return what a line says if the lines above it say `above`, and its rules are these.

    sparse, dense: by what a printed peak is divided. both, one_way: by what a printed link is.
    rate: the rate by which an amount is divided, if it isn't the right one.
    """
    B, D, F = sizes
    if line == "peak":
        return sheet["tflops"] * 1e12 / (sparse if sheet["sparse"] else dense)
    if line == "bandwidth":
        return sheet["gigabytes"] * giga
    if line == "link":
        return sheet["gigabits"] * 1e9 / bits / (both if sheet["both_ways"] else one_way)
    if line == "flops":
        return flops * B * D * F
    if line == "moved":
        return width * (B * D + D * F + out * B * F)
    if line == "sent":
        return width * B * F
    if line == "bound":
        return over([above["compute"], above["memory"], above["network"]])
    amount, usual = {
        "compute": ("flops", "peak"),
        "memory": ("moved", "bandwidth"),
        "network": ("sent", "link"),
    }[line]
    return above[amount] / above[rate or usual]


# Mistakes that an analysis may make: line → rules. Some are none on some sheets.
MISTAKES = (
    ("peak", {"sparse": 1}),
    ("peak", {"dense": 2}),
    ("bandwidth", {"giga": 2**30}),
    ("link", {"bits": 1}),
    ("link", {"both": 1}),
    ("link", {"one_way": 2}),
    ("link", {"bits": 1, "both": 1}),
    ("flops", {"flops": 1}),
    ("moved", {"out": 0}),
    ("moved", {"width": 1}),
    ("sent", {"width": 4}),
    ("compute", {"rate": "bandwidth"}),
    ("memory", {"rate": "link"}),
    ("network", {"rate": "bandwidth"}),
    ("bound", {"over": sum}),
    ("bound", {"over": min}),
)


def analyzed(sheet, B, D, F, *mistakes):
    """Return the case of an analysis that makes these mistakes: pairs of a line and its rules."""
    rules, values = dict(mistakes), {}
    for line in LINES:
        values[line] = line_if(line, sheet, (B, D, F), values, **rules.get(line, {}))
    return {"sheet": sheet, "B": B, "D": D, "F": F, "analysis": values}


def lines_if(passed_on=False, **rules):
    """Return a function that finds the lines which differ from these rules.

    passed_on: whether a line that goes on from a wrong value counts as wrong, too.
    """

    def found(sheet, B, D, F, analysis):
        names, above = [], {}
        for line, value in analysis.items():
            right = line_if(line, sheet, (B, D, F), above, **rules)
            names += [line] if abs(value / right - 1) > 0.01 else []
            above[line] = right if passed_on else value
        return names

    return found


def other_lines(**case):
    wrong = wrong_lines(**case)
    return [line for line in case["analysis"] if line not in wrong]


def is_off_or_right(**case):
    """Return whether each line is right, or off by more than the 3% that the text promises.

    So whoever allows a little more, too, has the same points in every class.
    """
    sizes = (case["B"], case["D"], case["F"])
    ratios = (
        value / line_if(line, case["sheet"], sizes, case["analysis"])
        for line, value in case["analysis"].items()
    )
    return all(abs(ratio - 1) < 1e-9 or abs(ratio - 1) > 0.05 for ratio in ratios)


def an_analysis(rng):
    """Return a sheet, sizes and an analysis with at most four mistakes."""
    sheet = {
        "tflops": six(log_uniform(rng, 100, 5000)),
        "sparse": rng.random() < 0.5,
        "gigabytes": six(log_uniform(rng, 500, 8000)),
        "gigabits": six(log_uniform(rng, 100, 15_000)),
        "both_ways": rng.random() < 0.5,
    }
    B, D, F = (128 * round(log_uniform(rng, *ends)) for ends in ((2, 64), (4, 64), (4, 64)))
    mistakes = rng.sample(MISTAKES, rng.randint(0, 4))
    case = analyzed(sheet, B, D, F, *mistakes)
    return tuple(case.values())


# The sheet of the text, with its mistakes; then others.
SPARSE = {"tflops": 1979, "sparse": True, "gigabytes": 3350, "gigabits": 7200, "both_ways": True}
DENSE = {"tflops": 275.25, "sparse": False, "gigabytes": 1228.5, "gigabits": 9601.3}
OF_THE_TEXT = [MISTAKES[number] for number in (0, 2, 6, 7, 8, 14)]

part(
    wrong_lines,
    "Write a second analysis beside the first: what should each line say, if the lines above it "
    "are taken as they are? Say of each figure on the sheet what it counts. Ask what one element "
    "of the output takes, which arrays pass through memory, and what happens to a total if "
    "everything goes on at the same time. Then compare the two, line by line.",
    kind="names",
    cases=(
        analyzed(SPARSE, 2048, 4096, 4096, *OF_THE_TEXT),
        analyzed(SPARSE, 2048, 4096, 4096),  # nothing is wrong
        analyzed(DENSE | {"both_ways": False}, 4096, 1024, 8192, MISTAKES[1], MISTAKES[5]),
        analyzed(DENSE | {"both_ways": False}, 4096, 1024, 8192, MISTAKES[3], MISTAKES[10]),
        analyzed(DENSE | {"both_ways": True}, 512, 512, 1024, MISTAKES[4], MISTAKES[9]),
        analyzed(SPARSE | {"both_ways": False}, 1024, 2048, 2048, MISTAKES[11], MISTAKES[15]),
        analyzed(SPARSE, 4096, 8192, 2048, MISTAKES[12], MISTAKES[13]),
    ),
    ranges={"sheet, B, D, F, analysis": Made(an_analysis, "other sheets, sizes and analyses")},
    allowed=is_off_or_right,
    branches={
        "nothing is wrong": lambda **case: not wrong_lines(**case),
        "several lines are wrong": lambda **case: len(wrong_lines(**case)) > 2,
        "a sparse peak": lambda sheet, **case: sheet["sparse"],
        "a dense peak": lambda sheet, **case: not sheet["sparse"],
        "a link both ways": lambda sheet, **case: sheet["both_ways"],
        "a link one way": lambda sheet, **case: not sheet["both_ways"],
    },
    wrong={
        "passed-on": lines_if(passed_on=True),
        "the-right-lines": other_lines,
        "sparse-for-dense": lines_if(sparse=1),
        "always-halved": lines_if(dense=2),
        "binary-prefix": lines_if(giga=2**30),
        "bits-for-bytes": lines_if(bits=1),
        "both-ways": lines_if(both=1),
        "one-way-always-halved": lines_if(one_way=2),
        "multiply-add-once": lines_if(flops=1),
        "output-not-counted": lines_if(out=0),
        "times-added": lines_if(over=sum),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# `fixed_time` finds how much of a step more chips don't shorten, but not what it is. Name two
# things that it could be, and an experiment that tells them apart. From how many chips on is more
# than half of the step fixed, and what does that say about buying more of them?

# %% next [markdown]
# Exercise 9 goes back to bounds, for a model whose tokens take only a few of its experts. The
# chapter “Your own machine” says how to measure a program of your own.

# %% moral [markdown]
# A measured time is a clue and not a cause. Each cause predicts a time, and the longest of them
# decides; so first find the cause, then compute what its fix can gain, and only then repair. An
# experiment is worth its time if two explanations disagree about the outcome.

# %% thoughts [markdown]
# It could be the time to start the kernels of each layer, the delay of the messages that chips
# exchange, or work that each chip does in full. A step on one chip sends no messages: if they were
# the fixed part, it would lie that far below the line through the steps on two chips and on eight.
# It lies only a little below, so most of the fixed part is something else. From four chips on, more
# than half of a step is fixed. Eight chips take about a third of the time of one, so a token costs
# more than twice as much.
