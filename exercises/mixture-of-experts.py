# ---
# title: "Exercise 9: a mixture of experts"
# minutes: 45
# difficulty: hard
# read_first: own-model
# description: >-
#   From the config.json of a mixture of experts to its weights, its cache, the time of a decode
#   step, and what would help most.
# ---

# %% page [markdown]
# This exercise starts where every published model does: from its `config.json`. In each layer, a
# router sends a token through k of E experts; beside them there may be shared experts, which every
# token takes. The five models of the exercise are invented, and so is the chip to try them on, with
# a bf16 peak of {eval}`f"{rl.Quantity(peak, 'FLOP/s'):e}"` and an HBM bandwidth of
# {eval}`f"{rl.Quantity(bandwidth, 'B/s'):e}"`.
#
# - How many weights are there in all, and with how many is a token multiplied?
# - How many bytes does a position take in the cache?
# - How long does a decode step take at least, if the router has no favorites?
# - From which batch on are the experts compute-bound?
# - There is time for one of three changes: which gives most tokens per second?
#
# ## Hints
#
# :::{dropdown} Hint: who takes what?
# Go through the matrices of a layer one by one, and ask of each: does every token take it, or only
# some? Then ask what a token does in each of the two tables.
# :::
#
# :::{dropdown} Hint: distinct experts
# Ask first how likely it is that one token misses a given expert, then all tokens of the batch.
# What is left is the chance that somebody takes it, and there are E of these.
# :::
#
# :::{dropdown} Hint: before and after
# A change helps as much as it shortens what takes longest, and only until something else takes
# longer. A larger batch makes a step longer, and writes more tokens in it.
# :::

# %% [markdown]
# A checkpoint comes with a `config.json`. In this exercise you start from such a file of a mixture
# of experts. You count its weights and its cache, bound the time of a decode step, find the batch
# from which the experts keep the arithmetic busy, and decide what would help most before anybody
# builds it.

# %% [markdown]
# Every function gets a dictionary `config`. It has a name and the keys of a file of the GLM-4.5
# family, which `rl.model_from_config` reads, too:
#
# - `num_hidden_layers`: L layers, each with attention and experts.
# - `hidden_size`: D, the width of the model.
# - `num_attention_heads`, `num_key_value_heads`: N heads of queries, and K heads of keys and of
#   values.
# - `head_dim`: H, the width of a head; N times H need not be D.
# - `intermediate_size`, `first_k_dense_replace`: the width of a dense MLP, and how many layers have
#   one; here none has.
# - `moe_intermediate_size`: X, the width of an expert.
# - `n_routed_experts`, `num_experts_per_tok`: E experts of a layer among which the router chooses,
#   and the k of these that a token takes.
# - `n_shared_experts`: the experts of a layer that every token takes besides; there may be none.
# - `vocab_size`: V, the rows of a table.
# - `tie_word_embeddings`: `True` if one table serves as embedding and as output matrix.
#
# None of the five models below exists, and neither does the chip.

# %% given
import rooflib as rl
from roofkit.check import check

keys = (
    *("name", "num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads"),
    *("head_dim", "intermediate_size", "moe_intermediate_size", "n_routed_experts"),
    *("num_experts_per_tok", "n_shared_experts", "vocab_size", "tie_word_embeddings"),
)
rows = [
    ("Alder", 28, 2304, 24, 6, 128, 9216, 1152, 48, 4, 1, 102_400, False),
    ("Birch", 40, 3072, 32, 4, 64, 8192, 512, 128, 8, 0, 50_000, True),
    ("Cedar", 24, 320, 10, 5, 16, 768, 48, 7, 3, 2, 1500, True),
    ("Dogwood", 56, 6144, 64, 4, 128, 16_384, 1792, 160, 6, 1, 150_000, False),
    ("Elder", 30, 372, 12, 3, 40, 1024, 96, 25, 1, 0, 40_000, False),
]
# The checks ask about these five.
same = {"model_type": "glm4_moe", "first_k_dense_replace": 0}
configs = [same | dict(zip(keys, row, strict=True)) for row in rows]
alder, birch, cedar, dogwood, elder = configs

# A chip to try your functions on.
peak = 8.1e14  # bf16 FLOP/s, dense
bandwidth = 2.6e12  # HBM, bytes per second

rl.Table(
    {"key": list(keys[1:])}
    | {config["name"]: [str(config[key]) for key in keys[1:]] for config in configs}
)

# %% grading
import math

from grading.schema import Choice, Made, Real, part

# peak and bandwidth are stated in the exercise. All models and chips here are invented.
GIVEN = {"peak": peak, "bandwidth": bandwidth}
LOW_RIDGE = {"peak": 1.4e14, "bandwidth": 3.5e12}
LOWEST_RIDGE = {"peak": 1e14, "bandwidth": 7.5e12}
SLOW = {"peak": 8e13, "bandwidth": 6e11}
HIGH_RIDGE = {"peak": 1.9e15, "bandwidth": 3.1e12}


def head_width(config, given=True):
    D, N = config["hidden_size"], config["num_attention_heads"]
    return int(config["head_dim"] if given else D // N)


def layer(
    config,
    kv="num_key_value_heads",
    X="moe_intermediate_size",
    given=True,
    gates=3,
    router=1,
    shared=1,
    shared_X="",
    queries=0,
):
    """Count a layer's weights: those used by all tokens, and those of one expert.

    X, shared_X: the keys of the width of an expert, and of a shared one if that is another.
    queries: the width of all queries together, in D, if it is taken from there.
    """
    D, H = config["hidden_size"], head_width(config, given)
    wide = queries * D or config["num_attention_heads"] * H
    attention = 2 * D * (wide + config[kv] * H)
    expert = gates * D * config[X]
    common = attention + router * D * config["n_routed_experts"]
    of_all = shared * config["n_shared_experts"] * gates * D * config[shared_X or X]
    return {"common": common + of_all, "expert": expert}


def table(config):
    return int(config["vocab_size"] * config["hidden_size"])


def tables(config):
    """Return the number of embedding tables: one if input and output share it."""
    return 1 if config["tie_word_embeddings"] else 2


def parameters_if(
    config,
    taken="num_experts_per_tok",
    layers=None,
    ends=lambda config: (tables(config), 1),
    norms=0,
    **counted,
):
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


def cache(config, kv_bytes, kept=2, layers=None, kv="num_key_value_heads", given=True):
    """Return the bytes of cache per position of one sequence."""
    L = config["num_hidden_layers"] if layers is None else layers
    return kept * L * config[kv] * head_width(config, given) * kv_bytes


def expected(E, k, B):
    return E * (1 - (1 - k / E) ** B)


def all_experts(E, k, B):
    return E


def of_one_token(E, k, B):
    return k


def none_shared(E, k, B):
    return min(E, k * B)


def times(
    config,
    B,
    S,
    width,
    kv_bytes,
    peak,
    bandwidth,
    loaded=expected,
    taken="num_experts_per_tok",
    flops=2,
    attention=0,
    caches=None,
    looked_up=0,
):
    """Return the times of arithmetic and of traffic in seconds.

    With `caches` caches (default: one per sequence), `looked_up` embedding tables, and `attention`
    times the arithmetic of attention.
    """
    of = layer(config)
    _, token = parameters_if(config, taken=taken)
    L, E, k = (
        config[key] for key in ("num_hidden_layers", "n_routed_experts", "num_experts_per_tok")
    )
    pairs = 4 * B * S * config["num_attention_heads"] * config["head_dim"] * L
    touched = L * (of["common"] + loaded(E, k, B) * of["expert"])
    ends = (1 + looked_up * (tables(config) - 1)) * table(config)
    kept = (B if caches is None else caches) * S * cache(config, kv_bytes)
    arithmetic = flops * B * token + attention * pairs
    return arithmetic / peak, (width * (touched + ends) + kept) / bandwidth


def step_by(over=max, **counted):
    return lambda **case: over(times(**case, **counted))


step = step_by()


def binds(**case):
    """Return what bounds a step: "compute", "weights" or "cache"."""
    arithmetic, traffic = times(**case)
    if arithmetic > traffic:
        return "compute"
    return "weights" if 2 * times(**case, caches=0)[1] > traffic else "cache"


def bound_by(what):
    return lambda **case: binds(**without_changes(case)) == what


def without_changes(case):
    return {key: value for key, value in case.items() if key != "changes"}


def share_of_experts(config, B, **others):
    E, k = config["n_routed_experts"], config["num_experts_per_tok"]
    return expected(E, k, B) / E


NAMES = ("Aspen", "Beech", "Hazel", "Larch", "Maple", "Olive", "Rowan", "Spruce", "Willow", "Yew")


def a_config(rng):
    """Return the config of an invented model whose heads are not as wide as D/N."""
    N = rng.choice((8, 12, 16, 24, 32, 48))
    each, H = rng.sample((32, 48, 64, 80, 96, 128), 2)
    E, k = rng.choice(((8, 2), (16, 2), (32, 4), (48, 6), (64, 8), (96, 5), (128, 8), (200, 6)))
    row = (
        rng.choice(NAMES),
        rng.randint(4, 64),
        N * each,
        *(N, N // rng.choice((2, 4)), H),
        N * each * rng.choice((2, 3, 4)),
        32 * rng.randint(8, 60) + 16,
        *(E, k, rng.choice((0, 1, 2))),
        1000 * rng.randint(8, 200),
        rng.choice((True, False)),
    )
    return same | dict(zip(keys, row, strict=True))


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def six(value):
    return float(f"{value:.6g}")


# Desired binding roof → ranges of B, S, peak and bandwidth that often make it bind.
SPANS = {
    "compute": ((500, 8000), (64, 512), (1e14, 3e14), (3e12, 8e12)),
    "weights": ((1, 200), (64, 2000), (2e14, 2e15), (5e11, 8e12)),
    "cache": ((20, 400), (4000, 60_000), (2e14, 2e15), (5e11, 8e12)),
}
STEP = "config, B, S, width, kv_bytes, peak, bandwidth"


def a_step(rng):
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


OF_A_CONFIG = {
    "tied tables": lambda config, **others: config["tie_word_embeddings"],
    "two tables": lambda config, **others: not config["tie_word_embeddings"],
    "shared experts": lambda config, **others: config["n_shared_experts"] > 0,
    "no shared expert": lambda config, **others: config["n_shared_experts"] == 0,
}
BOUND = {
    "compute-bound": bound_by("compute"),
    "bound by weights": bound_by("weights"),
    "bound by caches": bound_by("cache"),
}
FEW = {"config": alder, "B": 16, "S": 3000, "width": 2, "kv_bytes": 2} | GIVEN
LONG = {"config": dogwood, "B": 16, "S": 50_000, "width": 1, "kv_bytes": 2} | GIVEN
BUSY = {"config": dogwood, "B": 4000, "S": 10_000, "width": 1, "kv_bytes": 1} | LOW_RIDGE
BARELY = {"config": birch, "B": 200, "S": 64, "width": 0.5, "kv_bytes": 0.5} | LOWEST_RIDGE
ALONE = {"config": dogwood, "B": 1, "S": 3000, "width": 2, "kv_bytes": 1} | SLOW
# Cedar and Elder are so small that norms, routers and off-by-one errors exceed the tolerance.
SMALL = {"config": cedar, "B": 2, "S": 7, "width": 2, "kv_bytes": 0.5} | GIVEN
SMALL_BUSY = {"config": cedar, "B": 1500, "S": 2, "width": 0.5, "kv_bytes": 0.5} | LOW_RIDGE
SMALL_ALONE = {"config": elder, "B": 1, "S": 40, "width": 2, "kv_bytes": 1} | HIGH_RIDGE
SMALL_LONG = {"config": elder, "B": 30, "S": 20_000, "width": 0.5, "kv_bytes": 2} | HIGH_RIDGE
MIDDLE = {"config": birch, "B": 40, "S": 700, "width": 0.5, "kv_bytes": 0.5} | HIGH_RIDGE

# %% [markdown]
# ## Part 1: weights (7 points)
#
# Count the weights of the matrices; leave out norms and biases.
#
# - Attention, in each layer: a matrix for the queries of all N heads, one each for the keys and the
#   values of all K heads, and one that takes the results of all N heads back to the width D.
# - The router of a layer: one matrix with D rows and E columns.
# - An expert: a gated MLP of three matrices, gate and up from D to X and down from X to D. A shared
#   expert has the same three.
# - The tables: embedding and output matrix, each with V rows of D weights, or one table for both.
#
# How many weights are there in all? And with how many is one token multiplied on its way through
# the model? It passes through its k routed experts, all shared experts, and all else; in the
# embedding it only looks up a row, which doesn't count. The output matrix counts as a whole, tied
# or not.


# %%
def parameters(config):
    """Weights in all, and weights that a token is multiplied with: a pair (in all, of a token)."""
    L, D, V = config["num_hidden_layers"], config["hidden_size"], config["vocab_size"]
    N, K, H = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    E, k = config["n_routed_experts"], config["num_experts_per_tok"]
    one = 3 * D * config["moe_intermediate_size"]
    both = 2 * D * H * (N + K) + D * E + config["n_shared_experts"] * one
    ends = 1 if config["tie_word_embeddings"] else 2
    return L * (both + E * one) + ends * V * D, L * (both + k * one) + V * D


# %% grading


def counted_by(**counted):
    return lambda config: parameters_if(config, **counted)


part(
    parameters,
    "Write down the weights of one layer in four lines: attention, router, one expert, and how "
    "many experts. Three of the lines are the same in both counts: which one is not? Then "
    "multiply by the layers, and go to the tables: which of the two does a token only look up?",
    kind="numbers",
    cases=tuple({"config": one} for one in configs),
    ranges={"config": Made(a_config, "the config files of other models")},
    branches=OF_A_CONFIG,
    wrong={
        "all-experts-per-token": counted_by(taken="n_routed_experts"),
        "two-matrices-an-expert": counted_by(gates=2),
        "shared-experts-left-out": counted_by(shared=0),
        "router-left-out": counted_by(router=0),
        "heads-not-shared": counted_by(kv="num_attention_heads"),
        "head-width-from-the-model": counted_by(given=False),
        "queries-as-wide-as-the-model": counted_by(queries=1),
        "dense-width": counted_by(X="intermediate_size"),
        "shared-experts-as-wide-as-dense": counted_by(shared_X="intermediate_size"),
        "layers-left-out": counted_by(layers=1),
        "embedding-multiplied": counted_by(ends=lambda config: (tables(config), tables(config))),
        "output-matrix-left-out": counted_by(ends=lambda config: (tables(config), 0)),
        "tables-left-out": counted_by(ends=lambda config: (0, 0)),
        "tied-table-twice": counted_by(ends=lambda config: (2, 1)),
        "one-table-always": counted_by(ends=lambda config: (1, 1)),
        "norms-counted": counted_by(norms=1),
        "swapped": lambda config: parameters_if(config)[::-1],
    },
)

# %% [markdown]
# ## Part 2: the cache of a position (3 points)
#
# The cache keeps the keys and the values of every position, in every layer. How many bytes is that
# for one position of one sequence, if an element takes `kv_bytes` bytes (½ for int4, and so on)?


# %%
def cache_per_position(config, kv_bytes):
    """Bytes of the cache for one position of one sequence: a number."""
    heads = config["num_hidden_layers"] * config["num_key_value_heads"]
    return 2 * heads * config["head_dim"] * kv_bytes


# %% grading
def cached_by(**counted):
    return lambda config, kv_bytes: cache(config, kv_bytes, **counted)


WIDTHS = {"kv_bytes": Choice(0.5, 1, 2)}


part(
    cache_per_position,
    "What does one layer keep of a position, and for which of the two kinds of heads? Count the "
    "elements, then the layers, and turn elements into bytes. Which keys of the file did you not "
    "need, and does that surprise you?",
    key="cache",
    cases=(
        {"config": alder, "kv_bytes": 2},
        {"config": birch, "kv_bytes": 1},
        {"config": cedar, "kv_bytes": 0.5},
        {"config": alder, "kv_bytes": 0.5},
        {"config": dogwood, "kv_bytes": 2},
        {"config": elder, "kv_bytes": 1},
    ),
    ranges={"config": Made(a_config, "the config files of other models")} | WIDTHS,
    branches=OF_A_CONFIG,
    wrong={
        "values-not-counted": cached_by(kept=1),
        "heads-not-shared": cached_by(kv="num_attention_heads"),
        "one-layer": cached_by(layers=1),
        "head-width-from-the-model": cached_by(given=False),
        "cache-as-wide-as-the-model": cached_by(kv="num_attention_heads", given=False),
        "elements-for-bytes": lambda config, kv_bytes: cache(config, 1),
        "bits-for-bytes": lambda config, kv_bytes: cache(config, 8 * kv_bytes),
    },
)

# %% [markdown]
# ## Part 3: a decode step (5 points)
#
# A step writes one token for each of `B` sequences. How long does it take at least, if arithmetic
# and traffic overlap perfectly?
#
# - Arithmetic: two FLOPs for each weight that a token is multiplied with, at `peak`, whatever the
#   type of the weights. Leave out the FLOPs of queries with keys and of probabilities with values.
# - Traffic: the weights, `width` bytes each, and the caches, `kv_bytes` bytes an element, at
#   `bandwidth`. Of each sequence `S` positions are read. Leave out everything else: rows of the
#   embedding, activations, and all that is written.
# - A step loads once whatever any token is multiplied with: attention, router, shared experts, the
#   output matrix, and of the routed experts those that at least one of the B tokens takes. The
#   router has no favorites: each token takes k distinct ones of the E experts, every choice is as
#   likely as any other, and tokens choose independently. Take the expected number of distinct
#   experts in a layer. It need not be a whole number; don't round it.


# %%
def step_time(config, B, S, width, kv_bytes, peak, bandwidth):
    """Lower bound of a decode step in seconds: a number.

    B: sequences. S: positions of each. width: bytes of a weight. kv_bytes: bytes of an element of
    the cache. peak: FLOP/s. bandwidth: bytes/s.
    """
    in_all, of_token = parameters(config)
    L, D, E = config["num_hidden_layers"], config["hidden_size"], config["n_routed_experts"]
    one = 3 * D * config["moe_intermediate_size"]
    not_taken = E * (1 - config["num_experts_per_tok"] / E) ** B
    looked_up = 0 if config["tie_word_embeddings"] else config["vocab_size"] * D
    loaded = width * (in_all - looked_up - L * one * not_taken)
    caches = B * S * cache_per_position(config, kv_bytes)
    return max(2 * B * of_token / peak, (loaded + caches) / bandwidth)


# %% grading
def for_each_token(E, k, B):
    return k * B


def with_replacement(E, k, B):
    return E * (1 - (1 - 1 / E) ** (k * B))


LOOKED_UP = {"config": elder, "B": 2000, "S": 20, "width": 0.5, "kv_bytes": 1} | LOWEST_RIDGE


part(
    step_time,
    "Two times, and the longer one is the bound. For the arithmetic, your first function already "
    "has the weights of a token. For the bytes, ask of each group of weights whether the batch "
    "changes how many of them are loaded: only for one it does. How likely is it that a given "
    "expert is missed by one token, and by all of them? Then add what each sequence brings.",
    key="step",
    cases=(
        *(FEW, LONG, BUSY, BARELY, ALONE, MIDDLE),
        *(SMALL, SMALL_BUSY, SMALL_ALONE, SMALL_LONG, LOOKED_UP),
    ),
    ranges={STEP: Made(lambda rng: tuple(a_step(rng).values()), "steps of other models")},
    branches=OF_A_CONFIG
    | BOUND
    | {
        "few of the experts": lambda **case: share_of_experts(**case) < 0.5,
        "most of the experts": lambda **case: 0.5 < share_of_experts(**case) < 0.95,
        "nearly all of the experts": lambda **case: share_of_experts(**case) > 0.95,
    },
    wrong={
        "all-experts-loaded": step_by(loaded=all_experts),
        "experts-of-one-token": step_by(loaded=of_one_token),
        "no-expert-shared": step_by(loaded=none_shared),
        "loaded-for-each-token": step_by(loaded=for_each_token),
        "drawn-with-replacement": step_by(loaded=with_replacement),
        "whole-file-loaded": step_by(loaded=all_experts, looked_up=1),
        "embedding-loaded": step_by(looked_up=1),
        "all-experts-per-token": step_by(taken="n_routed_experts"),
        "cache-not-counted": step_by(caches=0),
        "one-cache-for-all": step_by(caches=1),
        "multiply-add-once": step_by(flops=1),
        "int8-arithmetic": lambda width, peak, **case: step(
            **case, width=width, peak=peak * 2 / width
        ),
        "no-ceiling": lambda **case: times(**case)[1],
        "attention-arithmetic-counted": step_by(attention=1),
        "no-overlap": step_by(sum),
        "shorter-of-the-two": step_by(min),
        "milliseconds": lambda **case: 1e3 * step(**case),
    },
)

# %% [markdown]
# ## Part 4: which change helps most (5 points)
#
# There is time for one of three changes. Which of them helps most? Compare the tokens per second of
# all sequences together, at the lower bound of part 3: return, for each change, how many times as
# many there are after it. A change that gains nothing has 1, and the largest number is that of the
# change which helps most.
#
# Each change replaces one argument and leaves all others as they are, for instance
#
# ```python
# changes = {"weights in int8": {"width": 1}, "twice the batch": {"B": 32}}
# ```
#
# Narrower weights don't speed up the arithmetic, which stays in bf16.


# %%
def gains(config, B, S, width, kv_bytes, peak, bandwidth, changes):
    """Tokens per second after each change, divided by those before it.

    changes: dictionary from the name of a change to a dictionary with the one argument that it
    replaces: B, width, kv_bytes, peak or bandwidth. The others: as in part 3.
    Returns a dictionary from the name of a change to a number.
    """
    now = {"B": B, "S": S, "width": width, "kv_bytes": kv_bytes}
    now |= {"peak": peak, "bandwidth": bandwidth}
    rate = B / step_time(config, **now)
    found = {}
    for name, change in changes.items():
        then = now | change
        found[name] = then["B"] / step_time(config, **then) / rate
    return found


# %% grading
def gains_if(changes, step=step, **now):
    """Return the factor by which each change raises the tokens per second."""
    rate = now["B"] / step(**now)
    return {
        name: (now | change)["B"] / step(**now | change) / rate for name, change in changes.items()
    }


def gains_by(**counted):
    return lambda **case: gains_if(**case, step=step_by(**counted))


def one_after_the_other(changes, **now):
    """Return the gains if each change were made on top of those before it."""
    made, found = {}, {}
    for name, change in changes.items():
        made |= change
        found |= gains_if({name: dict(made)}, **now)
    return found


def gains_in_time(changes, **now):
    return {name: step(**now) / step(**now | change) for name, change in changes.items()}


def changed_alone(changes, **now):
    """Return the factor by which each change improves the quantity it sets."""
    found = {}
    for name, change in changes.items():
        ((key, value),) = change.items()
        found[name] = now[key] / value if key in ("width", "kv_bytes") else value / now[key]
    return found


def with_old_experts(changes, **now):
    def loaded(E, k, B):
        return expected(E, k, now["B"])

    return gains_if(changes, step_by(loaded=loaded), **now)


def with_faster_arithmetic(changes, **now):
    """Return the gains if narrower weights were also multiplied faster."""
    also = {
        name: change | {"peak": now["peak"] * now["width"] / change["width"]}
        if "width" in change
        else change
        for name, change in changes.items()
    }
    return gains_if(also, **now)


def changed_by(other, **case):
    """Return the largest relative difference between `gains` and `other`."""
    found = other(**case)
    return max(abs(found[name] / gain - 1) for name, gain in gains_if(**case).items())


def changes_of(*keys):
    return lambda changes, **now: {key for one in changes.values() for key in one} >= set(keys)


def a_step_to_change(rng):
    """Return the arguments of a step, and three changes to them."""
    case = a_step(rng)
    possible = {
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


def changed(case, **changes):
    return {**case, "changes": {name.replace("_", " "): one for name, one in changes.items()}}


part(
    gains,
    "Write a helper that gives the tokens per second of one setting: how many tokens does a step "
    "write, and how long does it take at least? Call it with the setting as it is, and once for "
    "each change with one argument replaced. Both the tokens and the time may have changed.",
    kind="numbers",
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
    ranges={f"{STEP}, changes": Made(a_step_to_change, "steps of other models, with changes")},
    branches=BOUND
    | {
        "a larger batch": changes_of("B"),
        "narrower weights": changes_of("width"),
        "a narrower cache": changes_of("kv_bytes"),
        "a higher peak": changes_of("peak"),
        "a faster memory": changes_of("bandwidth"),
        "a table more would show": lambda **case: changed_by(gains_by(looked_up=1), **case) > 1e-4,
        "narrower weights gain nothing": lambda **case: (
            changes_of("width")(**case) and bound_by("compute")(**case)
        ),
        "a larger batch takes more experts": lambda **case: (
            changes_of("B")(**case) and share_of_experts(**without_changes(case)) < 0.8
        ),
    },
    wrong={
        "time-for-tokens": gains_in_time,
        "changes-piled-up": one_after_the_other,
        "changed-alone": changed_alone,
        "experts-of-the-old-batch": with_old_experts,
        "int8-arithmetic": with_faster_arithmetic,
        "divided-the-wrong-way": lambda **case: {
            name: 1 / gain for name, gain in gains_if(**case).items()
        },
        "no-overlap": gains_by(over=sum),
        "all-experts-loaded": gains_by(loaded=all_experts),
        "experts-of-one-token": gains_by(loaded=of_one_token),
        "no-expert-shared": gains_by(loaded=none_shared),
        "cache-not-counted": gains_by(caches=0),
        "one-cache-for-all": gains_by(caches=1),
    },
)

# %% [markdown]
# ## To think about (not graded)
#
# How many sequences of 4,096 positions fit beside the weights of `alder`, both in bf16, on a chip
# with 80 GB? Compare that with the batch that its experts need on the chip above. What follows for
# one chip alone, and what changes if many chips share the experts? And real routers have favorites:
# which of your bounds does that move, and which way?

# %% next [markdown]
# The chapter “Your own model” says how to put in a model of your own, and the chapter “Summary and
# cheat sheet” puts the formulas on one page.

# %% moral [markdown]
# A mixture of experts computes with few of its weights, and a step for several tokens loads nearly
# all of them. So its experts need a larger batch than a dense layer: by as many times as there are
# experts for each one that a token takes. Below that, bytes decide, and what helps is what makes
# them fewer, or shares them among more tokens.

# %% thoughts [markdown]
# Beside the weights there is room for less than a twentieth of the batch that the experts need, so
# on one chip they always wait for bytes. Where many chips share the experts, each loads its part of
# them for the tokens of all chips, and holds fewer weights, which leaves room for more caches:
# there an expert can get enough tokens. With favorites, a small batch takes fewer distinct experts,
# so a step can be shorter than your bound. A large batch still loads all of them: its bytes stay as
# they are, but favorites are compute-bound at smaller batches, and the others only at larger ones.
# If chips share the experts, the chip with the favorites keeps all others waiting.
