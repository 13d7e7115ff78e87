"""Tests of attention against explicit loops and published formulas."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

BITS = {"fp32": 32, "bf16": 16, "int8": 8, "fp4": 4}
# Each shape is (B, T, S, N, K, H).
SHAPES = [
    (1, 1, 1, 1, 1, 1),
    (2, 3, 3, 2, 2, 2),
    (1, 2, 5, 4, 2, 3),
    (3, 1, 4, 6, 3, 1),
    (2, 4, 4, 4, 1, 2),
]
quick = settings(deadline=None, max_examples=60)


def count(B, T, S, N, K, H, causal, fused, x, kv, out, scores):
    """Count FLOPs, vector FLOPs, exponentials, and bytes in explicit loops."""
    loaded, written, flops, vector, exponentials = {}, {}, 0, 0, 0
    for b, n, t in itertools.product(range(B), range(N), range(T)):
        group = n // (N // K)
        visible = [s for s in range(S) if not causal or s <= S - T + t]
        for s in visible:
            for h in range(H):
                loaded["q", b, t, n, h] = BITS[x]
                loaded["k", b, s, group, h] = BITS[kv]
                flops += 2  # a multiplication, and an addition to the score
            if not fused:
                written["score", b, n, t, s] = loaded["score", b, n, t, s] = BITS[scores]
        for i, s in enumerate(visible):
            vector += i > 0  # comparison with the running maximum
            vector += 1  # subtraction of the maximum
            exponentials += 1
            vector += i > 0  # addition to the sum
            vector += 1  # division by the sum
            if not fused:
                written["share", b, n, t, s] = loaded["share", b, n, t, s] = BITS[scores]
        for s, h in itertools.product(visible, range(H)):
            loaded["v", b, s, group, h] = BITS[kv]
            flops += 2
            written["out", b, t, n, h] = BITS[out]
    moved = (Fraction(sum(bits.values()), 8) for bits in (loaded, written))
    return flops, vector, exponentials, *moved


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "types", [("bf16", "bf16", "bf16", "bf16"), ("bf16", "int8", "fp32", "fp4")]
)
def test_attention_counts_match_explicit_loops(shape, causal, fused, types):
    flops, vector, exponentials, loaded, written = count(*shape, causal, fused, *types)
    x, kv, out, scores = types
    op = rl.attention(*shape, causal=causal, fused=fused, x=x, kv=kv, out=out, scores=scores)
    assert (op.flops, op.vector, op.exponentials) == (flops, vector, exponentials)
    assert (op.loaded, op.written) == (loaded, written)
    assert op.bytes == loaded + written
    without = rl.attention(*shape, causal=causal, fused=fused, softmax=False)
    assert without.vector == without.exponentials == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_more_queries_than_keys_are_allowed_without_a_mask(shape):
    B, T, S, *heads = shape
    expected = count(B, S + T, S, *heads, False, True, *["bf16"] * 4)
    op = rl.attention(B, S + T, S, *heads, causal=False)
    assert (op.flops, op.vector, op.exponentials, op.loaded, op.written) == expected


def test_probabilities_reuse_the_memory_of_their_scores():
    sizes = {"B": 2, "T": 3, "S": 5, "N": 4, "K": 2, "H": 8}
    fused, apart = rl.attention(**sizes), rl.attention(**sizes, fused=False, scores="fp32")
    assert fused.held == fused.bytes
    pairs = apart.flops // (4 * 8)
    assert pairs == 2 * 4 * (3 + 4 + 5)
    assert apart.held == fused.held + 4 * pairs
    assert apart.bytes == fused.bytes + 4 * 4 * pairs


def test_integer_counts_are_exact_at_any_size():
    side = 10**12
    pairs = 3 * 4 * (side * 2 * side - side * (side - 1) // 2)
    op = rl.attention(3, side, 2 * side, 4, 2, 64, fused=False)
    assert (op.flops, op.vector) == (256 * pairs, 4 * pairs - 2 * 12 * side)
    assert op.exponentials == pairs
    assert op.written == 2 * 12 * side * 64 + 4 * pairs


def test_key_score_and_output_types_default_to_the_query_type():
    sizes = (1, 2, 3, 2, 1, 4)
    assert rl.attention(*sizes, x="fp32").bytes == 2 * rl.attention(*sizes).bytes
    assert rl.attention(*sizes, fused=False, x="fp32").bytes == 2 * (
        rl.attention(*sizes, fused=False).bytes
    )
    mixed = rl.attention(*sizes, kv="int8")
    assert (mixed.compute.name, mixed.vector_compute.name) == ("bf16", "fp32")
    assert rl.attention(*sizes, x="fp8").compute.name == "fp8"
    assert rl.attention(*sizes, x="fp8", compute="fp16").compute.name == "fp16"
    assert rl.attention(*sizes, softmax="bf16").vector_compute.name == "bf16"
    assert rl.attention(*sizes, softmax=True) == rl.attention(*sizes)


sizes = st.integers(1, 2**12)
small = st.integers(1, 16)
heads = st.tuples(small, small).map(lambda both: (both[0] * both[1], both[0]))
shapes = st.tuples(sizes, sizes, sizes, heads, sizes).map(
    lambda s: {"B": s[0], "T": s[1], "S": s[1] + s[2], "N": s[3][0], "K": s[3][1], "H": s[4]}
)
flags = (st.booleans(), st.booleans())
COUNTS = ("flops", "vector", "exponentials", "loaded", "written", "held", "intensity")


@quick
@given(st.lists(shapes, min_size=1, max_size=4), *flags)
def test_arrays_match_elementwise_scalars(many, causal, fused):
    columns = {name: np.array([shape[name] for shape in many]) for name in many[0]}
    whole = rl.attention(**columns, causal=causal, fused=fused)
    for i, shape in enumerate(many):
        one = rl.attention(**shape, causal=causal, fused=fused)
        for name in COUNTS:
            assert getattr(whole, name)[i] == pytest.approx(getattr(one, name), rel=1e-12)


@quick
@given(shapes, *flags)
def test_attention_flops_and_bytes_increase_with_batch_keys_heads_and_width(shape, causal, fused):
    here = rl.attention(**shape, causal=causal, fused=fused)
    steps = dict.fromkeys("BSH", 1) | {"N": shape["K"]}
    for name, step in steps.items():
        more = rl.attention(**shape | {name: shape[name] + step}, causal=causal, fused=fused)
        assert more.flops > here.flops
        assert more.bytes > here.bytes
        assert more.vector >= here.vector
        assert more.exponentials >= here.exponentials


@quick
@given(shapes, st.booleans())
def test_a_causal_mask_has_no_effect_on_one_query(shape, fused):
    shape |= {"T": 1}
    seen = rl.attention(**shape, causal=False, fused=fused)
    assert rl.attention(**shape, fused=fused) == seen


@quick
@given(sizes, sizes, heads, sizes)
def test_a_causal_mask_keeps_the_diagonal_and_half_of_the_other_pairs(B, T, heads, H):
    every = rl.attention(B, T, T, *heads, H, causal=False)
    masked = rl.attention(B, T, T, *heads, H)
    assert 2 * T * masked.flops == (T + 1) * every.flops
    assert masked.bytes == every.bytes


@quick
@given(shapes, *flags)
def test_multi_head_counts_scale_with_the_number_of_heads(shape, causal, fused):
    alone = rl.attention(**shape | {"N": 1, "K": 1}, causal=causal, fused=fused)
    both = rl.attention(**shape | {"K": shape["N"]}, causal=causal, fused=fused)
    for name in COUNTS[:-1]:
        assert getattr(both, name) == shape["N"] * getattr(alone, name)


@quick
@given(shapes, st.booleans())
def test_grouped_heads_and_fusing_reduce_bytes_but_not_flops(shape, causal):
    grouped = rl.attention(**shape, causal=causal)
    single = rl.attention(**shape | {"K": shape["N"]}, causal=causal)
    apart = rl.attention(**shape, causal=causal, fused=False)
    assert grouped.bytes <= single.bytes
    assert grouped.bytes < apart.bytes
    assert grouped.held < apart.held
    assert grouped.flops == single.flops == apart.flops
    assert grouped.name != apart.name


@quick
@given(sizes, heads, sizes)
def test_decode_intensity_approaches_the_group_size(B, heads, H):
    N, K = heads
    intensity = rl.attention(B, 1, np.array([1, 2**10, 2**20, 2**40]), N, K, H).intensity
    assert (np.diff(intensity) > 0).all()
    assert intensity[-1] == pytest.approx(N / K, rel=1e-6)


@quick
@given(sizes, sizes, sizes, st.integers(1, 16), sizes)
def test_attention_intensity_matches_the_scaling_book(B, T, S, N, H):
    # How To Scale Your Model, "All About Transformer Inference": ST / (S + T) in bf16.
    op = rl.attention(B, T, S, N, N, H, causal=False)
    assert op.intensity == pytest.approx(S * T / (S + T), rel=1e-12)


@pytest.mark.parametrize(
    ("model", "tokens", "kv", "printed"),
    [
        # Source: How To Scale Your Model, "Serving LLaMA 3-70B on TPUs", commit 04d8de5.
        ("Llama 3 70B", 1, "int8", 160 * 2**10),
        # Source: the same book, "All About Transformer Inference", which prints 6.7 GB.
        ("Llama 2 13B", 8192, "bf16", 6.7e9),
        # Source: allocations that llama.cpp reports, 256 MiB and 640 MiB, in discussion 6 of
        # huggingface.co/dranger003/c4ai-command-r-v01-iMat.GGUF.
        ("Llama 3 8B", 2048, "fp16", 256 * 2**20),
        ("Llama 3 70B", 2048, "fp16", 640 * 2**20),
    ],
)
def test_kv_cache_sizes_match_published_ones(model, tokens, kv, printed):
    model = rl.model(model)
    found = tokens * rl.kv_bytes_per_token(model.layers, model.K, model.H, kv)
    assert found == pytest.approx(printed, rel=2e-3 if printed == 6.7e9 else 1e-15)
    assert found == tokens * model.kv_bytes_per_token(kv)


def test_kv_cache_sizes_accept_arrays_and_4_bit_types():
    assert rl.kv_bytes_per_token([1, 2], 1, [[3], [4]], "int4").tolist() == [[3, 6], [4, 8]]
    assert rl.kv_bytes_per_token(1, 1, 1, rl.DType("int3", 3)) == 0.75
