"""Exercise 9: parts, cases and misconceptions about a mixture of experts."""

import math
import random
from collections.abc import Callable
from typing import Any

from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Case, Exercise, Part
from grading.schema.ranges import Choice, Made, Range, Real

Config = dict[str, Any]  # has those keys of a model's config.json that the exercise explains

# PEAK and BANDWIDTH are stated in the exercise. All models and chips here are invented.
PEAK, BANDWIDTH = 8.1e14, 2.6e12
GIVEN = {"peak": PEAK, "bandwidth": BANDWIDTH}
LOW_RIDGE = {"peak": 1.4e14, "bandwidth": 3.5e12}
LOWEST_RIDGE = {"peak": 1e14, "bandwidth": 7.5e12}
SLOW = {"peak": 8e13, "bandwidth": 6e11}
HIGH_RIDGE = {"peak": 1.9e15, "bandwidth": 3.1e12}


def config(
    name: str,
    L: int,
    D: int,
    heads: tuple[int, int, int],
    dense: int,
    X: int,
    experts: tuple[int, int, int],
    V: int,
    tied: bool,
) -> Config:
    """Return a model's config with these sizes.

    `heads` is (N, K, H), and `experts` counts (routed, taken by a token, shared).
    """
    N, K, H = heads
    E, k, shared = experts
    return {
        "name": name,
        "model_type": "glm4_moe",
        "num_hidden_layers": L,
        "hidden_size": D,
        "num_attention_heads": N,
        "num_key_value_heads": K,
        "head_dim": H,
        "intermediate_size": dense,
        "first_k_dense_replace": 0,
        "moe_intermediate_size": X,
        "n_routed_experts": E,
        "num_experts_per_tok": k,
        "n_shared_experts": shared,
        "vocab_size": V,
        "tie_word_embeddings": tied,
    }


ALDER = config("Alder", 28, 2304, (24, 6, 128), 9216, 1152, (48, 4, 1), 102_400, False)
BIRCH = config("Birch", 40, 3072, (32, 4, 64), 8192, 512, (128, 8, 0), 50_000, True)
# Cedar and Elder are so small that norms, routers and off-by-one errors exceed the tolerance.
CEDAR = config("Cedar", 24, 320, (10, 5, 16), 768, 48, (7, 3, 2), 1500, True)
DOGWOOD = config("Dogwood", 56, 6144, (64, 4, 128), 16_384, 1792, (160, 6, 1), 150_000, False)
ELDER = config("Elder", 30, 372, (12, 3, 40), 1024, 96, (25, 1, 0), 40_000, False)

CONFIGS = (ALDER, BIRCH, CEDAR, DOGWOOD, ELDER)

# --- weights and cache ----------------------------------------------------------------------------


def head_width(config: Config, given: bool = True) -> int:
    D, N = config["hidden_size"], config["num_attention_heads"]
    return int(config["head_dim"] if given else D // N)


def layer(
    config: Config,
    kv: str = "num_key_value_heads",
    X: str = "moe_intermediate_size",
    given: bool = True,
    gates: int = 3,
    router: int = 1,
    shared: int = 1,
) -> dict[str, int]:
    """Count a layer's weights: those used by all tokens, and those of one expert."""
    D, H = config["hidden_size"], head_width(config, given)
    attention = 2 * D * H * (config["num_attention_heads"] + config[kv])
    expert = gates * D * config[X]
    common = attention + router * D * config["n_routed_experts"]
    return {
        "common": common + shared * config["n_shared_experts"] * expert,
        "expert": expert,
    }


def table(config: Config) -> int:
    return int(config["vocab_size"] * config["hidden_size"])


def tables(config: Config) -> int:
    """Return the number of embedding tables: one if input and output share it."""
    return 1 if config["tie_word_embeddings"] else 2


def parameters(
    config: Config,
    taken: str = "num_experts_per_tok",
    layers: int | None = None,
    ends: Callable[[Config], tuple[int, int]] = lambda config: (tables(config), 1),
    norms: int = 0,
    **counted: Any,
) -> tuple[int, int]:
    """Count all weights, and the weights with which one token is multiplied.

    `ends` returns how many embedding tables each of the two counts includes.
    """
    of = layer(config, **counted)
    L = config["num_hidden_layers"] if layers is None else layers
    gains = norms * (2 * L + 1) * config["hidden_size"]
    whole, token = (
        L * (of["common"] + config[routed] * of["expert"]) + count * table(config) + gains
        for routed, count in zip(("n_routed_experts", taken), ends(config), strict=True)
    )
    return whole, token


def counted_by(**counted: Any) -> Callable[..., tuple[int, int]]:
    return lambda config: parameters(config, **counted)


def cache(
    config: Config,
    kv_bytes: float,
    kept: int = 2,
    layers: int | None = None,
    kv: str = "num_key_value_heads",
    given: bool = True,
) -> float:
    """Return the bytes of cache per position of one sequence."""
    L = config["num_hidden_layers"] if layers is None else layers
    return kept * L * config[kv] * head_width(config, given) * kv_bytes


def cached_by(**counted: Any) -> Callable[..., float]:
    return lambda config, kv_bytes: cache(config, kv_bytes, **counted)


# --- a decode step --------------------------------------------------------------------------------

Loaded = Callable[[float, float, float], float]  # (E, k, B) → experts loaded in a layer


def expected(E: float, k: float, B: float) -> float:
    return E * (1 - (1 - k / E) ** B)


def all_experts(E: float, k: float, B: float) -> float:
    return E


def of_one_token(E: float, k: float, B: float) -> float:
    return k


def none_shared(E: float, k: float, B: float) -> float:
    return min(E, k * B)


def for_each_token(E: float, k: float, B: float) -> float:
    return k * B


def with_replacement(E: float, k: float, B: float) -> float:
    return E * (1 - (1 - 1 / E) ** (k * B))


def times(
    config: Config,
    B: float,
    S: float,
    width: float,
    kv_bytes: float,
    peak: float,
    bandwidth: float,
    loaded: Loaded = expected,
    taken: str = "num_experts_per_tok",
    flops: float = 2,
    attention: float = 0,
    caches: float | None = None,
    looked_up: int = 0,
) -> tuple[float, float]:
    """Return the times of arithmetic and of traffic in seconds.

    With `caches` caches (default: one per sequence), `looked_up` embedding tables, and `attention`
    times the arithmetic of attention.
    """
    of = layer(config)
    _, token = parameters(config, taken=taken)
    L, E, k = (
        config[key] for key in ("num_hidden_layers", "n_routed_experts", "num_experts_per_tok")
    )
    pairs = 4 * B * S * config["num_attention_heads"] * config["head_dim"] * L
    touched = L * (of["common"] + loaded(E, k, B) * of["expert"])
    ends = (1 + looked_up * (tables(config) - 1)) * table(config)
    kept = (B if caches is None else caches) * S * cache(config, kv_bytes)
    arithmetic = flops * B * token + attention * pairs
    return arithmetic / peak, (width * (touched + ends) + kept) / bandwidth


def step_by(
    over: Callable[[tuple[float, float]], float] = max, **counted: Any
) -> Callable[..., float]:
    return lambda **case: over(times(**case, **counted))


step = step_by()


def binds(**case: Any) -> str:
    """Return what bounds a step: "compute", "weights" or "cache"."""
    arithmetic, traffic = times(**case)
    if arithmetic > traffic:
        return "compute"
    return "weights" if 2 * times(**case, caches=0)[1] > traffic else "cache"


def bound_by(what: str) -> Callable[..., bool]:
    return lambda **case: binds(**without_changes(case)) == what


def without_changes(case: Case) -> Case:
    return {key: value for key, value in case.items() if key != "changes"}


def share_of_experts(config: Config, B: float, **others: Any) -> float:
    E, k = config["n_routed_experts"], config["num_experts_per_tok"]
    return expected(E, k, B) / E


# --- the batch that experts need ------------------------------------------------------------------


def critical_batch(
    config: Config,
    width: float,
    peak: float,
    bandwidth: float,
    flops: float = 2,
    ratio: Callable[[float, float, float], float] = lambda E, k, shared: E / k,
) -> float:
    E, k, shared = (
        config[key] for key in ("n_routed_experts", "num_experts_per_tok", "n_shared_experts")
    )
    return peak / bandwidth * width / flops * ratio(E, k, shared)


def batch_by(**counted: Any) -> Callable[..., float]:
    return lambda **case: critical_batch(**case, **counted)


def tokens_of_an_expert(**case: Any) -> float:
    return critical_batch(**case, ratio=lambda E, k, shared: 1)


# --- what helps -----------------------------------------------------------------------------------

Changes = dict[str, dict[str, float]]


def gains(changes: Changes, step: Callable[..., float] = step, **now: Any) -> dict[str, float]:
    """Return the factor by which each change raises the tokens per second."""
    rate = now["B"] / step(**now)
    return {
        name: (now | change)["B"] / step(**now | change) / rate for name, change in changes.items()
    }


def gains_by(**counted: Any) -> Callable[..., dict[str, float]]:
    return lambda **case: gains(**case, step=step_by(**counted))


def gains_in_time(changes: Changes, **now: Any) -> dict[str, float]:
    return {name: step(**now) / step(**now | change) for name, change in changes.items()}


def changed_alone(changes: Changes, **now: Any) -> dict[str, float]:
    """Return the factor by which each change improves the quantity it sets."""
    found = {}
    for name, change in changes.items():
        ((key, value),) = change.items()
        found[name] = now[key] / value if key in ("width", "kv_bytes") else value / now[key]
    return found


def with_old_experts(changes: Changes, **now: Any) -> dict[str, float]:
    def loaded(E: float, k: float, B: float) -> float:
        return expected(E, k, now["B"])

    return gains(changes, step_by(loaded=loaded), **now)


def with_faster_arithmetic(changes: Changes, **now: Any) -> dict[str, float]:
    """Return the gains if narrower weights were also multiplied faster."""
    also = {
        name: change | {"peak": now["peak"] * now["width"] / change["width"]}
        if "width" in change
        else change
        for name, change in changes.items()
    }
    return gains(also, **now)


def changed_by(other: Callable[..., dict[str, float]], **case: Any) -> float:
    """Return the largest relative difference between `gains` and `other`."""
    found = other(**case)
    return max(abs(found[name] / gain - 1) for name, gain in gains(**case).items())


def changes_of(*keys: str) -> Callable[..., bool]:
    return lambda changes, **now: {key for one in changes.values() for key in one} >= set(keys)


# --- drawing --------------------------------------------------------------------------------------

NAMES = ("Aspen", "Beech", "Hazel", "Larch", "Maple", "Olive", "Rowan", "Spruce", "Willow", "Yew")
WIDTHS: dict[str, Range] = {"kv_bytes": Choice(0.5, 1, 2)}


def a_config(rng: random.Random) -> Config:
    """Return the config of an invented model whose heads are not as wide as D/N."""
    N = rng.choice((8, 12, 16, 24, 32, 48))
    each, H = rng.sample((32, 48, 64, 80, 96, 128), 2)
    E, k = rng.choice(((8, 2), (16, 2), (32, 4), (48, 6), (64, 8), (96, 5), (128, 8), (200, 6)))
    return config(
        rng.choice(NAMES),
        rng.randint(4, 64),
        N * each,
        (N, N // rng.choice((2, 4)), H),
        N * each * rng.choice((2, 3, 4)),
        32 * rng.randint(8, 60) + 16,
        (E, k, rng.choice((0, 1, 2))),
        1000 * rng.randint(8, 200),
        rng.choice((True, False)),
    )


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def six(value: float) -> float:
    return float(f"{value:.6g}")


# Desired binding roof → ranges of B, S, peak and bandwidth that often make it bind.
SPANS = {
    "compute": ((500, 8000), (64, 512), (1e14, 3e14), (3e12, 8e12)),
    "weights": ((1, 200), (64, 2000), (2e14, 2e15), (5e11, 8e12)),
    "cache": ((20, 400), (4000, 60_000), (2e14, 2e15), (5e11, 8e12)),
}
STEP = "config, B, S, width, kv_bytes, peak, bandwidth"


def a_step(rng: random.Random) -> dict[str, Any]:
    """Return the arguments of a step bound by compute, weights or cache, at random."""
    wanted = rng.choice(list(SPANS))
    while True:
        B, S, peak, bandwidth = (log_uniform(rng, *span) for span in SPANS[wanted])
        case = {
            "config": a_config(rng),
            "B": round(B),
            "S": round(S),
            "width": rng.choice((0.5, 1, 2)),
            "kv_bytes": rng.choice((0.5, 1, 2)),
            "peak": six(peak),
            "bandwidth": six(bandwidth),
        }
        if binds(**case) == wanted:
            return case


def a_step_to_change(rng: random.Random) -> tuple[Any, ...]:
    """Return the arguments of a step, and three changes to them."""
    case = a_step(rng)
    possible: Changes = {
        "a larger batch": {"B": case["B"] * rng.choice((2, 3, 4))},
        "narrower weights": {"width": case["width"] / 2},
        "a narrower cache": {"kv_bytes": case["kv_bytes"] / 2},
        "a higher peak": {"peak": six(case["peak"] * rng.uniform(1.3, 2.5))},
        "a faster memory": {"bandwidth": six(case["bandwidth"] * rng.uniform(1.3, 2.5))},
    }
    if case["width"] < 1:
        del possible["narrower weights"]
    chosen = rng.sample(list(possible), 3)
    return *case.values(), {name: possible[name] for name in chosen}


OF_A_CONFIG: dict[str, Callable[..., bool]] = {
    "tied tables": lambda config, **others: config["tie_word_embeddings"],
    "two tables": lambda config, **others: not config["tie_word_embeddings"],
    "shared experts": lambda config, **others: config["n_shared_experts"] > 0,
    "no shared expert": lambda config, **others: config["n_shared_experts"] == 0,
}
BOUND: dict[str, Callable[..., bool]] = {
    "compute-bound": bound_by("compute"),
    "bound by weights": bound_by("weights"),
    "bound by caches": bound_by("cache"),
}


def changed(case: Case, **changes: dict[str, float]) -> Case:
    return {**case, "changes": {name.replace("_", " "): one for name, one in changes.items()}}


FEW = {"config": ALDER, "B": 16, "S": 3000, "width": 2, "kv_bytes": 2} | GIVEN
LONG = {"config": DOGWOOD, "B": 16, "S": 50_000, "width": 1, "kv_bytes": 2} | GIVEN
BUSY = {"config": DOGWOOD, "B": 4000, "S": 10_000, "width": 1, "kv_bytes": 1} | LOW_RIDGE
BARELY = {"config": BIRCH, "B": 200, "S": 64, "width": 0.5, "kv_bytes": 0.5} | LOWEST_RIDGE
ALONE = {"config": DOGWOOD, "B": 1, "S": 3000, "width": 2, "kv_bytes": 1} | SLOW
SMALL = {"config": CEDAR, "B": 2, "S": 7, "width": 2, "kv_bytes": 0.5} | GIVEN
SMALL_BUSY = {"config": CEDAR, "B": 1500, "S": 2, "width": 0.5, "kv_bytes": 0.5} | LOW_RIDGE
LOOKED_UP = {"config": ELDER, "B": 2000, "S": 20, "width": 0.5, "kv_bytes": 1} | LOWEST_RIDGE
SMALL_ALONE = {"config": ELDER, "B": 1, "S": 40, "width": 2, "kv_bytes": 1} | HIGH_RIDGE
SMALL_LONG = {"config": ELDER, "B": 30, "S": 20_000, "width": 0.5, "kv_bytes": 2} | HIGH_RIDGE
MIDDLE = {"config": BIRCH, "B": 40, "S": 700, "width": 0.5, "kv_bytes": 0.5} | HIGH_RIDGE

EXERCISE = Exercise(
    name="mixture-of-experts",
    title="a mixture of experts",
    parts=(
        Part(
            key="parameters",
            function="parameters",
            points=5,
            kind="numbers",
            hint=N_(
                "Write down the weights of one layer in four lines: attention, router, one expert, "
                "and how many experts. Three of the lines are the same in both counts: which one "
                "is not? Then multiply by the layers, and go to the tables: which of the two does "
                "a token only look up?"
            ),
            cases=tuple({"config": one} for one in CONFIGS),
            ranges={"config": Made(a_config, N_("the config files of other models"))},
            branches=OF_A_CONFIG,
            misconceptions=(
                wrong("all-experts-per-token", counted_by(taken="n_routed_experts")),
                wrong("two-matrices-an-expert", counted_by(gates=2)),
                wrong("shared-experts-left-out", counted_by(shared=0)),
                wrong("router-left-out", counted_by(router=0)),
                wrong("heads-not-shared", counted_by(kv="num_attention_heads")),
                wrong("head-width-from-the-model", counted_by(given=False)),
                wrong("dense-width", counted_by(X="intermediate_size")),
                wrong("layers-left-out", counted_by(layers=1)),
                wrong(
                    "embedding-multiplied",
                    counted_by(ends=lambda config: (tables(config), tables(config))),
                ),
                wrong(
                    "output-matrix-left-out", counted_by(ends=lambda config: (tables(config), 0))
                ),
                wrong("tables-left-out", counted_by(ends=lambda config: (0, 0))),
                wrong("tied-table-twice", counted_by(ends=lambda config: (2, 1))),
                wrong("norms-counted", counted_by(norms=1)),
                wrong("swapped", lambda config: parameters(config)[::-1]),
            ),
        ),
        Part(
            key="cache",
            function="cache_per_position",
            points=3,
            hint=N_(
                "What does one layer keep of a position, and for which of the two kinds of heads? "
                "Count the elements, then the layers, and turn elements into bytes. Which keys of "
                "the file did you not need, and does that surprise you?"
            ),
            cases=(
                {"config": ALDER, "kv_bytes": 2},
                {"config": BIRCH, "kv_bytes": 1},
                {"config": CEDAR, "kv_bytes": 0.5},
                {"config": ALDER, "kv_bytes": 0.5},
                {"config": DOGWOOD, "kv_bytes": 2},
                {"config": ELDER, "kv_bytes": 1},
            ),
            ranges={"config": Made(a_config, N_("the config files of other models"))} | WIDTHS,
            branches=OF_A_CONFIG,
            misconceptions=(
                wrong("values-not-counted", cached_by(kept=1)),
                wrong("heads-not-shared", cached_by(kv="num_attention_heads")),
                wrong("one-layer", cached_by(layers=1)),
                wrong("head-width-from-the-model", cached_by(given=False)),
                wrong(
                    "cache-as-wide-as-the-model",
                    cached_by(kv="num_attention_heads", given=False),
                ),
                wrong("elements-for-bytes", lambda config, kv_bytes: cache(config, 1)),
                wrong("bits-for-bytes", lambda config, kv_bytes: cache(config, 8 * kv_bytes)),
            ),
        ),
        Part(
            key="step",
            function="step_time",
            points=5,
            hint=N_(
                "Two times, and the longer one is the bound. For the arithmetic, your first "
                "function already has the weights of a token. For the bytes, ask of each group of "
                "weights whether the batch changes how many of them are loaded: only for one it "
                "does. How likely is it that a given expert is missed by one token, and by all of "
                "them? Then add what each sequence brings."
            ),
            cases=(
                *(FEW, LONG, BUSY, BARELY, ALONE, MIDDLE),
                *(SMALL, SMALL_BUSY, SMALL_ALONE, SMALL_LONG, LOOKED_UP),
            ),
            ranges={
                STEP: Made(lambda rng: tuple(a_step(rng).values()), N_("steps of other models")),
            },
            branches=OF_A_CONFIG
            | BOUND
            | {
                "few of the experts": lambda **case: share_of_experts(**case) < 0.5,
                "most of the experts": lambda **case: 0.5 < share_of_experts(**case) < 0.95,
                "nearly all of the experts": lambda **case: share_of_experts(**case) > 0.95,
            },
            misconceptions=(
                wrong("all-experts-loaded", step_by(loaded=all_experts)),
                wrong("experts-of-one-token", step_by(loaded=of_one_token)),
                wrong("no-expert-shared", step_by(loaded=none_shared)),
                wrong("loaded-for-each-token", step_by(loaded=for_each_token)),
                wrong("drawn-with-replacement", step_by(loaded=with_replacement)),
                wrong("whole-file-loaded", step_by(loaded=all_experts, looked_up=1)),
                wrong("embedding-loaded", step_by(looked_up=1)),
                wrong("all-experts-per-token", step_by(taken="n_routed_experts")),
                wrong("cache-not-counted", step_by(caches=0)),
                wrong("one-cache-for-all", step_by(caches=1)),
                wrong("multiply-add-once", step_by(flops=1)),
                wrong("no-ceiling", lambda **case: times(**case)[1]),
                wrong("attention-arithmetic-counted", step_by(attention=1)),
                wrong("no-overlap", step_by(sum)),
                wrong("shorter-of-the-two", step_by(min)),
                wrong("milliseconds", lambda **case: 1e3 * step(**case)),
            ),
        ),
        Part(
            key="critical-batch",
            function="critical_batch",
            points=3,
            hint=N_(
                "Take one expert of one layer. How many tokens of the batch does it see on "
                "average? Write its FLOPs for these tokens and the bytes of its weights: which "
                "sizes cancel? Set the quotient equal to the chip's ratio of peak and bandwidth, "
                "and solve for the batch."
            ),
            cases=(
                {"config": ALDER, "width": 2, **GIVEN},
                {"config": BIRCH, "width": 1, **HIGH_RIDGE},
                {"config": DOGWOOD, "width": 0.5, "peak": 1.9e15, "bandwidth": 1.8e12},
                {"config": DOGWOOD, "width": 2, **HIGH_RIDGE},
                {"config": CEDAR, "width": 1, **HIGH_RIDGE},
                {"config": ELDER, "width": 2, **GIVEN},
            ),
            ranges={
                "config": Made(a_config, N_("the config files of other models")),
                "width": Choice(0.5, 1, 2),
                "peak": Real(1e14, 2e15),
                "bandwidth": Real(5e11, 8e12),
            },
            # These limits keep two variants within the tolerance: rounded intermediate values, and
            # a batch computed with the expected number of loaded experts instead of all.
            allowed=lambda **case: (
                critical_batch(**case) < 100_000 and tokens_of_an_expert(**case) > 170
            ),
            branches=OF_A_CONFIG
            | {
                "more than ten thousand": lambda **case: critical_batch(**case) > 10_000,
                "not a whole number of experts for each": lambda config, **others: (
                    config["n_routed_experts"] % config["num_experts_per_tok"] > 0
                ),
            },
            tolerance=0.01,
            misconceptions=(
                wrong("dense-batch", batch_by(ratio=lambda E, k, shared: 1)),
                wrong("smaller-batch", batch_by(ratio=lambda E, k, shared: k / E)),
                wrong("one-expert-a-token", batch_by(ratio=lambda E, k, shared: E)),
                wrong(
                    "shared-among-routed",
                    batch_by(ratio=lambda E, k, shared: (E + shared) / (k + shared)),
                ),
                wrong("multiply-add-once", batch_by(flops=1)),
                wrong("two-bytes-a-weight", lambda **case: critical_batch(**case | {"width": 2})),
                wrong("ridge-itself", lambda peak, bandwidth, **others: peak / bandwidth),
                wrong(
                    "bits-for-bytes",
                    lambda **case: critical_batch(**case | {"width": 8 * case["width"]}),
                ),
            ),
        ),
        Part(
            key="gains",
            function="gains",
            points=4,
            kind="numbers",
            hint=N_(
                "Write a helper that gives the tokens per second of one setting: how many tokens "
                "does a step write, and how long does it take at least? Call it with the setting "
                "as it is, and once for each change with one argument replaced. Both the tokens "
                "and the time may have changed."
            ),
            cases=(
                changed(
                    FEW,
                    weights_in_one_byte={"width": 1},
                    cache_in_one_byte={"kv_bytes": 1},
                    twice_the_batch={"B": 32},
                ),
                changed(
                    BUSY,
                    weights_in_half_a_byte={"width": 0.5},
                    twice_the_peak={"peak": 2.8e14},
                    twice_the_batch={"B": 8000},
                ),
                changed(
                    BARELY,
                    higher_peak={"peak": 5e14},
                    cache_in_two_bits={"kv_bytes": 0.25},
                    faster_memory={"bandwidth": 9e12},
                ),
                changed(
                    LONG,
                    cache_in_one_byte={"kv_bytes": 1},
                    three_times_the_batch={"B": 48},
                    faster_memory={"bandwidth": 4.1e12},
                ),
                changed(
                    ALONE,
                    twice_the_batch={"B": 2},
                    weights_in_one_byte={"width": 1},
                    twice_the_peak={"peak": 1.6e14},
                ),
                changed(
                    SMALL,
                    four_times_the_batch={"B": 8},
                    weights_in_one_byte={"width": 1},
                    faster_memory={"bandwidth": 3.3e12},
                ),
                changed(
                    SMALL_BUSY,
                    higher_peak={"peak": 1.9e14},
                    faster_memory={"bandwidth": 5e12},
                    three_times_the_batch={"B": 4500},
                ),
                changed(
                    SMALL_ALONE,
                    four_times_the_batch={"B": 4},
                    faster_memory={"bandwidth": 7.9e12},
                    cache_in_half_a_byte={"kv_bytes": 0.5},
                ),
                changed(
                    SMALL_LONG,
                    twice_the_batch={"B": 60},
                    cache_in_one_byte={"kv_bytes": 1},
                    higher_peak={"peak": 2.4e15},
                ),
                changed(
                    MIDDLE,
                    cache_in_two_bits={"kv_bytes": 0.25},
                    four_times_the_batch={"B": 160},
                    faster_memory={"bandwidth": 4.5e12},
                ),
            ),
            ranges={
                f"{STEP}, changes": Made(
                    a_step_to_change, N_("steps of other models, with changes")
                )
            },
            branches=BOUND
            | {
                "a larger batch": changes_of("B"),
                "narrower weights": changes_of("width"),
                "a narrower cache": changes_of("kv_bytes"),
                "a higher peak": changes_of("peak"),
                "a faster memory": changes_of("bandwidth"),
                "a table more would show": lambda **case: (
                    changed_by(gains_by(looked_up=1), **case) > 1e-4
                ),
                "narrower weights gain nothing": lambda **case: (
                    changes_of("width")(**case) and bound_by("compute")(**case)
                ),
                "a larger batch takes more experts": lambda **case: (
                    changes_of("B")(**case) and share_of_experts(**without_changes(case)) < 0.8
                ),
            },
            misconceptions=(
                wrong("time-for-tokens", gains_in_time),
                wrong("changed-alone", changed_alone),
                wrong("experts-of-the-old-batch", with_old_experts),
                wrong("int8-arithmetic", with_faster_arithmetic),
                wrong(
                    "upside-down",
                    lambda **case: {name: 1 / gain for name, gain in gains(**case).items()},
                ),
                wrong("no-overlap", gains_by(over=sum), excluded_by="step"),
                wrong("all-experts-loaded", gains_by(loaded=all_experts), excluded_by="step"),
                wrong("experts-of-one-token", gains_by(loaded=of_one_token), excluded_by="step"),
                wrong("no-expert-shared", gains_by(loaded=none_shared), excluded_by="step"),
                wrong("cache-not-counted", gains_by(caches=0), excluded_by="step"),
                wrong("one-cache-for-all", gains_by(caches=1), excluded_by="step"),
            ),
        ),
    ),
    moral=N_(
        "A mixture of experts computes with few of its weights, and a step for several tokens "
        "loads nearly all of them. So its experts need a larger batch than a dense layer: by as "
        "many times as there are experts for each one that a token takes. Below that, bytes "
        "decide, and what helps is what makes them fewer, or shares them among more tokens."
    ),
    thoughts=N_(
        "Beside the weights there is room for less than a twentieth of the batch that the experts "
        "need, so on one chip they always wait for bytes. Where many chips share the experts, "
        "each loads its part of them for the tokens of all chips, and holds fewer weights, which "
        "leaves room for more caches: there an expert can get enough tokens. With favorites, a "
        "small batch takes fewer distinct experts, so a step can be shorter than your bound. A "
        "large batch still loads all of them: its bytes stay as they are, but favorites are "
        "compute-bound at smaller batches, and the others only at larger ones. If chips share the "
        "experts, the chip with the favorites keeps all others waiting."
    ),
)
