"""Parts, cases and misconceptions of exercise 6: attention, cache and decode."""

import math
import random
from collections.abc import Callable

from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Case, Exercise, Part
from grading.schema.ranges import Choice, Range, Real, Whole

# (query heads, key heads): grouped-query, multi-query and multi-head attention.
GROUPS = ((32, 8), (24, 24), (48, 6), (40, 1), (16, 2))
HEADS = Choice(*GROUPS)
WIDTHS: dict[str, Range] = {"q_bytes": Choice(1, 2, 4), "kv_bytes": Choice(0.5, 1, 2)}
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
PEAK, BANDWIDTH = 4.2e14, 1.6e12  # numbers that the exercise states
GIVEN = {"peak": PEAK, "bandwidth": BANDWIDTH}
SMALL_RIDGE = {"peak": 8e13, "bandwidth": 2e12}
LOW_RIDGE = {"peak": 2e14, "bandwidth": 2e12}

MAX_SEQUENCES = 40_000  # few enough for an answer that counts sequences in a loop
MODELS = (
    {"layers": 36, "K": 6, "H": 96, "kv_bytes": 2},
    {"layers": 80, "K": 8, "H": 128, "kv_bytes": 1},
    {"layers": 28, "K": 1, "H": 256, "kv_bytes": 0.5},
)
EXACT = {"layers": 25, "K": 5, "H": 64, "kv_bytes": 2}  # 15,625 positions take exactly 500 MB

# Branch that some cases must cover: a count of FLOPs that overflows 32-bit integers.
LARGE: dict[str, Callable[..., bool]] = {
    "more than 32 bits": lambda B, T, S, N, H, **others: 4 * B * T * S * N * H >= 2**32,
}


def without(case: dict[str, float], *names: str) -> dict[str, float]:
    return {name: value for name, value in case.items() if name not in names}


def moved(
    B: float,
    T: float,
    S: float,
    N: float,
    K: float,
    H: float,
    q_bytes: float,
    kv_bytes: float,
    ends: float = 2,
    kept: float = 2,
    squares: float = 0,
) -> float:
    """Return the bytes that attention loads and writes.

    ends, kept, squares: how many arrays of the size of the queries, of the keys and of the scores.
    """
    pairs = squares * q_bytes * B * N * T * S
    return ends * q_bytes * B * T * N * H + kept * kv_bytes * B * S * K * H + pairs


def decode(
    B: float,
    S: float,
    N: float,
    K: float,
    H: float,
    q_bytes: float,
    kv_bytes: float,
    flops: float = 4,
    caches: float = 0,
    **counts: float,
) -> float:
    """Return the intensity of decode.

    `caches` is the total number of caches; by default each sequence has one.
    """
    queries = moved(B, 1, S, N, K, H, q_bytes, kv_bytes, **counts | {"kept": 0})
    cache = moved(caches or B, 1, S, N, K, H, q_bytes, kv_bytes, **counts | {"ends": 0})
    return flops * B * S * N * H / (queries + cache)


def prefill(**case: float) -> float:
    """Return the intensity if every position of the cache has a query."""
    B, S, N, H = (case[name] for name in "BSNH")
    return 4 * B * S * S * N * H / moved(**case, T=S)


def widths_swapped(case: dict[str, float]) -> dict[str, float]:
    return case | {"q_bytes": case["kv_bytes"], "kv_bytes": case["q_bytes"]}


def start(
    N: float,
    K: float,
    H: float,
    width: float,
    peak: float,
    bandwidth: float,
    fused: bool,
    flops: float = 4,
    ends: float = 2,
    kept: float = 2,
    infinite: bool = True,
    score: float | None = None,
) -> float:
    """Return the length from which attention is compute-bound.

    A score takes `score` bytes, by default `width`.
    """
    ridge = peak / bandwidth
    room = flops * H - ridge * (0 if fused else 4 * (width if score is None else score))
    length = ridge * width * H * (ends + kept * K / N)
    return length / room if room > 0 or not infinite else math.inf


def room(
    H: float, width: float, peak: float, bandwidth: float, fused: bool, **heads: float
) -> float:
    """Return a query-key pair's FLOPs minus the equivalent of its score traffic.

    The traffic is converted to FLOPs at the ridge point.
    """
    return 4 * H - peak / bandwidth * (0 if fused else 4 * width)


def with_room(left: float, case: Case, rng: random.Random) -> Case:
    """Return a case in which the function `room` gives `left`.

    Quotients and differences are multiples of 1/8, so floats are exact in any order of operations.
    """
    H, bandwidth = 128, case["bandwidth"]
    peaks = {width: bandwidth * (H - left / 4) / width for width in (1, 2)}
    width = rng.choice([w for w, peak in peaks.items() if PEAKS.low <= peak <= PEAKS.high])
    return {**case, "H": H, "width": width, "peak": peaks[width], "fused": False}


def free(
    capacity: float,
    weights: float,
    S: float,
    layers: float,
    K: float,
    H: float,
    kv_bytes: float,
    kept: float = 2,
) -> float:
    """Return how many sequences fit beside the weights, unrounded."""
    return (capacity - weights) / (S * kept * layers * K * H * kv_bytes)


def fit(**case: float) -> int:
    return max(0, math.floor(free(**case)))


def fits_above(**case: float) -> bool:
    """Return whether few enough sequences fit and the memory is an allowed amount.

    It may be exactly enough for a whole number of sequences, one byte less, or clearly neither.
    """
    rooms = free(**case)
    return rooms <= MAX_SEQUENCES and (spare(**case) in (0, -1) or 0.01 < rooms % 1 < 0.99)


def bytes_of_one(S: float, layers: float, K: float, H: float, kv_bytes: float) -> float:
    return S * 2 * layers * K * H * kv_bytes


def spare(capacity: float, weights: float, **sizes: float) -> float:
    """Return the free bytes beside the sequences that fit.

    The result is negative if one more sequence just fails to fit.
    """
    each = bytes_of_one(**sizes)
    left = (capacity - weights) % each
    return left if left < each / 2 or capacity < weights else left - each


# Equivalent formulas whose results round differently in floating point.
WRITINGS: tuple[Callable[[float, float, float], float], ...] = (
    lambda capacity, weights, each: (capacity - weights) / each,
    lambda capacity, weights, each: (capacity - weights) // each,
    lambda capacity, weights, each: capacity / each - weights / each,
    lambda capacity, weights, each: (capacity - weights) * (1 / each),
    lambda capacity, weights, each: (capacity / 1e9 - weights / 1e9) / (each / 1e9),
    lambda capacity, weights, each: (capacity - weights) / 1e9 / (each / 1e9),
    lambda capacity, weights, each: (capacity - weights) / 1e9 // (each / 1e9),
    lambda capacity, weights, each: (capacity - weights) / 1e6 / (each / 1e6),
)


def with_spare(left: int, case: Case, rng: random.Random) -> Case:
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


def with_room_for_none(case: Case, rng: random.Random) -> Case:
    """Return the case with too little space for one sequence, if the ranges allow."""
    sizes = {name: case[name] for name in ("S", "layers", "K", "H", "kv_bytes")}
    weights = case["capacity"] - rng.uniform(0.1, 0.9) * bytes_of_one(**sizes)
    if not WEIGHTS.low <= weights <= WEIGHTS.high:
        return case
    return {**case, "weights": float(math.floor(weights))}


def step(
    B: float,
    S: float,
    parameters: float,
    width: float,
    per_position: float,
    peak: float,
    bandwidth: float,
    flops: float = 2,
    loads: float = 1,
    caches: float | None = None,
) -> tuple[float, float]:
    """Return the arithmetic time and the traffic time of a decode step.

    `caches` is the number of caches; by default each sequence has one.
    """
    cache = (B if caches is None else caches) * S * per_position
    return flops * B * parameters / peak, (loads * width * parameters + cache) / bandwidth


def bounds(**case: float) -> tuple[float, float]:
    pair = step(**case)
    return max(pair), sum(pair)


STEP_BY: dict[str, Callable[..., bool]] = {
    "compute-bound": lambda **case: step(**case)[0] > step(**case)[1],
    "bound by the weights": lambda **case: (
        step(**case)[0] < step(**case)[1] and step(**case)[1] < 2 * step(**case, caches=0)[1]
    ),
    "bound by the cache": lambda **case: (
        step(**case)[0] < step(**case)[1] and step(**case)[1] > 2 * step(**case, caches=0)[1]
    ),
}

EXERCISE = Exercise(
    name="attention",
    title="attention",
    parts=(
        Part(
            key="operations",
            function="operations",
            points=2,
            hint=N_(
                "Take one head of one sequence. Write the shapes of its queries and of its keys: "
                "what shape has the product, and along which side does each of its sums run? "
                "Then do the same for the product with the values. Ask at the end how many heads "
                "and sequences there are."
            ),
            cases=(
                *(without(case, "K") for case in SIZES),
                {"B": 40, "T": 3, "S": 100, "N": 24, "H": 64},
                {"B": 2, "T": 1, "S": 64, "N": 4, "H": 32},  # shows off-by-one errors
            ),
            ranges={
                "B": Whole(1, 64),
                "T": Whole(1, 4096),
                "S": Whole(64, 16384),
                "N": Whole(4, 64),
                "H": H_RANGE,
            },
            allowed=lambda T, S, **others: T <= S,
            branches=LARGE,
            misconceptions=(
                wrong("half-the-operations", lambda B, T, S, N, H: 2 * B * T * S * N * H),
                wrong(
                    "no-later-position", lambda B, T, S, N, H: 2 * B * N * H * T * (2 * S - T + 1)
                ),
                wrong("one-head", lambda B, T, S, N, H: 4 * B * T * S * H),
                wrong("one-sequence", lambda B, T, S, N, H: 4 * T * S * N * H),
                wrong("every-position-asks", lambda B, T, S, N, H: 4 * B * S * S * N * H),
                wrong("queries-alone-meet", lambda B, T, S, N, H: 4 * B * T * T * N * H),
            ),
        ),
        Part(
            key="bytes-moved",
            function="bytes_moved",
            points=4,
            hint=N_(
                "Make a table with a row for each of the four arrays that are loaded or written: "
                "how many sequences, positions and heads it has, how wide a head is, and how many "
                "bytes an element takes. Two of the rows have the positions and heads of the "
                "queries, two have those of the cache."
            ),
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
            misconceptions=(
                wrong("output-not-counted", lambda **case: moved(**case, ends=1)),
                wrong("values-not-counted", lambda **case: moved(**case, kept=1)),
                wrong("cache-alone", lambda **case: moved(**case, ends=0)),
                wrong("heads-not-shared", lambda **case: moved(**case | {"K": case["N"]})),
                wrong("scores-moved", lambda **case: moved(**case, squares=4)),
                wrong(
                    "one-cache-for-all",
                    lambda **case: moved(**case, kept=0) + moved(**case | {"B": 1}, ends=0),
                ),
                wrong(
                    "one-width-for-all",
                    lambda **case: moved(**case | {"kv_bytes": case["q_bytes"]}),
                ),
                wrong("cache-width-swapped", lambda **case: moved(**widths_swapped(case))),
                wrong("bits-for-bytes", lambda **case: 8 * moved(**case)),
            ),
        ),
        Part(
            key="decode-intensity",
            function="decode_intensity",
            points=3,
            hint=N_(
                "Your functions of the parts before already know it: what is the number of "
                "positions with a query in decode? Divide what the unit says, FLOPs by bytes. "
                "To see whether it is plausible, double the batch: what happens to both?"
            ),
            cases=(
                *(without(size, "T") | stored for size, stored in zip(SIZES, STORED, strict=True)),
                {"B": 3, **without(SMALL, "T")},
                {"B": 200, "S": 100, "N": 40, "K": 8, "H": 64, "q_bytes": 2, "kv_bytes": 2},
            ),
            ranges={
                "B": Whole(2, 256),
                "S": Whole(64, 8192),
                "N, K": HEADS,
                "H": H_RANGE,
                **WIDTHS,
            },
            misconceptions=(
                wrong(
                    "half-the-operations",
                    lambda **case: decode(**case, flops=2),
                    excluded_by="operations",
                ),
                wrong(
                    "output-not-counted",
                    lambda **case: decode(**case, ends=1),
                    excluded_by="bytes-moved",
                ),
                wrong(
                    "values-not-counted",
                    lambda **case: decode(**case, kept=1),
                    excluded_by="bytes-moved",
                ),
                wrong("heads-not-shared", lambda **case: decode(**case | {"K": case["N"]})),
                wrong("one-cache-for-all", lambda **case: decode(**case, caches=1)),
                wrong(
                    "one-width-for-all",
                    lambda **case: decode(**case | {"kv_bytes": case["q_bytes"]}),
                ),
                wrong("cache-width-swapped", lambda **case: decode(**widths_swapped(case))),
                wrong("prefill-for-decode", prefill),
                wrong("one-position-loaded", prefill),
                wrong("long-context-for-exact", lambda **case: decode(**case, ends=0)),
                wrong("upside-down", lambda **case: 1 / decode(**case)),
            ),
        ),
        Part(
            key="decode-limit",
            function="decode_limit",
            points=2,
            hint=N_(
                "Of your four arrays, which grow with the context, and which do not? Let the "
                "context be so long that only the first kind counts. Divide the FLOPs by their "
                "bytes alone. What cancels, and what remains?"
            ),
            cases=(
                {"N": 24, "K": 8, "kv_bytes": 1},
                {"N": 40, "K": 40, "kv_bytes": 2},
                {"N": 64, "K": 4, "kv_bytes": 0.5},
                {"N": 24, "K": 1, "kv_bytes": 0.5},
                {"N": 24, "K": 1, "kv_bytes": 2},
                {"N": 24, "K": 8, "kv_bytes": 4},  # not a whole number
            ),
            ranges={
                "N, K": Choice(*GROUPS, (36, 12), (40, 8)),
                "kv_bytes": Choice(0.5, 1, 2, 4),
            },
            branches={
                "not a whole number": lambda N, K, kv_bytes: 2 * N / (K * kv_bytes) % 1 > 0,
                "half a byte": lambda N, K, kv_bytes: K * kv_bytes < 1,
            },
            misconceptions=(
                wrong("half-the-operations", lambda N, K, kv_bytes: N / (K * kv_bytes)),
                wrong("cache-counted-twice", lambda N, K, kv_bytes: N / (K * kv_bytes)),
                wrong("values-not-counted", lambda N, K, kv_bytes: 4 * N / (K * kv_bytes)),
                wrong("operations-counted-twice", lambda N, K, kv_bytes: 4 * N / (K * kv_bytes)),
                wrong("heads-not-shared", lambda N, K, kv_bytes: 2 / kv_bytes),
                wrong("group-alone", lambda N, K, kv_bytes: N / K),
                wrong("width-left-out", lambda N, K, kv_bytes: 2 * N / K),
                wrong("width-upside-down", lambda N, K, kv_bytes: 2 * N * kv_bytes / K),
                wrong("group-upside-down", lambda N, K, kv_bytes: 2 * K / (N * kv_bytes)),
            ),
        ),
        Part(
            key="compute-bound-from",
            function="compute_bound_from",
            points=4,
            hint=N_(
                "Write FLOPs and bytes for one sequence, with the same letter for both lengths. "
                "The FLOPs have it squared. Which of the bytes have it squared, which have it "
                "once? Set FLOPs over bytes equal to the chip's ratio of peak and bandwidth, "
                "cancel the length once, and bring all terms with it to one side. What stands in "
                "front of it can be zero or negative: what does the question say to return then?"
            ),
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
            misconceptions=(
                wrong("half-the-operations", lambda **case: start(**case, flops=2)),
                wrong("output-not-counted", lambda **case: start(**case, ends=1)),
                wrong("values-not-counted", lambda **case: start(**case, kept=1)),
                wrong("heads-not-shared", lambda **case: start(**case | {"K": case["N"]})),
                wrong("scores-not-moved", lambda **case: start(**case | {"fused": True})),
                wrong("scores-in-one-byte", lambda **case: start(**case, score=1)),
                wrong("scores-always-moved", lambda **case: start(**case | {"fused": False})),
                wrong("no-infinity", lambda **case: start(**case, infinite=False)),
                wrong("ridge-for-length", lambda peak, bandwidth, **others: peak / bandwidth),
            ),
        ),
        Part(
            key="sequences-that-fit",
            function="sequences_that_fit",
            points=3,
            hint=N_(
                "First find how many bytes the cache takes for one position: count the elements "
                "of one layer, then all layers. Then for one sequence. Write down what the weights "
                "leave of the capacity, and ask how often a sequence goes into it. Look at what "
                "your function gives where the weights leave nothing."
            ),
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
            misconceptions=(
                wrong("weights-take-no-room", lambda **case: fit(**case | {"weights": 0})),
                wrong("values-not-counted", lambda **case: fit(**case, kept=1)),
                wrong("one-layer", lambda **case: fit(**case | {"layers": 1})),
                wrong("positions-for-sequences", lambda **case: fit(**case | {"S": 1})),
                wrong("not-whole", lambda **case: max(0.0, free(**case))),
                wrong("rounded-up", lambda **case: max(0, math.ceil(free(**case)))),
                wrong("exact-fit-left-out", lambda **case: max(0, math.ceil(free(**case)) - 1)),
                wrong("below-zero", lambda **case: math.floor(free(**case))),
                wrong("below-zero-cut", lambda **case: int(free(**case))),
            ),
        ),
        Part(
            key="step-bounds",
            function="step_bounds",
            points=2,
            kind="numbers",
            hint=N_(
                "Write two times: FLOPs by FLOPs per second, bytes by bytes per second. Which of "
                "the bytes does the batch multiply, and which are loaded once for all sequences? "
                "Then ask what the whole step takes if both go on at once, and what it takes if "
                "one waits for the other."
            ),
            cases=(
                {"B": 6, "S": 1500, "parameters": 7.3e9, "width": 2, "per_position": 82944} | GIVEN,
                {"B": 500, "S": 300, "parameters": 6.9e10, "width": 1, "per_position": 163840}
                | GIVEN,  # bound by compute
                {"B": 40, "S": 9000, "parameters": 7.3e9, "width": 1, "per_position": 131072}
                | SMALL_RIDGE,
                {"B": 6, "S": 9000, "parameters": 6.9e10, "width": 0.5, "per_position": 82944}
                | SMALL_RIDGE,
                # Small models; only the second case has a cache larger than the weights.
                {"B": 2, "S": 128, "parameters": 1e9, "width": 0.5, "per_position": 524288} | GIVEN,
                {"B": 1000, "S": 16000, "parameters": 1e9, "width": 0.5, "per_position": 524224}
                | {"peak": 2e15, "bandwidth": 8e11},
                {"B": 3, "S": 150, "parameters": 1e9, "width": 1, "per_position": 262144}
                | SMALL_RIDGE,
                {"B": 2, "S": 16000, "parameters": 1e9, "width": 1, "per_position": 8192}
                | SMALL_RIDGE,
            ),
            ranges={
                "B": Whole(2, 1024),
                "S": Whole(128, 16384),
                "parameters": Real(1e9, 4e11),
                "width": Choice(0.5, 1, 2),
                "per_position": Whole(8192, 524288, multiple_of=64),
                "peak": Real(1e14, 2e15),
                "bandwidth": Real(8e11, 8e12),
            },
            branches=STEP_BY,
            misconceptions=(
                wrong("cache-not-counted", lambda **case: bounds(**case, caches=0)),
                wrong("one-cache-for-all", lambda **case: bounds(**case, caches=1)),
                wrong("weights-not-counted", lambda **case: bounds(**case, loads=0)),
                wrong("weights-for-each-row", lambda **case: bounds(**case, loads=case["B"])),
                wrong("batch-left-out", lambda **case: bounds(**case, flops=2 / case["B"])),
                wrong("one-sequence", lambda **case: bounds(**case | {"B": 1})),
                wrong("multiply-add-once", lambda **case: bounds(**case, flops=1)),
                wrong("swapped", lambda **case: bounds(**case)[::-1]),
                wrong("the-two-times", lambda **case: tuple(sorted(step(**case)))),
                wrong("shorter-of-the-two", lambda **case: (min(step(**case)), sum(step(**case)))),
                wrong("one-time-twice", lambda **case: (max(step(**case)), 2 * max(step(**case)))),
                wrong("milliseconds", lambda **case: tuple(1e3 * t for t in bounds(**case))),
            ),
        ),
    ),
    moral=N_(
        "In decode each sequence brings a cache of its own. So the batch reuses the weights and "
        "nothing else: attention itself stays where its heads put it, and what counts is how many "
        "bytes the caches have."
    ),
    thoughts=N_(
        "A larger batch spreads the weights' bytes over more tokens, until the caches outweigh "
        "the weights: from then on each token costs the bytes of its own cache. Often space ends "
        "before that, since caches fill what the weights leave. Fewer heads of keys shrink the "
        "cache and raise the intensity; half the width does the same. Both gain in time and in "
        "space, and they multiply."
    ),
)
