"""Tests of layers by brute force: positions seen, chunks read, experts taken."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

quick = settings(deadline=None, max_examples=80)
HEADS = {"count": 1, "N": 4, "K": 2, "H": 6}
sizes = st.integers(1, 40)


def seen(query, window):
    """Return the positions, from 1, that the query at position `query` sees."""
    return [p for p in range(1, query + 1) if not window or p > query - window]


@quick
@given(sizes, st.integers(0, 50))
def test_pair_counts_match_an_explicit_mask(S, window):
    layer = rl.Layer(**HEADS, window=window)
    assert layer.pairs(S) == sum(len(seen(query, window)) for query in range(1, S + 1))
    assert layer.visible(S) == len(seen(S, window))
    assert layer.pairs(np.array([S, 3.0]))[0] == layer.pairs(S)


@quick
@given(sizes, sizes, st.integers(0, 50))
def test_a_chunk_reads_all_positions_that_its_queries_see(S, chunk, window):
    layer = rl.Layer(**HEADS, window=window)
    read = 0
    for start in range(1, S + 1, chunk):
        queries = range(start, min(start + chunk, S + 1))
        read += len(set().union(*(seen(query, window) for query in queries)))
    assert layer.positions_read(S, chunk) == read
    assert np.all(layer.positions_read(np.array([float(S)] * 2), float(chunk)) == read)


@pytest.mark.parametrize(("E", "k", "tokens"), [(3, 1, 3), (4, 2, 3), (5, 2, 2), (4, 4, 2)])
def test_expected_fewest_and_most_experts_match_all_routings(E, k, tokens):
    layer = rl.Layer(**HEADS, experts=E, active=k, X=8)
    choices = list(itertools.combinations(range(E), k))
    found = [len(set().union(*each)) for each in itertools.product(choices, repeat=tokens)]
    assert layer.touched(tokens, "expected") == pytest.approx(sum(found) / len(found), rel=1e-12)
    assert layer.touched(tokens, "fewest") == min(found)
    assert layer.touched(tokens, "most") == max(found)


@pytest.mark.parametrize("tokens", [1, 2, 64, 10**6, 10**30])
def test_expected_experts_lie_between_the_fewest_and_the_most(tokens):
    layer = rl.Layer(**HEADS, experts=128, active=8, X=8)
    fewest, mean, most = (layer.touched(tokens, how) for how in ("fewest", "expected", "most"))
    assert 8 == fewest <= mean <= most <= 128
    assert (mean == 8) == (tokens == 1)


@pytest.mark.parametrize(("E", "k", "chips"), [(4, 2, 2), (6, 3, 3), (6, 2, 6), (4, 1, 1)])
def test_chips_reached_is_the_mean_over_all_choices_of_experts(E, k, chips):
    layer = rl.Layer(**HEADS, experts=E, active=k, X=8)
    choices = list(itertools.combinations(range(E), k))
    others = [len({e * chips // E for e in taken} - {0}) for taken in choices]
    mean = Fraction(sum(others), len(choices))
    assert layer.chips_reached(chips) == pytest.approx(float(mean), rel=1e-12)


def matrices(layer, D):
    """Return the sizes of the matrices of latent attention, by name."""
    N, nope, value = layer.N, layer.H - layer.rope, layer.V or layer.H
    queries = {"q": D * N * layer.H}
    if layer.q_rank:
        queries = {"q_a": D * layer.q_rank, "q_b": layer.q_rank * N * layer.H}
    return queries | {
        "kv_a": D * (layer.kv_rank + layer.rope),
        "kv_b": layer.kv_rank * N * (nope + value),
        "o": N * value * D,
    }


@pytest.mark.parametrize("q_rank", [7, 0])
@pytest.mark.parametrize("V", [5, 0])
def test_latent_attention_has_the_weights_of_its_matrices(q_rank, V):
    layer = rl.Layer(3, N=4, K=4, H=6, F=8, V=V, q_rank=q_rank, kv_rank=11, rope=2)
    counted = matrices(layer, 16)
    assert layer.projections(16) == sum(counted.values())
    assert layer.expansion() == counted["kv_b"]
    # Each chip holds its share of the heads, but all of the matrices that make latents.
    shared = counted.get("q_a", 0) + counted["kv_a"]
    assert layer.projections(16, 2) == shared + (sum(counted.values()) - shared) / 2
    assert (layer.cached(), layer.cached(4)) == (13, 13)


def test_weights_on_a_chip_are_exact_at_any_size():
    n, D = 10**20 + 1, 10**15 + 1
    heads = {"count": 1, "N": 2 * n, "K": 2 * n, "H": 6}
    plain, latent = rl.Layer(**heads), rl.Layer(**heads, kv_rank=11, rope=2)
    assert plain.projections(D, 2) == 4 * D * n * 6
    assert plain.cached(2) == 2 * n * 6
    assert latent.expansion(2) == 11 * n * (6 - 2 + 6)
    assert latent.projections(D, 2) == D * (11 + 2) + 2 * D * n * 6 + 11 * n * (6 - 2 + 6)


def test_a_layer_has_only_attention_heads_by_default():
    nothing = dict.fromkeys(
        ["V", "F", "experts", "active", "X", "window", "q_rank", "kv_rank", "rope", "gains"], 0
    )
    assert rl.Layer(**HEADS) == rl.Layer(**HEADS, **nothing, gated=True, expert_biases=False)


WRONG = [
    ({"count": 0}, "count must be above zero"),
    ({"N": 2.5}, "N must be a whole number"),
    ({"K": 3}, "N must be a multiple of K"),
    ({"window": -1}, "window must be zero or above"),
    ({"experts": 4, "active": 2}, "X must be above zero"),
    ({"experts": 4, "X": 8}, "active must be above zero"),
    (
        {"experts": 4, "active": 5, "X": 8},
        "active must be at most experts; got active=5, experts=4",
    ),
    ({"rope": 6}, "rope must be less than H; got rope=6, H=6"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_impossible_layers_are_rejected(change, message):
    with pytest.raises(ValueError, match=message):
        rl.Layer(**HEADS | change)


@pytest.mark.parametrize("name", ["gated", "expert_biases"])
def test_flags_of_layers_must_be_bools(name):
    with pytest.raises(TypeError, match=f"{name} must be True or False; got 'yes'"):
        rl.Layer(**HEADS, **{name: "yes"})


def test_invalid_kinds_of_layers_or_quantized_parts_raise_errors():
    sizes = {"layers": 2, "D": 4, "F": 8, "N": 4, "K": 2, "H": 6, "vocabulary": 8}
    with pytest.raises(ValueError, match="layers must be the sum of all kinds, 1; got 2"):
        rl.Model("tiny", **sizes, kinds=(rl.Layer(**HEADS),))
    with pytest.raises(TypeError, match="kinds must be a sequence of Layer; got 'full'"):
        rl.Model("tiny", **sizes, kinds=("full",))
    with pytest.raises(ValueError, match=r"quantized must be one of .*MLP.*; got 'mlp'"):
        rl.Model("tiny", **sizes, quantized={"mlp": "int8"})


# A model with a windowed layer and two layers with experts, small enough to count by hand.
WINDOW, CHUNK, E = 3, 4, 6
LAYERS = (
    rl.Layer(1, N=4, K=2, H=6, F=8, gains=5, window=WINDOW),
    rl.Layer(2, N=4, K=2, H=6, F=4, gains=7, experts=E, active=2, X=8, expert_biases=True),
)
MIXED = rl.Model("mixed", 3, 16, 4, 4, 2, 6, 32, kinds=LAYERS)


@pytest.mark.parametrize("tied", [False, True])
def test_active_parameters_are_those_that_one_token_uses(tied):
    model = dataclasses.replace(MIXED, tied=tied)
    # A token leaves four of six experts idle in each of two layers.
    idle, table = 2 * (E - 2) * (3 * 16 * 8 + 2 * 8 + 16), 32 * 16
    assert model.active_parameters() == model.parameters - idle
    tables = table if tied else 2 * table
    assert model.active_parameters(tables=False) == model.parameters - idle - tables
    with pytest.raises(TypeError, match="tables must be True or False"):
        model.active_parameters(tables="no")


def counted_prefill(B, S, chunk):
    """Return FLOPs and bytes of a prefill of `MIXED` in bf16, chunk by chunk.

    All experts are taken.
    """
    flops = loaded = written = 0
    D, table = 16, 32 * 16
    projections = D * 6 * (2 * 4 + 2 * 2)
    dense, shared = 3 * D * 8, 3 * D * 4
    expert = 3 * D * 8
    router = D * E
    for start in range(0, S, chunk):
        T = min(chunk, S - start)
        flops += 2 * B * T * (3 * projections + dense + 2 * (shared + router + 2 * expert))
        weights = 3 * projections + dense + 2 * (shared + router) + 5 + 2 * 7 + D
        loaded += 2 * (weights + 2 * E * (expert + 2 * 8 + D) + B * T * D)
        for layer, window in enumerate([WINDOW, 0, 0]):
            queries = [seen(start + t + 1, window) for t in range(T)]
            flops += 4 * 6 * 4 * B * sum(map(len, queries))
            loaded += 2 * 2 * 2 * 6 * B * len(set().union(*queries))
            assert layer < 3
        written += 3 * 2 * 2 * 2 * 6 * B * T
    flops += 2 * B * table
    loaded += 2 * table
    written += 2 * B * 32
    return flops, loaded, written


@pytest.mark.parametrize("S", [1, 4, 7, 12])
@pytest.mark.parametrize("chunk", [1, 3, CHUNK, 12])
def test_prefill_matches_an_explicit_count_of_its_chunks(S, chunk):
    op = MIXED.prefill(4, S, chunk=chunk, experts="most")
    assert (op.flops, op.loaded, op.written) == counted_prefill(4, S, chunk)
    whole = MIXED.prefill(4, S, experts="most")
    assert whole == MIXED.prefill(4, S, chunk=S, experts="most")
    assert (op.flops, op.written, op.held) == (whole.flops, whole.written, whole.held)


def test_logits_of_all_positions_are_counted():
    last, every = (MIXED.prefill(2, 7, logits=which) for which in ("last", "all"))
    rows = {part.name: part.flops for part in every.parts}
    assert rows["logits"] == 2 * 2 * 7 * 32 * 16
    assert every.flops - last.flops == 2 * 2 * 6 * 32 * 16
    assert every.written - last.written == 2 * 2 * 6 * 32
    # "last": only the last of three chunks loads the output matrix. "all": each of them does.
    for which, passes in (("last", 1), ("all", 3)):
        chunks = {part.name: part for part in MIXED.prefill(2, 7, chunk=3, logits=which).parts}
        assert chunks["logits"].loaded == passes * 2 * 32 * 16


STEPS = [
    lambda model, **layout: model.decode(8, 100, **layout),
    lambda model, **layout: model.prefill(8, 100, chunk=32, **layout),
    lambda model, **layout: model.decode(np.array([8, 16]), 100, **layout),
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("model", rl.models(), ids=lambda model: model.name)
def test_the_parts_of_a_step_add_up_to_its_counts(model, step):
    for layout in ({}, {"chips": 2, "replicas": 2}):
        op = step(model, **layout)
        assert len({part.name for part in op.parts}) == len(op.parts) >= 5
        for count in ("flops", "loaded", "written", "held"):
            added = sum(getattr(part, count) for part in op.parts)
            assert np.array_equal(added, getattr(op, count))
        for way in ("sent", "hops"):
            added = sum(getattr(part, way).get("link", 0) for part in op.parts)
            assert np.array_equal(added, getattr(op, way).get("link", 0))


@pytest.mark.parametrize("name", ["Mixtral 8x7B", "gpt-oss 120B", "DeepSeek-V3"])
def test_expert_parallelism_only_redistributes_the_work_of_experts(name):
    model = rl.model(name)
    alone = model.decode(64, 4096)
    spread = model.decode(64, 4096, 2, replicas=4, expert_parallel=True)
    sliced = model.decode(64, 4096, 2, replicas=4)

    def rows(op):
        return {part.name: part for part in op.parts}

    assert rows(spread)["experts"].flops * 8 == rows(alone)["experts"].flops
    assert rows(spread)["experts"].loaded * 8 == pytest.approx(rows(alone)["experts"].loaded)
    assert rows(spread)["experts"].held * 8 == rows(alone)["experts"].held
    assert rows(sliced)["experts"].held == 4 * rows(spread)["experts"].held
    assert spread.chips == sliced.chips == 8
    for row in ("projections", "attention", "logits"):
        assert rows(spread)[row] == rows(sliced)[row]


@pytest.mark.parametrize("shared", [0, 6])
def test_expert_parallel_tokens_travel_to_their_chips_and_back(shared):
    # Two replicas of three chips, one expert on each chip: a token takes two experts at random.
    # A shared expert is split over a replica's chips, so its sums need a second all-reduce.
    layer = rl.Layer(2, N=6, K=3, H=4, F=shared, experts=6, active=2, X=6, gains=32)
    model = rl.Model("wide", 2, 16, 6, 6, 3, 4, 30, kinds=(layer,))
    B, chips, replicas = 12, 3, 2
    op = model.decode(B, 9, chips, replicas=replicas, expert_parallel=True)
    choices = list(itertools.combinations(range(6), 2))
    away = Fraction(sum(len(set(taken) - {0}) for taken in choices), len(choices))
    tokens = B // replicas
    all_to_alls = 2 * float(away) * 2 * 16 * tokens / chips
    attention = rl.all_reduce(2 * 16 * tokens, chips)
    last = attention if shared else rl.all_gather(2 * 16 * tokens, chips)
    assert op.sent["link"] == pytest.approx(2 * (all_to_alls + attention + last))
    passes = 2 if shared else 1
    assert op.hops["link"] == 2 * (2 * (chips - 1) + 2 * 5 + passes * (chips - 1))


def test_experts_split_over_chips_need_two_all_reduces_per_layer():
    op = MIXED.decode(4, 9, 2)
    assert op.sent == {"link": 3 * 2 * rl.all_reduce(2 * 4 * 16, 2)}
    assert op.hops == {"link": 3 * 2 * 2}


def test_chips_must_divide_the_width_of_experts_unless_experts_stay_whole():
    layer = rl.Layer(1, N=4, K=4, H=4, F=4, experts=4, active=2, X=6)
    model = rl.Model("narrow", 1, 16, 4, 4, 4, 4, 32, kinds=(layer,))
    with pytest.raises(ValueError, match=r"chips must divide X; got X=6, chips=4; .* over 1, 2$"):
        model.decode(4, 9, 4)
    assert model.decode(4, 9, 4, expert_parallel=True).chips == 4


LAYOUTS = [
    ({"chips": 3}, "chips must divide N; got N=32, chips=3; Mixtral 8x7B can be split over 1, 2, "
     "4, 8, 16, 32"),
    ({"replicas": 3}, "replicas must divide B; got B=4, replicas=3"),
    ({"chips": 16, "expert_parallel": True}, "chips times replicas must divide experts; got "
     "experts=8, chips times replicas=16; Mixtral 8x7B can be spread over 1, 2, 4, 8"),
    ({"replicas": [1, 3], "B": 12, "expert_parallel": True}, "chips times replicas must divide "
     r"experts; got experts=8, chips times replicas=\[1\. 3\.\]; Mixtral 8x7B can be spread .*"),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "message"), LAYOUTS)
def test_errors_name_the_size_that_an_uneven_layout_does_not_divide(layout, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        rl.model("Mixtral 8x7B").decode(**{"B": 4, "S": 100} | layout)


def test_expert_parallel_needs_experts():
    with pytest.raises(ValueError, match="expert_parallel needs a model with experts; got Llama 3"):
        rl.model("Llama 3 8B").decode(4, 100, expert_parallel=True)


def test_attention_windows_limit_what_a_step_reads_and_holds():
    model = rl.model("Gemma 3 27B")
    local, full = model.kinds
    assert (local.count, local.window, full.count, full.window) == (52, 1024, 10, 0)
    far, near = model.decode(1, 131_072), model.decode(1, 1024)
    position = 2 * 2 * 16 * 128
    assert far.held - near.held == position * 10 * (131_072 - 1024)
    assert math.isclose(far.loaded - near.loaded, position * 10 * (131_072 - 1024))


def test_bytes_of_quantized_weights_include_their_scales():
    model = rl.model("gpt-oss 120B")
    experts = next(part for part in model.decode(1, 1, experts="fewest").parts
                   if part.name == "experts")  # fmt: skip
    each = 3 * 2880 * 2880 + 3 * 2880
    assert experts.loaded == 36 * 4 * each * (4 + 8 / 32) / 8
    assert experts.held == 32 * experts.loaded
    assert model.decode(1, 1, w="bf16").held > 3 * model.decode(1, 1).held


def test_weights_of_different_types_need_an_explicit_compute_type():
    model = rl.model("gpt-oss 120B")
    with pytest.raises(ValueError, match="compute must be given: weights of this model differ"):
        model.decode(1, 1, x="fp8")
    assert model.decode(1, 1, x="fp8", compute="fp8").compute.name == "fp8"
