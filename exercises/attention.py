# ---
# title: "Exercise 6: attention"
# minutes: 35
# difficulty: hard
# read_first: step
# description: >-
#   Count attention: its bytes, its intensity in prefill and in decode, and its cache.
# ---

# %% page [markdown]
# This exercise goes further than the first five. $B$ sequences have $T$ positions with a query and
# $S$ positions with a key and a value each; $N$ heads of queries share $K$ heads of keys and
# values, all of width $H$:
#
# $$
# \begin{aligned}
# \text{scores} &= q[B, T, N, H] \cdot k[B, S, K, H]^\top \\[0.8em]
# \text{result} &= \operatorname{softmax}(\text{scores}) \cdot v[B, S, K, H]
# \end{aligned}
# $$
#
# In prefill, $T$ equals $S$. In decode, $T$ is one, and keys and values come from a cache. Try your
# functions on an imaginary chip, with a bf16 peak of {eval}`f"{rl.Quantity(peak, 'FLOP/s'):e}"` and
# an HBM bandwidth of {eval}`f"{rl.Quantity(bandwidth, 'B/s'):e}"`.
#
# - How many operations does attention take, and how many bytes must a fused kernel move?
# - What is the intensity of decode, and what does it approach in a long context?
# - From what length on is prefill compute-bound? For some kernels no length is enough.
# - How many sequences fit on a chip beside the weights?
#
# ## Hints
#
# :::{dropdown} Hint: what is shared, and by whom?
# All sequences of a batch share the weights. Query heads share heads of keys and values. Which of
# the two kinds of sharing happens between sequences in attention?
# :::
#
# :::{dropdown} Hint: solving for the length
# FLOPs grow with the square of the length. Sort the bytes by whether they do so too. In the end,
# the coefficient of the length depends on the chip, and may be zero or negative.
# :::

# %% [markdown]
# Attention compares queries with keys and adds up values. For each of `B` sequences there are `T`
# positions with a query and `S` positions with a key and a value. A query has `N` heads of width
# `H`; keys and values have `K` heads of the same width, each shared by the same number of query
# heads. While a model reads a prompt (prefill), every position has a query, so `T` equals `S`.
# While it writes (decode), only the newest position has one, so `T` is one, and the keys and values
# of all positions are read from a cache.
#
# You count what attention computes and moves, find out which of the two phases can be
# compute-bound, and how many sequences fit on a chip.

# %% given
from roofkit.check import check

# Given by the exercise: a chip to try your functions on. It does not exist.
peak = 4.2e14  # bf16 FLOP/s, dense
bandwidth = 1.6e12  # HBM, bytes per second

# %% grading
import math

from grading.schema import Choice, Real, Whole, part

# (query heads, key heads): grouped-query, multi-query and multi-head attention.
GROUPS = ((32, 8), (24, 24), (48, 6), (40, 1), (16, 2))
HEADS = Choice(*GROUPS)
WIDTHS = {"q_bytes": Choice(1, 2, 4), "kv_bytes": Choice(0.5, 1, 2)}
H_RANGE = Whole(32, 256, multiple_of=16)
PEAKS, WEIGHTS = Real(5e13, 1e15), Real(2e9, 1.5e11)
# One value of each argument occurs in two cases: no function of one argument alone passes.
SIZES = (
    {"B": 6, "T": 48, "S": 1500, "N": 24, "K": 8, "H": 96},
    {"B": 3, "T": 1, "S": 9000, "N": 32, "K": 4, "H": 128},
    {"B": 1, "T": 700, "S": 700, "N": 40, "K": 40, "H": 128},
    {"B": 6, "T": 1, "S": 1500, "N": 40, "K": 8, "H": 96},
)
# Small enough that an off-by-one error exceeds the tolerance.
SMALL = {"T": 1, "S": 65, "N": 40, "K": 1, "H": 32, "q_bytes": 1, "kv_bytes": 0.5}
STORED = (
    {"q_bytes": 2, "kv_bytes": 1},
    {"q_bytes": 2, "kv_bytes": 2},
    {"q_bytes": 4, "kv_bytes": 1},
    {"q_bytes": 1, "kv_bytes": 2},
)
GIVEN = {"peak": peak, "bandwidth": bandwidth}
# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE = {"more than 32 bits": lambda B, T, S, N, H, **others: 4 * B * T * S * N * H >= 2**32}


def without(case, *names):
    return {name: value for name, value in case.items() if name not in names}


def moved(B, T, S, N, K, H, q_bytes, kv_bytes, ends=2, kept=2, squares=0):
    """Return the bytes that attention loads and writes.

    ends, kept, squares: how many arrays of the size of the queries, of the keys and of the scores.
    """
    pairs = squares * q_bytes * B * N * T * S
    return ends * q_bytes * B * T * N * H + kept * kv_bytes * B * S * K * H + pairs


def widths_swapped(case):
    return case | {"q_bytes": case["kv_bytes"], "kv_bytes": case["q_bytes"]}


# %% [markdown]
# ## Part 1: operations and bytes (6 points)
#
# How many FLOPs do the two matrix multiplications take, queries with keys and the resulting
# probabilities with values? Every query meets every one of the `S` positions (there is no causal
# mask). A multiply-add is two FLOPs. Leave out the softmax between the two.
#
# A fused kernel loads queries, keys and values once, keeps scores and probabilities on the chip,
# and writes the result, which has the shape of the queries. How many bytes does it move in all?
#
# Keys and values have `K` heads. Each of their elements takes `kv_bytes` bytes (½ for int4, and so
# on); an element of the queries and of the result takes `q_bytes`.


# %%
def operations_and_bytes(B, T, S, N, K, H, q_bytes, kv_bytes):
    """FLOPs of both multiplications, and HBM traffic of fused attention.

    B sequences, T positions with a query, S positions with a key; N heads of queries and K heads of
    keys and values, all of width H. Returns a pair (FLOPs, bytes loaded and written together).
    """
    one_multiplication = 2 * B * N * T * S * H
    queries = result = q_bytes * B * T * N * H
    keys = values = kv_bytes * B * S * K * H
    return 2 * one_multiplication, queries + keys + values + result


# %% grading
def operations(B, T, S, N, H, flops=4):
    return flops * B * T * S * N * H


def counted(flops=operations, **counts):
    """Return a function that counts the operations by `flops`, and the bytes with `counts`."""

    def found(**case):
        return flops(*(case[name] for name in "BTSNH")), moved(**case, **counts)

    return found


def bytes_as_if(change):
    """Return a function that counts the bytes of a changed case."""

    def found(**case):
        return counted()(**case)[0], moved(**change(case))

    return found


part(
    operations_and_bytes,
    "Take one head of one sequence. Write the shapes of its queries and of its keys: what shape "
    "has the product, and along which side does each of its sums run? Then do the same for the "
    "product with the values. For the bytes, make a table with a row for each of the four arrays: "
    "how many sequences, positions and heads it has, how wide a head is, and how many bytes an "
    "element takes.",
    kind="numbers",
    cases=(
        *(size | stored for size, stored in zip(SIZES, STORED, strict=True)),
        {"B": 1, **SMALL},
    ),
    ranges={
        "B": Whole(1, 64),
        "T": Whole(1, 4096),
        "S": Whole(64, 16384),
        "N, K": HEADS,
        "H": H_RANGE,
        **WIDTHS,
    },
    allowed=lambda T, S, **others: T <= S,
    branches=LARGE,
    wrong={
        "half-the-operations": counted(lambda *sizes: operations(*sizes, flops=2)),
        "no-later-position": counted(lambda B, T, S, N, H: 2 * B * N * H * T * (2 * S - T + 1)),
        "heads-of-keys-multiplied": lambda **case: (
            operations(*(case[name] for name in "BTSKH")),
            moved(**case),
        ),
        "one-head": counted(lambda B, T, S, N, H: operations(B, T, S, 1, H)),
        "one-sequence": counted(lambda B, T, S, N, H: operations(1, T, S, N, H)),
        "every-position-asks": counted(lambda B, T, S, N, H: operations(B, S, S, N, H)),
        "queries-alone-meet": counted(lambda B, T, S, N, H: operations(B, T, T, N, H)),
        "output-not-counted": counted(ends=1),
        "values-not-counted": counted(kept=1),
        "cache-alone": counted(ends=0),
        "heads-not-shared": bytes_as_if(lambda case: case | {"K": case["N"]}),
        "scores-moved": counted(squares=4),
        "one-cache-for-all": lambda **case: (
            counted()(**case)[0],
            moved(**case, kept=0) + moved(**case | {"B": 1}, ends=0),
        ),
        "one-width-for-all": bytes_as_if(lambda case: case | {"kv_bytes": case["q_bytes"]}),
        "result-as-wide-as-the-cache": lambda **case: (
            counted()(**case)[0],
            (moved(**case) + moved(**case | {"q_bytes": case["kv_bytes"]}, kept=2)) / 2,
        ),
        "cache-width-swapped": bytes_as_if(widths_swapped),
        "bits-for-bytes": bytes_as_if(
            lambda case: case | {"q_bytes": 8 * case["q_bytes"], "kv_bytes": 8 * case["kv_bytes"]}
        ),
        "swapped": lambda **case: counted()(**case)[::-1],
    },
)

# %% [markdown]
# ## Part 2: intensity of decode, and its limit (6 points)
#
# In decode each sequence has one query and `S` positions in its cache. What is the exact arithmetic
# intensity of the same fused kernel? And what does it approach as the context `S` grows? Give the
# limit itself, which may be a fraction. All arguments are passed in, whether you need them or not.


# %%
def decode_intensities(B, S, N, K, H, q_bytes, kv_bytes):
    """Arithmetic intensity of attention with one query for each sequence, in FLOP/byte.

    Returns a pair (exact intensity, its limit for a long context).
    """
    flops, moved = operations_and_bytes(B, 1, S, N, K, H, q_bytes, kv_bytes)
    return flops / moved, 2 * N / (K * kv_bytes)


# %% grading
def decode(B, S, N, K, H, q_bytes, kv_bytes, flops=4, caches=0, **counts):
    """Return the intensity of decode.

    `caches` is the total number of caches; by default each sequence has one.
    """
    queries = moved(B, 1, S, N, K, H, q_bytes, kv_bytes, **counts | {"kept": 0})
    cache = moved(caches or B, 1, S, N, K, H, q_bytes, kv_bytes, **counts | {"ends": 0})
    return flops * B * S * N * H / (queries + cache)


def prefill(**case):
    """Return the intensity if every position of the cache has a query."""
    B, S, N, H = (case[name] for name in "BSNH")
    return 4 * B * S * S * N * H / moved(**case, T=S)


def limit(flops=4, **case):
    """Return what the intensity of decode comes close to in a long context."""
    return decode(**case, flops=flops, ends=0)


def both(**counts):
    """Return a function that counts the exact intensity in this way, and its limit, too."""
    return lambda **case: (decode(**case, **counts), decode(**case, **counts | {"ends": 0}))


def both_as_if(change):
    return lambda **case: both()(**change(case))


def limit_if(found):
    """Return a function that gives the right intensity, and `found` for its limit."""
    return lambda **case: (decode(**case), found(case["N"], case["K"], case["kv_bytes"]))


part(
    decode_intensities,
    "Your function of the part before already knows it: what is the number of positions with a "
    "query in decode? Divide what the unit says, FLOPs by bytes. For the limit, ask which of your "
    "four arrays grow with the context, and divide by their bytes alone. What cancels, and what "
    "remains?",
    kind="numbers",
    cases=(
        *(without(size, "T") | stored for size, stored in zip(SIZES, STORED, strict=True)),
        {"B": 3, **without(SMALL, "T")},
        # The limit is not a whole number.
        {"B": 200, "S": 100, "N": 24, "K": 8, "H": 64, "q_bytes": 2, "kv_bytes": 4},
    ),
    ranges={"B": Whole(2, 256), "S": Whole(64, 8192), "N, K": HEADS, "H": H_RANGE}
    | WIDTHS
    | {"kv_bytes": Choice(0.5, 1, 2, 4)},
    branches={
        "not a whole number": lambda N, K, kv_bytes, **others: 2 * N / (K * kv_bytes) % 1 > 0,
        "half a byte": lambda K, kv_bytes, **others: K * kv_bytes < 1,
    },
    wrong={
        "half-the-intensity-of-decode": both(flops=2),
        "output-not-counted": lambda **case: (decode(**case, ends=1), limit(**case)),
        "values-not-counted": both(kept=1),
        "heads-not-shared": both_as_if(lambda case: case | {"K": case["N"]}),
        "one-cache-for-all": lambda **case: (decode(**case, caches=1), limit(**case)),
        "one-width-for-all": both_as_if(lambda case: case | {"kv_bytes": case["q_bytes"]}),
        "cache-width-swapped": both_as_if(widths_swapped),
        "prefill-for-decode": lambda **case: (prefill(**case), limit(**case)),
        "one-position-loaded": lambda **case: (prefill(**case), limit(**case)),
        "long-context-for-exact": lambda **case: (limit(**case), limit(**case)),
        "exact-for-limit": lambda **case: (decode(**case), decode(**case)),
        "swapped": lambda **case: both()(**case)[::-1],
        "one-cache-everywhere": both(caches=1),
        "upside-down": lambda **case: (1 / decode(**case), 1 / limit(**case)),
        "operations-counted-twice": limit_if(lambda N, K, kv_bytes: 4 * N / (K * kv_bytes)),
        "group-alone": limit_if(lambda N, K, kv_bytes: N / K),
        "width-left-out": limit_if(lambda N, K, kv_bytes: 2 * N / K),
        "width-upside-down": limit_if(lambda N, K, kv_bytes: 2 * N * kv_bytes / K),
        "group-upside-down": limit_if(lambda N, K, kv_bytes: 2 * K / (N * kv_bytes)),
    },
)

# %% [markdown]
# ## Part 3: prefill (4 points)
#
# In prefill all positions of a prompt have a query, so `T` and `S` are both the length of the
# prompt. From what length on is attention compute-bound? All arrays have elements of `width` bytes.
# Every query still meets every position. The length may be a fraction. A value within 1% counts, so
# you may round it to a whole number.
#
# If `fused` is true, the kernel is the one of the earlier parts. If it is false, the scores (one
# for each pair of a query and a position, in each head of queries) are written to HBM and read
# again, and so are the probabilities: four times their number of elements in all, besides what the
# fused kernel moves. Then no length is enough on some chips: return `math.inf`.

# %%
import math


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    """Length of the prompt (tokens) at which attention turns compute-bound; math.inf if at none.

    width: bytes of an element, in all arrays. peak: FLOP/s. bandwidth: HBM bytes/s. fused: True or
    False. Returns a number.
    """
    ridge = peak / bandwidth
    # For each sequence and head of queries: FLOPs are 4H·T², bytes are linear·T + square·T².
    linear = 2 * width * H * (N + K) / N
    square = 0 if fused else 4 * width
    room = 4 * H - ridge * square
    return ridge * linear / room if room > 0 else math.inf


# %% grading
LOW_RIDGE = {"peak": 2e14, "bandwidth": 2e12}


def start(
    N,
    K,
    H,
    width,
    peak,
    bandwidth,
    fused,
    flops=4,
    ends=2,
    kept=2,
    infinite=True,
    score=None,
    squares=4,
):
    """Return the length from which attention is compute-bound.

    A score takes `score` bytes, by default `width`. squares: how many arrays of their size move.
    """
    ridge = peak / bandwidth
    room = flops * H - ridge * (0 if fused else squares * (width if score is None else score))
    length = ridge * width * H * (ends + kept * K / N)
    return length / room if room > 0 or not infinite else math.inf


def border_without_width(**case):
    none = not case["fused"] and case["H"] <= case["peak"] / case["bandwidth"]
    return math.inf if none else start(**case, infinite=False)


def room(H, width, peak, bandwidth, fused, **heads):
    """Return a query-key pair's FLOPs minus the equivalent of its score traffic.

    The traffic is converted to FLOPs at the ridge point.
    """
    return 4 * H - peak / bandwidth * (0 if fused else 4 * width)


def with_room(left, case, rng):
    """Return a case in which the function `room` gives `left`.

    Quotients and differences are multiples of 1/8, so floats are exact in any order of operations.
    """
    H, bandwidth = 128, case["bandwidth"]
    peaks = {width: bandwidth * (H - left / 4) / width for width in (1, 2)}
    width = rng.choice([w for w, peak in peaks.items() if PEAKS.low <= peak <= PEAKS.high])
    return {**case, "H": H, "width": width, "peak": peaks[width], "fused": False}


part(
    compute_bound_from,
    "Write FLOPs and bytes for one sequence, with the same letter for both lengths. The FLOPs "
    "have it squared. Which of the bytes have it squared, which have it once? Set FLOPs over "
    "bytes equal to the chip's ratio of peak and bandwidth, cancel the length once, and bring "
    "all terms with it to one side. What stands in front of it can be zero or negative: what "
    "does the question say to return then?",
    cases=(
        {"N": 24, "K": 8, "H": 96, "width": 2, **GIVEN, "fused": True},
        {"N": 40, "K": 1, "H": 128, "width": 1, **LOW_RIDGE, "fused": False},
        {"N": 24, "K": 24, "H": 128, "width": 2, "peak": 1e15, "bandwidth": 5e11}
        | {"fused": False},  # never compute-bound
        {"N": 48, "K": 6, "H": 240, "width": 1, "peak": 4.2e14, "bandwidth": 2e12}
        | {"fused": False},
        {"N": 40, "K": 40, "H": 128, "width": 4, **LOW_RIDGE, "fused": True},
        {"N": 48, "K": 6, "H": 128, "width": 2, "peak": 1.022e14, "bandwidth": 1.6e12}
        | {"fused": False},  # compute-bound only at a very long length
        {"N": 48, "K": 6, "H": 128, "width": 2, "peak": 1.019e14, "bandwidth": 1.6e12}
        | {"fused": False},
        {"N": 24, "K": 8, "H": 128, "width": 1, "peak": 2.56e14, "bandwidth": 2e12}
        | {"fused": False},  # just never compute-bound
        {"N": 32, "K": 8, "H": 192, "width": 2, "peak": 2.56e14, "bandwidth": 2e12}
        | {"fused": False},  # never, though H is above the ridge point
    ),
    ranges={
        "N, K": HEADS,
        "H": Whole(128, 512, multiple_of=32),
        "width": Choice(1, 2, 4),
        "peak": PEAKS,
        "bandwidth": Real(5e11, 4e12),
        "fused": Choice(True, False),
    },
    # Allow only cases in which rounding a length or an intermediate value stays within the
    # tolerance.
    allowed=lambda **case: (
        start(**case) == math.inf
        or (220 < start(**case) < 150_000 and (room(**case) == 1 or room(**case) > 2))
    ),
    branches={
        "more than ten thousand": lambda **case: 10_000 < start(**case) < math.inf,
        "scores of two bytes, and at some": lambda **case: (
            not case["fused"] and case["width"] == 2 and start(**case) < math.inf
        ),
        "just none": lambda **case: not case["fused"] and room(**case) == 0,
        "just some": lambda **case: room(**case) == 1,
        "fused": lambda fused, **others: fused,
        "at none": lambda **case: start(**case) == math.inf,
        "scores written, and at some": lambda **case: (
            not case["fused"] and start(**case) < math.inf
        ),
    },
    boundaries={
        "just none": lambda case, rng: with_room(0, case, rng),
        "just some": lambda case, rng: with_room(1, case, rng),
    },
    tolerance=0.01,
    wrong={
        "half-the-operations": lambda **case: start(**case, flops=2),
        "output-not-counted": lambda **case: start(**case, ends=1),
        "values-not-counted": lambda **case: start(**case, kept=1),
        "heads-not-shared": lambda **case: start(**case | {"K": case["N"]}),
        "scores-not-moved": lambda **case: start(**case | {"fused": True}),
        "scores-in-one-byte": lambda **case: start(**case, score=1),
        "scores-always-moved": lambda **case: start(**case | {"fused": False}),
        "kernels-swapped": lambda **case: start(**case | {"fused": not case["fused"]}),
        "no-infinite-length": lambda **case: start(**case, infinite=False),
        "scores-moved-twice": lambda **case: start(**case, squares=2),
        "border-without-width": border_without_width,
        "ridge-for-length": lambda peak, bandwidth, **others: peak / bandwidth,
    },
)

# %% [markdown]
# ## Part 4: what fits beside the weights (4 points)
#
# A chip holds the weights of a model and, in the rest of its HBM, the cache. The cache keeps the
# keys and the values of each position, in every layer, for each of `K` heads of width `H`; an
# element takes `kv_bytes` bytes. How many sequences of `S` positions fit? Only whole sequences
# count; one that fills the memory to its last byte still fits.
#
# If the weights alone don't fit, no sequence fits: return 0.


# %%
def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    """Number of sequences of S positions whose cache fits beside the weights: a whole number.

    capacity, weights: bytes of HBM that there are, and that the weights take.
    """
    per_position = 2 * layers * K * H * kv_bytes
    return max(0, int((capacity - weights) // (S * per_position)))


# %% grading
MAX_SEQUENCES = 40_000  # few enough for an answer that counts sequences in a loop
MODELS = (
    {"layers": 36, "K": 6, "H": 96, "kv_bytes": 2},
    {"layers": 80, "K": 8, "H": 128, "kv_bytes": 1},
    {"layers": 28, "K": 1, "H": 256, "kv_bytes": 0.5},
)
EXACT = {"layers": 25, "K": 5, "H": 64, "kv_bytes": 2}  # 15,625 positions take exactly 500 MB


def free(capacity, weights, S, layers, K, H, kv_bytes, kept=2):
    """Return how many sequences fit beside the weights, unrounded."""
    return (capacity - weights) / (S * kept * layers * K * H * kv_bytes)


def fit(**case):
    return max(0, math.floor(free(**case)))


def fits_above(**case):
    """Return whether few enough sequences fit and the memory is an allowed amount.

    It may be exactly enough for a whole number of sequences, one byte less, or clearly neither.
    """
    rooms = free(**case)
    return rooms <= MAX_SEQUENCES and (spare(**case) in (0, -1) or 0.01 < rooms % 1 < 0.99)


def bytes_of_one(S, layers, K, H, kv_bytes):
    return S * 2 * layers * K * H * kv_bytes


def spare(capacity, weights, **sizes):
    """Return the free bytes beside the sequences that fit.

    The result is negative if one more sequence just fails to fit.
    """
    each = bytes_of_one(**sizes)
    left = (capacity - weights) % each
    return left if left < each / 2 or capacity < weights else left - each


# Equivalent formulas whose results round differently in floating point.
WRITINGS = (
    lambda capacity, weights, each: (capacity - weights) / each,
    lambda capacity, weights, each: (capacity - weights) // each,
    lambda capacity, weights, each: capacity / each - weights / each,
    lambda capacity, weights, each: (capacity - weights) * (1 / each),
    lambda capacity, weights, each: (capacity / 1e9 - weights / 1e9) / (each / 1e9),
    lambda capacity, weights, each: (capacity - weights) / 1e9 / (each / 1e9),
    lambda capacity, weights, each: (capacity - weights) / 1e9 // (each / 1e9),
    lambda capacity, weights, each: (capacity - weights) / 1e6 / (each / 1e6),
)


def with_spare(left, case, rng):
    """Return the case with weights that leave `left` bytes free, if possible.

    On these weights, all WRITINGS of the formula give the same number of sequences.
    """
    sizes = {name: case[name] for name in ("S", "layers", "K", "H", "kv_bytes")}
    capacity, each = math.floor(case["capacity"]), bytes_of_one(**sizes)
    most = min(MAX_SEQUENCES, math.floor((capacity - WEIGHTS.low) / each))
    for count in range(rng.randint(0, max(most, 0)), 0, -1):
        weights = capacity - count * each - left
        found = {math.floor(written(capacity, weights, each)) for written in WRITINGS}
        if weights <= WEIGHTS.high and found == {count if left >= 0 else count - 1}:
            return {**case, "capacity": float(capacity), "weights": float(weights)}
    return case


def with_room_for_none(case, rng):
    """Return the case with too little space for one sequence, if the ranges allow."""
    sizes = {name: case[name] for name in ("S", "layers", "K", "H", "kv_bytes")}
    weights = case["capacity"] - rng.uniform(0.1, 0.9) * bytes_of_one(**sizes)
    if not WEIGHTS.low <= weights <= WEIGHTS.high:
        return case
    return {**case, "weights": float(math.floor(weights))}


part(
    sequences_that_fit,
    "First find how many bytes the cache takes for one position: count the elements of one "
    "layer, then all layers. Then for one sequence. Write down what the weights leave of the "
    "capacity, and ask how often a sequence goes into it. Look at what your function gives where "
    "the weights leave nothing.",
    cases=(
        {"capacity": 80e9, "weights": 41e9, "S": 300, **MODELS[0]},
        {"capacity": 141e9, "weights": 70.6e9, "S": 9000, **MODELS[1]},
        {"capacity": 80e9, "weights": 79.9e9, "S": 9000, **MODELS[0]},  # no sequence fits
        {"capacity": 32e9, "weights": 41e9, "S": 300, **MODELS[2]},  # nor do the weights
        {"capacity": 32e9, "weights": 9e9, "S": 2500, **MODELS[2]},
        {"capacity": 80e9, "weights": 41e9, "S": 300, **MODELS[2]},  # very many
        {"capacity": 80e9, "weights": 40e9, "S": 15625, **EXACT},  # to the last byte
        {"capacity": 80e9, "weights": 40e9 + 1, "S": 15625, **EXACT},  # a byte too few
    ),
    ranges={
        "capacity": Real(1.6e10, 2e11),
        "weights": WEIGHTS,
        "S": Whole(256, 65536),
        "layers": Whole(12, 120),
        "K": Whole(1, 16),
        "H": H_RANGE,
        "kv_bytes": Choice(0.5, 1, 2),
    },
    allowed=fits_above,
    branches={
        "the weights don't fit": lambda **case: free(**case) < 0,
        "not one": lambda **case: 0 < free(**case) < 1,
        "some": lambda **case: free(**case) > 3,
        "more than ten thousand": lambda **case: free(**case) > 10_000,
        "an exact fit": lambda **case: spare(**case) == 0,
        "a byte too few": lambda **case: spare(**case) == -1,
    },
    boundaries={
        "an exact fit": lambda case, rng: with_spare(0, case, rng),
        "a byte too few": lambda case, rng: with_spare(-1, case, rng),
        "not one": with_room_for_none,
    },
    wrong={
        "weights-take-no-room": lambda **case: fit(**case | {"weights": 0}),
        "values-not-counted": lambda **case: fit(**case, kept=1),
        "one-layer": lambda **case: fit(**case | {"layers": 1}),
        "positions-for-sequences": lambda **case: fit(**case | {"S": 1}),
        "not-whole": lambda **case: max(0.0, free(**case)),
        "rounded-up": lambda **case: max(0, math.ceil(free(**case))),
        "exact-fit-left-out": lambda **case: max(0, math.ceil(free(**case)) - 1),
        "below-zero": lambda **case: math.floor(free(**case)),
        "below-zero-cut": lambda **case: int(free(**case)),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# The limit in part 2 doesn't depend on the batch, and the weights of a model are shared by all
# sequences. So what does a larger batch gain in a decode step, and what limits it: time or space?
# Put numbers into your last function for a model and a context of your choice. What changes with
# fewer heads of keys, and what with a cache of half the width?

# %% next [markdown]
# Exercise 7 goes back to one matrix multiplication, and shares it among many chips.

# %% moral [markdown]
# In decode each sequence brings a cache of its own. So the batch reuses the weights and nothing
# else: attention itself stays where its heads put it, and what counts is how many bytes the caches
# have.

# %% thoughts [markdown]
# A larger batch spreads the weights' bytes over more tokens, until the caches outweigh the weights:
# from then on each token costs the bytes of its own cache. Often space ends before that, since
# caches fill what the weights leave. Fewer heads of keys shrink the cache and raise the intensity;
# half the width does the same. Both gain in time and in space, and they multiply.
