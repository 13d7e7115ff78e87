# ---
# title: "Exercise 7: many chips"
# minutes: 25
# difficulty: medium
# read_first: chips
# description: >-
#   Share a multiplication among chips on a ring: what each sends, from which width on it pays, and
#   what a delay costs.
# ---

# %% page [markdown]
# This exercise goes further than the first five. $N$ chips on a ring share one multiplication, with
# $D$ split among them, and an all-reduce in bf16 adds up their partial sums:
#
# $$
# \texttt{bf16}[B, D] \cdot \texttt{bf16}[D, F] \rightarrow \texttt{bf16}[B, F]
# $$
#
# Try your functions on an imaginary chip, with a bf16 peak of
# {eval}`f"{rl.Quantity(peak, 'FLOP/s'):e}"`, an HBM bandwidth of
# {eval}`f"{rl.Quantity(bandwidth, 'B/s'):e}"` and a link of
# {eval}`f"{rl.Quantity(link, 'B/s'):e}"`, one way, to the next chip on the ring.
#
# - What does each chip send, and how long do arithmetic and network take?
# - From what $D$ on do the links keep up, with two, four and eight chips?
# - How many times faster are $N$ chips than one, counting HBM too?
# - Each message has a fixed delay. How long does the all-reduce take now?
#
# ## Hints
#
# :::{dropdown} Hint: how much goes around?
# Follow a single piece of the array. How many chips must it visit in a lap, besides the one where
# it starts? All chips send at the same time, so each sends as much as any other.
# :::
#
# :::{dropdown} Hint: what cancels?
# Write both times as products before you compare them. More letters cancel than you may expect;
# what is left tells you which size decides.
# :::
#
# :::{dropdown} Hint: slower with more chips?
# It's possible. Compare each roof on one chip with the same roof on many: which of the times shrink
# as chips are added, and which don't?
# :::

# %% [markdown]
# `N` chips share one multiplication, `bf16[B, D] · bf16[D, F] → bf16[B, F]`, with `D` split among
# them: each chip holds an Nth of the columns of the input and the same Nth of the rows of the
# weights, and computes partial sums of the whole output. An all-reduce around a ring, in one
# direction, adds these up, so that every chip ends with the whole output. Partial sums are sent in
# bf16.
#
# You work out what each chip sends and how long that takes, from what width on the links keep up
# with the arithmetic, what many chips gain over one, and what changes if every message has a fixed
# delay.

# %% given
from roofkit.check import check

# Given by the exercise: a chip to try your functions on. It does not exist.
peak = 4.1e14  # bf16 FLOP/s, dense
bandwidth = 1.7e12  # HBM, bytes per second
link = 7e10  # from each chip to the next on the ring, one way, bytes per second

# %% grading
import math

from grading.schema import Choice, Real, Whole, part

GIVEN = {"peak": peak, "link": link}
OTHER = {"peak": 9e14, "link": 4.6e11}
SIZE_RANGES = {
    "B": Whole(8, 4096),
    "D": Whole(512, 32768, multiple_of=128),
    "F": Whole(512, 32768, multiple_of=128),
    "N": Choice(2, 4, 8, 16),
}
PEAKS, LINKS = Real(1e14, 2e15), Real(2e10, 9e11)
CHIP_RANGES = {"peak": PEAKS, "link": LINKS}
RING = {"N": Whole(2, 64), "link": Real(2e10, 9e11), "delay": Real(5e-7, 2e-5)}


def sent(size, N, laps=2):
    return laps * (N - 1) / N * size


def as_for_two(size, N):
    return size


def one_lap(size, N):
    return sent(size, N, laps=1)


def times_if(B, D, F, N, peak, link, flops=2, ring=sent, sums=2):
    """Return arithmetic and network time in seconds.

    Each partial sum takes `sums` bytes.
    """
    return flops * B * D * F / (N * peak), ring(sums * B * F, N) / link


# %% [markdown]
# ## Part 1: two times (7 points)
#
# Each of `N` chips holds partial sums for the whole output. A ring cuts this array into as many
# pieces as there are chips and goes around twice: the first lap adds up, the second distributes the
# sums. How long does the arithmetic take on each chip at its peak, and how long the all-reduce over
# the links? A multiply-add is two FLOPs. Leave out the additions of the all-reduce and the HBM
# traffic.


# %%
def times(B, D, F, N, peak, link):
    """Time of the arithmetic and time of the network, of one multiplication on N chips.

    peak: FLOP/s of one chip. link: bytes/s, one way. Returns a pair (T_math, T_comms), both in
    seconds.
    """
    partial_sums = 2 * B * F
    bytes_sent = 2 * (N - 1) * partial_sums / N
    return 2 * B * D * F / (N * peak), bytes_sent / link


# %% grading
# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 700, "D": 12288, "F": 3072, "N": 4, **GIVEN},
    {"B": 24, "D": 4096, "F": 12288, "N": 8, **OTHER},
    {"B": 3000, "D": 12288, "F": 9216, "N": 2, "peak": peak, "link": 4.6e11},
    {"B": 700, "D": 5120, "F": 12288, "N": 16, "peak": 9e14, "link": link},
    {"B": 9, "D": 640, "F": 512, "N": 2, **GIVEN},  # shows off-by-one errors
)


def network_times(factor):
    """Return a variant of `times` that multiplies the network time by `factor(N)`."""

    def found(**case):
        arithmetic, network = times_if(**case)
        return arithmetic, factor(case["N"]) * network

    return found


def binds(**case):
    arithmetic, network = times_if(**case)
    return "compute" if arithmetic > network else "network"


part(
    times,
    "Write the shapes of what one chip multiplies: which side is shorter than in the whole "
    "multiplication? Count its FLOPs. Then write the shape of its partial sums, and how many "
    "bytes they take. In each step of a lap, a chip sends one piece of them. A piece starts on one "
    "chip and has to visit all others: how many steps are that in both laps?",
    kind="numbers",
    cases=SIZES,
    ranges=SIZE_RANGES | CHIP_RANGES,
    branches={
        "compute takes longer": lambda **case: binds(**case) == "compute",
        "the network takes longer": lambda **case: binds(**case) == "network",
    },
    wrong={
        "arithmetic-not-shared": lambda **case: (
            case["N"] * times_if(**case)[0],
            times_if(**case)[1],
        ),
        "multiply-add-once": lambda **case: times_if(**case, flops=1),
        "one-lap": lambda **case: times_if(**case, ring=one_lap),
        "sums-in-one-byte": lambda **case: times_if(**case, sums=1),
        "both-ways": network_times(lambda N: 1 / 2),
        "as-for-two": lambda **case: times_if(**case, ring=as_for_two),
        "sums-in-parts": network_times(lambda N: 1 / N),
        "links-together": network_times(lambda N: 1 / N),
        "whole-array-each-step": network_times(lambda N: N),
        "all-chips-together": network_times(lambda N: N),
        "everything-sent": lambda B, D, F, N, peak, link: (
            2 * B * D * F / (N * peak),
            sent(2 * (B * D + D * F + B * F), N) / link,
        ),
        "swapped": lambda **case: times_if(**case)[::-1],
        "one-step-a-lap": network_times(lambda N: 1 / (N - 1)),
        "a-piece-to-itself": network_times(lambda N: N / (N - 1)),
        "milliseconds": lambda **case: tuple(1e3 * t for t in times_if(**case)),
    },
)

# %% [markdown]
# ## Part 2: what it gains (7 points)
#
# How many times faster are `N` chips than one? Compare the lower bounds of the two running times:
# arithmetic, HBM and network all overlap perfectly. Count HBM here. One chip loads input and
# weights and writes the output once. Each of `N` chips loads its part of the input and of the
# weights, and writes its partial sums, which have the shape of the output. Leave out the HBM
# traffic of the all-reduce itself. All elements are bf16.


# %%
def speedup(B, D, F, N, peak, bandwidth, link):
    """Lower bound on one chip divided by lower bound on N chips: a number.

    peak: FLOP/s of one chip. bandwidth: HBM bytes/s of one chip. link: bytes/s, one way.
    """
    t_alone = max(2 * B * D * F / peak, 2 * (B * D + D * F + B * F) / bandwidth)
    t_hbm = 2 * (B * D / N + D * F / N + B * F) / bandwidth
    t_shared = max(*times(B, D, F, N, peak, link), t_hbm)
    return t_alone / t_shared


# %% grading
def roofs(B, D, F, N, peak, bandwidth, link, width=2, written=lambda N: 1, **counted):
    """Return arithmetic, HBM and network time on N chips, in seconds.

    width: bytes of an element in HBM. written: the share of the output that each chip writes.
    counted: as in `times_if`.
    """
    arithmetic, network = times_if(B, D, F, N, peak, link, **counted)
    moved = width * (B * D / N + D * F / N + written(N) * B * F)
    return arithmetic, moved / bandwidth, network


def gain(over=max, without="", **case):
    """Return the speedup over one chip, without the roof that `without` names."""
    found = []
    for N in (1, case["N"]):
        named = zip(("compute", "HBM", "network"), roofs(**case | {"N": N}), strict=True)
        found.append(over([time for roof, time in named if roof != without]))
    return found[0] / found[1]


def gain_by(**counted):
    """Return a function that computes the speedup with these arguments of `roofs`."""

    def found(**case):
        *alone, _ = roofs(**case | {"N": 1}, **counted)
        return max(alone) / max(roofs(**case, **counted))

    return found


def longest(**case):
    found = roofs(**case)
    return ("compute", "HBM", "network")[found.index(max(found))]


def alone(**case):
    """Return the roof that binds on one chip."""
    return longest(**case | {"N": 1})


part(
    speedup,
    "Write down five times: arithmetic and HBM on one chip, and arithmetic, HBM and network on "
    "each of many. Which bytes are divided among the chips, and which does each chip write "
    "whole? The longest of each group decides. Only then compare.",
    cases=(
        {"B": 700, "D": 12288, "F": 3072, "N": 4, **GIVEN, "bandwidth": bandwidth},
        {"B": 24, "D": 4096, "F": 12288, "N": 8, **OTHER, "bandwidth": bandwidth},
        # Two roofs are nearly equal: a wrong element width in either changes the answer.
        {"B": 3000, "D": 30720, "F": 9216, "N": 2, "peak": 9e14, "link": link}
        | {"bandwidth": 3e12},
        {"B": 150, "D": 12288, "F": 9216, "N": 4, "peak": 9e14, "link": 5e10} | {"bandwidth": 8e11},
        {"B": 200, "D": 5120, "F": 9216, "N": 8, **GIVEN, "bandwidth": bandwidth},
        {"B": 700, "D": 1024, "F": 12288, "N": 16, **GIVEN, "bandwidth": 3e12},
        # Sizes small enough for off-by-one errors to show.
        {"B": 24, "D": 512, "F": 512, "N": 2, "peak": 1e14, "link": 2e10} | {"bandwidth": 6e12},
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
    wrong={
        "as-many-times": lambda **case: case["N"],
        "gain-of-each-chip": lambda **case: gain(**case) / case["N"],
        "multiply-add-once": gain_by(flops=1),
        "network-left-out": lambda **case: gain(**case, without="network"),
        "hbm-left-out": lambda **case: gain(**case, without="HBM"),
        "times-added": lambda **case: gain(sum, **case),
        "network-added": lambda **case: gain(lambda times: max(times[:2]) + times[2], **case),
        "never-slower": lambda **case: max(1, gain(**case)),
        "one-lap": gain_by(ring=one_lap),
        "sums-in-one-byte": gain_by(sums=1),
        "both-ways": gain_by(sums=1),
        "as-for-two": gain_by(ring=as_for_two),
        "writes-shared": gain_by(written=lambda N: 1 / N),
        "hbm-in-one-byte": gain_by(width=1),
        "divided-the-wrong-way": lambda **case: 1 / gain(**case),
    },
)

# %% [markdown]
# ## Part 3: with a delay (6 points)
#
# So far a byte was on its way as soon as the link was free. In fact each message also waits for a
# fixed delay, however small it is. Around the ring, a chip's messages wait for one another: each is
# sent only when that of the previous step has arrived. How long does an all-reduce take, including
# the delay of every step?


# %%
def all_reduce_time(size, N, link, delay):
    """Time of an all-reduce of an array of `size` bytes over N chips, in seconds.

    link: bytes/s, one way. delay: seconds for each message, beside its bytes.
    """
    steps = 2 * (N - 1)
    return steps * (delay + size / N / link)


# %% grading
def waiting(size, N, link, delay, delays=None, laps=2):
    """Return the total delay and the transfer time of a ring, in seconds.

    `delays` is the number of delays, by default one per step.
    """
    steps = laps * (N - 1)
    return (steps if delays is None else delays) * delay, sent(size, N, laps) / link


part(
    all_reduce_time,
    "Draw one chip's messages on a line, one after the other: how many are there in both laps? "
    "Each of them takes its delay, and then the time of its bytes. How large is one message?",
    cases=(
        {"size": 73_400_320, "N": 4, "link": link, "delay": 3e-6},
        {"size": 30_000, "N": 12, "link": link, "delay": 1.5e-6},
        {"size": 1_500_000, "N": 4, "link": 4.6e11, "delay": 1.5e-6},
        {"size": 30_000, "N": 2, "link": 4.6e11, "delay": 3e-6},
        {"size": 1_500_000, "N": 64, "link": link, "delay": 2e-5},
        {"size": 100_000, "N": 64, "link": 2e10, "delay": 5e-7},  # pieces of 1562.5 bytes
    ),
    ranges={"size": Real(1e5, 1e9), **RING},
    branches={
        "the delays take longer": lambda **case: waiting(**case)[0] > waiting(**case)[1],
        "the bytes take longer": lambda **case: waiting(**case)[0] < waiting(**case)[1],
    },
    wrong={
        "delay-left-out": lambda **case: waiting(**case)[1],
        "one-delay": lambda **case: sum(waiting(**case, delays=1)),
        "one-delay-a-lap": lambda **case: sum(waiting(**case, delays=2)),
        "delays-of-one-lap": lambda **case: sum(waiting(**case, delays=case["N"] - 1)),
        "one-lap": lambda **case: sum(waiting(**case, laps=1)),
        "a-piece-to-itself": lambda size, N, link, delay: 2 * N * delay + 2 * size / link,
        "whole-array-each-step": lambda size, N, link, delay: 2 * (N - 1) * (delay + size / link),
        "all-chips-together": lambda **case: waiting(**case)[0] + case["N"] * waiting(**case)[1],
        "longer-of-the-two": lambda **case: max(waiting(**case)),
        "milliseconds": lambda **case: 1e3 * sum(waiting(**case)),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# From what width `D` on does the network take no longer than the arithmetic, with two chips, with
# four and with eight? That doesn't depend on the batch, but your `speedup` does. For which
# multiplications do more chips help although `D` is far below that width? And what does the last
# part add to that? Find the size of an array for which all delays together take as long as its
# bytes: is a step that writes one token for each of a few sequences a matter of bandwidth, or of
# delay?

# %% next [markdown]
# Exercise 8 goes further, from bounds to measured times. The chapter “Summary and cheat sheet” puts
# the formulas on one page.

# %% moral [markdown]
# With D split, each chip sends nearly the same however many there are, while its share of the
# arithmetic shrinks: so the model must be wider for each chip that joins. For small arrays the
# delay decides, and neither width nor bandwidth helps.

# %% thoughts [markdown]
# Below that width, more chips still help where HBM binds and not arithmetic: with a small batch,
# most bytes are weights, and each chip loads only its part of them. The output that they exchange
# is small then. A step for a few sequences sends little more than nothing, so it is a matter of
# delay, and that grows with the number of chips.
