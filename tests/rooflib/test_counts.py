"""FLOPs and bytes of operations and of a model's steps equal those of loops that count each one."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

BITS = {"fp32": 32, "bf16": 16, "int8": 8, "fp4": 4}
quick = settings(deadline=None, max_examples=40)
small = st.integers(1, 5)
types = st.sampled_from(sorted(BITS))


class Touched(dict[Any, int]):
    """Elements that were touched, with their bits: each one moves once."""

    @property
    def bytes(self) -> Fraction:
        return Fraction(sum(self.values()), 8)


def counts(op: rl.Work) -> tuple[Any, ...]:
    return op.flops, op.loaded, op.written


# ---- operations


def matmul_by_hand(B, D, F, x, w, out, per_example=False):
    flops, loaded, written = 0, Touched(), Touched()
    for b, f, d in itertools.product(range(B), range(F), range(D)):
        loaded["x", b, d] = BITS[x]
        loaded["w", b if per_example else 0, d, f] = BITS[w]
        flops += 2
        written[b, f] = BITS[out]
    return flops, loaded.bytes, written.bytes


@quick
@given(small, small, small, types, types, types)
def test_matmuls_count_each_product_sum_and_element_once(B, D, F, x, w, out):
    how = {"x": x, "w": w, "out": out, "compute": "bf16"}
    by_hand = matmul_by_hand(B, D, F, x, w, out)
    assert counts(rl.matmul(B, D, F, **how)) == by_hand
    by_hand = matmul_by_hand(B, D, F, x, w, out, per_example=True)
    assert counts(B * rl.matmul(1, D, F, **how)) == by_hand
    flops, loaded, written = matmul_by_hand(1, D, 1, x, x, x)
    assert counts(rl.dot(D, x=x)) == (flops - 1, loaded, written)  # the first product isn't added


@quick
@given(small, small, small, types, types)
def test_elementwise_operations_and_norms_count_each_element_once(N, inputs, each, x, out):
    op = rl.elementwise(N, inputs=inputs, flops_per_element=each, x=x, out=out)
    moved = [Fraction(N * BITS[kind], 8) for kind in (x, out)]
    assert counts(op) == (N * each, inputs * moved[0], moved[1])
    B, D, flops, width = N, inputs, 0, Fraction(BITS[x], 8)
    for _ in range(B):
        flops += D + D - 1  # squares and their sum
        flops += 3  # division by D, addition of epsilon, reciprocal square root
        flops += 2 * D  # times the root, times the gain
    assert counts(rl.rms_norm(B, D, x)) == (flops, width * (B * D + D), width * B * D)


# Types of x and w, the type of their product, and bytes of one element of both.
PRODUCTS = [
    ("bf16", "int4", "bf16", 2.5), ("fp16", "fp8", "fp16", 3), ("half", "int8", "fp16", 3),
    ("fp8", "fp4", "fp8", 1.5), ("int4", "int8", "int8", 1.5), ("double", "bf16", "fp64", 10),
    ("bfloat16", "single", "fp32", 6), ("float8", "float8", "fp8", 2), ("TF32", "tf32", "tf32", 8),
]  # fmt: skip


@pytest.mark.parametrize(("x", "w", "product", "width"), PRODUCTS)
def test_types_are_multiplied_in_the_wider_one_and_have_their_width(x, w, product, width):
    op = rl.matmul(1, 1, 1, x=x, w=w)
    assert (op.compute, op.loaded) == (product, width)


def attention_by_hand(B, T, S, N, K, H, causal, fused, x, kv):
    loaded, written, flops, vector, exponentials = Touched(), Touched(), 0, 0, 0
    for b, n, t in itertools.product(range(B), range(N), range(T)):
        group = n // (N // K)
        visible = [s for s in range(S) if not causal or s <= S - T + t]
        for s, h in itertools.product(visible, range(H)):
            loaded["q", b, t, n, h] = BITS[x]
            loaded["k", b, s, group, h] = loaded["v", b, s, group, h] = BITS[kv]
            written["out", b, t, n, h] = BITS[x]
            flops += 2 + 2  # to the score, and from the share to the output
        exponentials += len(visible)
        vector += 2 * (len(visible) - 1) + 2 * len(visible)  # maximum, sum; minus, divided by
        for s in visible if not fused else []:
            for array in ("score", "share"):
                written[array, b, n, t, s] = loaded[array, b, n, t, s] = BITS[x]
    scores = Fraction(0 if fused else exponentials * BITS[x], 8)  # shares take their place
    held = loaded.bytes + written.bytes - 3 * scores
    return flops, vector, exponentials, loaded.bytes, written.bytes, held


@quick
@given(small, small, small, small, small, small, st.booleans(), st.booleans(), types, types)
def test_attention_counts_each_visible_pair_and_element_once(
    B, T, more, groups, K, H, causal, fused, x, kv
):
    shape, how = (B, T, T + more - 1, groups * K, K, H), {"causal": causal, "fused": fused}
    op = rl.attention(*shape, **how, x=x, kv=kv, compute="bf16")
    on_others = (op.amounts[kind] for kind in ("vector fp32", "exponentials"))
    found = (op.flops, *on_others, op.loaded, op.written, op.held)
    assert found == attention_by_hand(*shape, causal, fused, x, kv)


# ---- many chips


def ring(held: list[np.ndarray]) -> tuple[int, int]:
    """Reduce and gather arrays around a ring; return the elements that a chip sends in each."""
    N = len(held)
    chunks, sent = [np.split(array.copy(), N) for array in held], []
    for lap in (0, 1):
        sent.append(0)
        for step in range(N - 1):
            moving = [(i, (i + lap - step) % N) for i in range(N)]
            copies = [(i, index, chunks[i][index].copy()) for i, index in moving]
            for i, index, chunk in copies:
                into = chunks[(i + 1) % N]
                into[index] = chunk if lap else into[index] + chunk
            sent[-1] += held[0].size // N
    for found in chunks:
        np.testing.assert_array_equal(np.concatenate(found), sum(held))
    return sent[0], sent[1]


@pytest.mark.parametrize("N", [1, 2, 3, 8])
def test_collectives_send_as_much_as_a_ring_that_really_sums(N):
    rng = np.random.default_rng(N)
    scattered, gathered = ring([rng.integers(0, 99, 24 * N) for _ in range(N)])
    size = 24 * N  # of one byte each
    assert rl.reduce_scatter(size, N) == scattered
    assert rl.all_gather(size, N) == gathered
    assert rl.all_reduce(size, N) == scattered + gathered


# What each split of `matmul` must send for the whole result, or for each chip's part of it.
COLLECTIVES = [
    ("D", "replicated", rl.all_reduce, 2),
    ("D", "sharded", rl.reduce_scatter, 1),
    ("B", "replicated", rl.all_gather, 1),
    ("F", "replicated", rl.all_gather, 1),
    ("B", "sharded", None, 0),
    ("F", "sharded", None, 0),
]


@pytest.mark.parametrize(("split", "result", "collective", "laps"), COLLECTIVES)
@pytest.mark.parametrize("N", [1, 2, 4])
def test_a_chip_of_a_sharded_matmul_does_its_share_and_sends_its_sums(
    split, result, collective, laps, N
):
    sizes = {"B": 4, "D": 8, "F": 12}
    mine = sizes | {split: sizes[split] // N}
    op = rl.split(split, N, **sizes, result=result, w="int8", out="fp32")
    assert counts(op) == matmul_by_hand(*mine.values(), "bf16", "int8", "fp32")
    whole = 4 * sizes["B"] * sizes["F"]
    sent = collective(whole, N) if collective and N > 1 else 0
    assert op.sent == sent
    assert op.hops == (laps * (N - 1) if sent else 0)
    # Its memory holds the inputs, and the larger of its own output and what arrives.
    arrives = whole if result == "replicated" else whole / N
    assert op.held == op.loaded + max(op.written, arrives)


# ---- steps of a model, from a config as in a file

TINY = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 4, "intermediate_size": 8}
TINY |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 3, "vocab_size": 8}
EXPERTS = TINY | {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}


def weights(c: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], str, int]]:
    """Yield the name of each weight but those of experts, what chips split, and its index there."""
    D, N, K, H = (c[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads",
                                     "head_dim"))  # fmt: skip
    for layer, d, h in itertools.product(range(c["num_hidden_layers"]), range(D), range(H)):
        for n in range(N):
            yield ("q", layer, d, n, h), "heads", n
            yield ("o", layer, d, n, h), "heads", n
        for k in range(K):
            yield ("k", layer, d, k, h), "keys", k
            yield ("v", layer, d, k, h), "keys", k
    for layer, d in itertools.product(range(c["num_hidden_layers"]), range(D)):
        yield ("before", layer, d), "norm", 0
        yield ("between", layer, d), "norm", 0
        for e in range(c.get("num_local_experts", 0)):
            yield ("router", layer, d, e), "router", 0
        for f in range(c["intermediate_size"] if "num_local_experts" not in c else 0):
            for name in ("gate", "up", "down"):
                yield (name, layer, d, f), "columns", f
    for d in range(D):
        yield ("end", d), "norm", 0
        for v in range(c["vocab_size"]):
            yield ("logits", v, d), "words", v


def seen(query: int, window: int) -> range:
    """Return the positions that the query at this position sees."""
    return range(max(0, query + 1 - window) if window else 0, query + 1)


def step_by_hand(c, B, S, chunks, chips=1, chip=0, w=2, kv=2, x=2):
    """Return FLOPs, bytes loaded, written and held of one of the chips, weight by weight."""
    H, N, K, layers = (c[key] for key in ("head_dim", "num_attention_heads", "num_key_value_heads",
                                          "num_hidden_layers"))  # fmt: skip
    mine = {n for n in range(N) if n * chips // N == chip}
    here = {"heads": mine, "keys": {n // (N // K) for n in mine}, "norm": {0}, "router": {0}}
    for split, size in (("columns", c["intermediate_size"]), ("words", c["vocab_size"])):
        here[split] = {i for i in range(size) if i * chips // size == chip}
    keys, window = here["keys"], c.get("sliding_window", 0)
    table = w * len(here["words"]) * c["hidden_size"]
    flops = loaded = written = 0
    for start, stop in chunks:
        tokens = B * (stop - start)
        for (name, *_), split, index in weights(c):
            if index not in here[split] or (name == "logits" and stop < S):
                continue
            loaded += w
            rows = B if name == "logits" else tokens
            flops += 2 * rows if split != "norm" else 0
        loaded += w * tokens * c["hidden_size"] / chips  # rows of the embedding table
        queries = [seen(query, window) for query in range(start, stop)]
        flops += layers * B * 4 * H * len(mine) * sum(map(len, queries))
        loaded += layers * B * 2 * kv * H * len(keys) * len(set().union(*queries))
        written += layers * B * 2 * kv * H * len(keys) * (stop - start)
    written += x * B * len(here["words"])
    held = w * sum(index in here[split] for _, split, index in weights(c))
    held += 0 if c.get("tie_word_embeddings") else table
    held += layers * B * 2 * kv * H * len(keys) * min(S, window or S)
    return flops, loaded, written, held


SHAPES = [{}, {"tie_word_embeddings": True}, {"num_key_value_heads": 4}, {"num_key_value_heads": 1}]


@pytest.mark.parametrize("change", SHAPES)
@pytest.mark.parametrize("chips", [1, 2, 4])
def test_a_decode_step_counts_each_weight_and_cached_position_on_each_chip(change, chips):
    config = TINY | change
    model = rl.model_from_config(config)
    for B, S in [(1, 1), (3, 5)]:
        op = model.decode(B, S, chips, w="fp32", kv="int8", x="fp8", compute="fp16")
        assert op.compute == "fp16"
        for chip in range(chips):
            by_hand = step_by_hand(config, B, S, [(S - 1, S)], chips, chip, w=4, kv=1, x=1)
            assert (op.flops, op.loaded, op.written, op.held) == by_hand
        # Two all-reduces of the activations in each layer.
        assert op.sent == 2 * 2 * rl.all_reduce(B * 4, chips)
        assert op.sent - op.spared == 2 * 2 * rl.all_reduce(B * 4, chips, in_switch=True)
        assert op.hops == 2 * 2 * 2 * (chips - 1)


@pytest.mark.parametrize("window", [0, 3])
@pytest.mark.parametrize("S", [1, 4, 7, 12])
@pytest.mark.parametrize("chunk", [1, 3, 4, 12])
def test_a_prefill_reads_the_positions_that_its_chunks_see(window, S, chunk):
    config = TINY | ({"model_type": "mistral", "sliding_window": window} if window else {})
    chunks = [(start, min(start + chunk, S)) for start in range(0, S, chunk)]
    op = rl.model_from_config(config).prefill(3, S, chunk=chunk)
    assert (op.flops, op.loaded, op.written, op.held) == step_by_hand(config, 3, S, chunks)
    # Chunks cross the ring one after the other, twice in each of two layers.
    split = rl.model_from_config(config).prefill(3, S, 2, chunk=chunk)
    assert split.hops == 2 * 2 * 2 * len(chunks)


@pytest.mark.parametrize("B", [1, 2, 3])
def test_a_step_loads_as_many_experts_as_all_routings_do_on_average(B):
    model = rl.model_from_config(EXPERTS)
    pairs = list(itertools.combinations(range(4), 2))
    routings = [len(set().union(*taken)) for taken in itertools.product(pairs, repeat=B)]
    by_hand, expert = step_by_hand(EXPERTS, B, 5, [(4, 5)]), 3 * 4 * 8
    for how, taken in (("expected", fmean(routings)), ("fewest", min(routings)),
                       ("most", max(routings))):  # fmt: skip
        op = model.decode(B, 5, experts=how)
        assert op.loaded == pytest.approx(by_hand[1] + 2 * 2 * taken * expert, rel=1e-12)
        assert op.flops == by_hand[0] + 2 * B * 2 * 2 * expert
        assert op.held == by_hand[3] + 2 * 2 * 4 * expert


def test_whole_experts_on_chips_send_tokens_to_the_chips_of_their_experts_and_back():
    # Two replicas of three chips with one expert each; a token takes two experts at random.
    config = EXPERTS | {"num_attention_heads": 6, "num_key_value_heads": 3, "vocab_size": 30}
    config |= {"num_local_experts": 6, "intermediate_size": 6}
    B, chips, replicas = 12, 3, 2
    op = rl.model_from_config(config).decode(B, 9, chips, replicas=replicas, expert_parallel=True)
    away = fmean(len({*taken} - {0}) for taken in itertools.combinations(range(6), 2))
    tokens = 2 * 4 * B // replicas  # bytes of a replica's activations
    both_ways, sums = 2 * away * tokens / chips, rl.all_reduce(tokens, chips)
    assert op.sent == pytest.approx(2 * (both_ways + sums + rl.all_gather(tokens, chips)))
    # Around a ring of the replica's chips thrice, past all other chips there and back.
    assert op.hops == 2 * (3 * (chips - 1) + 2 * (chips * replicas - 1))


@pytest.mark.parametrize("again", [False, True], ids=["kept", "computed again"])
@pytest.mark.parametrize("chips", [1, 2, 8])
def test_training_holds_weights_gradients_state_and_activations(chips, again):
    model, B, S = rl.model_from_config(TINY | {"vocab_size": 16}), 3, 5
    P, D, N, K, H, F = model.parameters, 4, 4, 2, 3, 8
    # For the backward pass: the stream and its norm twice, q, k, v, the heads' outputs, three
    # arrays of the MLP; and the logits.
    # Computed again, each layer keeps its stream alone, and one layer all.
    each, layer = 4 * D + 2 * N * H + 2 * K * H + 3 * F, D * H * 2 * (N + K) + 3 * D * F + 2 * D
    kept = B * S * ((2 * D + each if again else 2 * each) + 16)
    gathered = layer if chips > 1 else 0  # one whole layer
    op = model.train(B, S, chips, recompute=again)
    assert op.held == pytest.approx((2 + 2 + 12) * P / chips + 2 * gathered + 2 * kept)
    # Weights are gathered forward and backward, gradients scattered once.
    assert op.sent == 2 * rl.all_gather(2 * P, chips) + rl.reduce_scatter(2 * P, chips)
    assert op.hops == 3 * 2 * (chips - 1)
    # Each pass loads the weights, and the update its part of all; it leaves state and weights.
    assert op.loaded == pytest.approx((2 + again) * 2 * P + 2 * kept + (12 + 2) * P / chips)
    assert op.written == pytest.approx(2 * P + 2 * kept + (12 + 2) * P / chips)
    logits = 2 * B * S * D * 16
    forward = model.prefill(B, S, logits="all").flops
    assert op.flops == 3 * forward + again * (forward - logits)


@quick
@given(st.sampled_from(rl.models()), st.integers(1, 10**4), st.integers(1, 10**5))
def test_the_parts_of_a_step_add_up_to_the_step(model, B, S):
    for op in (model.decode(B, S), model.prefill(B, S), model.train(B, S)):
        for count in ("flops", "loaded", "written", "held"):
            total = sum(getattr(part, count) for part in op.parts)
            assert total == pytest.approx(getattr(op, count), rel=1e-12)
