"""Tests of models against published parameter counts and explicit loops."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl
from rooflib.catalog import _catalog

quick = settings(deadline=None, max_examples=60)

# (layers, D, F, N, K, H, vocabulary), copied by hand from the sources that models.toml names.
SHAPES = {
    "Llama 2 7B": (32, 4096, 11008, 32, 32, 128, 32000),
    "Llama 2 13B": (40, 5120, 13824, 40, 40, 128, 32000),
    "Llama 2 70B": (80, 8192, 28672, 64, 8, 128, 32000),
    "Llama 3 8B": (32, 4096, 14336, 32, 8, 128, 128256),
    "Llama 3 70B": (80, 8192, 28672, 64, 8, 128, 128256),
    "Llama 3.1 405B": (126, 16384, 53248, 128, 8, 128, 128256),
}
TINY = {"layers": 2, "D": 4, "F": 8, "N": 4, "K": 2, "H": 3, "vocabulary": 8}


# Dense models without `kinds`, which the chapters and figures use.
PLAIN = [model for model in rl.models() if not model.kinds]


def test_the_catalog_begins_with_the_models_without_kinds_in_order():
    found = {m.name: (m.layers, m.D, m.F, m.N, m.K, m.H, m.vocabulary) for m in PLAIN}
    assert list(found.items()) == list(SHAPES.items())
    assert all(model.gated and not model.tied for model in PLAIN)
    assert rl.models()[: len(PLAIN)] == tuple(PLAIN)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        # Zhang et al., "Train Small, Infer Large", 2025, arXiv 2502.13533, tables 4 and 5.
        ("Llama 2 13B", 13_015_864_320),
        ("Llama 2 70B", 68_976_648_192),
        ("Llama 3 70B", 70_553_706_496),
        # Source: the page of ollama's API for llama3.
        ("Llama 3 8B", 8_030_261_248),
        # Source: sizes of the files on Hugging Face, as listed in a study of training runs. Llama 2
        # files also contain the rotary frequencies: half a head width per layer.
        ("Llama 2 7B", 6_738_417_664 - 32 * 64),
        ("Llama 3.1 405B", 405_853_388_800),
    ],
)
def test_parameter_counts_match_published_ones(name, printed):
    assert rl.model(name).parameters == printed


def test_tied_embeddings_are_counted_once():
    # The expected count of Llama 3.2 1B is from a test of GPTQModel.
    model = rl.Model("Llama 3.2 1B", 16, 2048, 8192, 32, 8, 64, 128256, tied=True)
    assert model.parameters == 1_235_814_400


def weights(model):
    """Yield (weight, its key head, the index that chips split), without embeddings."""
    for layer in range(model.layers):
        for d, n, h in itertools.product(range(model.D), range(model.N), range(model.H)):
            yield ("q", layer, d, n, h), n // (model.N // model.K), n
            yield ("o", layer, n, h, d), n // (model.N // model.K), n
        for d, k, h in itertools.product(range(model.D), range(model.K), range(model.H)):
            yield ("k", layer, d, k, h), k, None
            yield ("v", layer, d, k, h), k, None
        for d, f in itertools.product(range(model.D), range(model.F)):
            for name in ("gate", "up", "down") if model.gated else ("up", "down"):
                yield (name, layer, d, f), None, f
        for norm, d in itertools.product(("before", "between"), range(model.D)):
            yield (norm, layer, d), None, None
    for d in range(model.D):
        yield ("end", d), None, None
        for v in range(model.vocabulary):
            yield ("last", v, d), None, v


def chip_step(model, B, S, chips, chip, w, kv, x):
    """Return FLOPs and bytes loaded, written and held by one chip, weight by weight."""
    mine = {n for n in range(model.N) if n * chips // model.N == chip}
    keys = {n // (model.N // model.K) for n in mine}
    columns = {f for f in range(model.F) if f * chips // model.F == chip}
    words = {v for v in range(model.vocabulary) if v * chips // model.vocabulary == chip}
    flops = held = 0
    for (name, *_), head, split in weights(model):
        here = {"q": mine, "o": mine, "last": words}.get(name, columns)
        if (split is None or split in here) and (head is None or head in keys):
            held += w
            flops += 2 * B if name not in ("before", "between", "end") else 0
    loaded = held + w * B * model.D / chips
    held += 0 if model.tied else w * len(words) * model.D
    written = x * B * len(words)
    for s, k in itertools.product([*range(S)] * B * model.layers, keys):
        loaded += 2 * kv * model.H
        held += 2 * kv * model.H
        written += 2 * kv * model.H if s == S - 1 else 0
        # Each query is multiplied with the key, and each score with the value.
        flops += sum(4 * model.H for n in mine if n // (model.N // model.K) == k)
    return flops, loaded, written, held


@pytest.mark.parametrize("chips", [1, 2, 4])
@pytest.mark.parametrize("kinds", [{}, {"gated": False}, {"tied": True}, {"K": 4}, {"K": 1}])
def test_decode_counts_match_explicit_loops_on_each_chip(chips, kinds):
    model = rl.Model("tiny", **TINY | kinds)
    for B, S in [(1, 1), (3, 5)]:
        op = model.decode(B, S, chips, w="fp32", kv="int8")
        for chip in range(chips):
            counted = chip_step(model, B, S, chips, chip, w=4, kv=1, x=2)
            assert (op.flops, op.loaded, op.written, op.held) == counted
        assert op.compute.name == "fp32"
        size = rl.all_reduce(2 * B * model.D, chips)
        assert op.sent == ({"link": 4 * size} if chips > 1 else {})
        assert op.hops == ({"link": 4 * 2 * (chips - 1)} if chips > 1 else {})
        assert op.chips == chips


@pytest.mark.parametrize("kinds", [{}, {"gated": False}, {"tied": True}, {"K": 4}])
def test_parameter_counts_match_enumerated_weights(kinds):
    model = rl.Model("tiny", **TINY | kinds)
    table = 0 if model.tied else model.vocabulary * model.D
    assert model.parameters == len({index for index, *_ in weights(model)}) + table


@pytest.mark.parametrize(
    ("B", "printed"), [(1, 4.98), (8, 12.13), (16, 20.30), (32, 36.65), (64, 69.33)]
)
def test_decode_times_match_the_scaling_book(B, printed):
    # How To Scale Your Model, "All About Transformer Inference": milliseconds of Llama 2 13B
    # with 8192 positions on 8 TPU v5e, with 26 GB of weights and 0.82 TB/s.
    step = rl.model("Llama 2 13B").decode(B, 8192, chips=8)
    assert rl.bound(step, "TPU v5e", "ICI").times["HBM"] * 1e3 == pytest.approx(printed, rel=0.01)


def test_counts_per_chip_with_replicas_are_exact_at_any_size():
    model, b, S = rl.Model("tiny", **TINY), 10**20 + 1, 10**12 + 1
    # Per layer, on one of two chips: `layer` is the number of matrix weights, and `pair` the
    # FLOPs of a query-key pair.
    layer, pair = (4 * 3 * (2 * 4 + 2 * 2) + 3 * 4 * 8) // 2, 4 * 3 * 4 // 2
    last, cached = 4 * 8 // 2, 2 * 2 * 3 // 2
    for replicas in (1, 3):
        layout = {"chips": 2, "replicas": replicas}
        step = model.decode(replicas * b, S, **layout)
        assert step.flops == b * (2 * (2 * layer + pair * S) + 2 * last)
        assert step.written == b * (2 * 2 * cached + 2 * 8 // 2)
        held = 2 * (2 * (layer + 2 * 4) + 4 + 2 * last)
        assert step.held == held + 2 * 2 * cached * b * S
        for chunk in (None, 10**9 + 7):
            prompt = model.prefill(replicas * b, S, chunk=chunk, **layout)
            pairs = S * (S + 1) // 2
            assert prompt.flops == b * (2 * (2 * layer * S + pair * pairs) + 2 * last)
            assert prompt.written == b * (2 * 2 * cached * S + 2 * 8 // 2)


def test_a_step_leaves_out_parts_without_work():
    model = rl.Model("tiny", **TINY)
    alone = ["embedding, norms", "projections", "attention", "MLP", "logits"]
    assert [part.name for part in model.decode(1, 1).parts] == alone
    assert [part.name for part in model.decode(1, 1, [1, 2]).parts] == [*alone, "collectives"]


def test_the_cache_has_the_type_of_the_activations_by_default():
    model = rl.Model("tiny", **TINY)
    assert model.decode(2, 3, kv="bf16") == model.decode(2, 3)
    assert model.decode(2, 3, x="fp32", w="fp32").held == 2 * model.decode(2, 3).held
    wide = model.decode(2, 3, x="fp32")
    assert wide.held - model.decode(2, 3).held == 2 * 3 * 2 * 2 * 2 * 2 * 3
    assert model.decode(2, 3, w="int8").compute.name == "bf16"
    assert model.decode(2, 3, x="fp16", compute="fp32").compute.name == "fp32"


cataloged = st.sampled_from(PLAIN)
counts = st.integers(1, 2**16)


@quick
@given(cataloged, counts, counts, st.sampled_from([1, 2, 4, 8, 16]))
def test_arrays_match_elementwise_scalars(model, B, S, chips):
    used = chips if model.N % chips == 0 else 1  # 16 doesn't divide the 40 heads of Llama 2 13B
    many = model.decode(np.array([[B], [B + 1]]), np.array([S, S + 7, S]), np.array([1, 2, used]))
    for i, j in itertools.product(range(2), range(3)):
        one = model.decode(B + i, [S, S + 7, S][j], [1, 2, used][j])
        for name in ("flops", "loaded", "written", "held", "intensity"):
            found = np.broadcast_to(getattr(many, name), (2, 3))[i, j]
            assert found == pytest.approx(getattr(one, name), rel=1e-12)
        assert np.broadcast_to(many.sent["link"], (2, 3))[i, j] == one.sent.get("link", 0)


@quick
@given(cataloged, counts, counts, st.sampled_from([2, 4, 8]))
def test_chips_share_the_work_of_a_step(model, B, S, chips):
    alone, share = model.decode(B, S), model.decode(B, S, chips)
    assert share.flops * chips == alone.flops
    assert alone.held / chips <= share.held < alone.held
    assert alone.loaded / chips <= share.loaded < alone.loaded
    assert model.decode(B + 1, S, chips).bytes > share.bytes
    assert model.decode(B, S + 1, chips).bytes > share.bytes


@quick
@given(cataloged, counts)
def test_long_context_decode_intensity_approaches_the_group_size(model, B):
    step = model.decode(B, 2**50)
    assert step.intensity == pytest.approx(model.N / model.K, rel=1e-3)


def test_key_heads_are_replicated_where_chips_outnumber_them():
    model = rl.model("Llama 3 70B")
    caches = [model.decode(4, 2**40, chips).held for chips in (1, 8, 16, 64)]
    assert caches[1] == pytest.approx(caches[0] / 8, rel=1e-6)
    assert caches[2:] == pytest.approx(caches[1:2] * 2, rel=1e-6)


WRONG = [
    ({"layers": 0}, "layers must be above zero"),
    ({"H": 1.5}, "H must be a whole number"),
    ({"K": 3}, "N must be a multiple of K, the key/value heads; got N=4, K=3"),
    ({"w": "int7"}, "w must be one of"),
    ({"quantized": {"MLP": "int7"}}, r"quantized\['MLP'\] must be one of"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_invalid_models_are_rejected(change, message):
    with pytest.raises(ValueError, match=message):
        rl.Model("tiny", **TINY | change)


def test_quantized_is_a_read_only_copy_of_the_passed_mapping():
    exceptions = {"experts": "fp8"}
    model = rl.Model("tiny", **TINY, quantized=exceptions)
    exceptions["experts"] = "fp4"
    assert model.quantized == {"experts": "fp8"}
    with pytest.raises(TypeError, match="read-only"):
        model.quantized["experts"] = "fp4"
    with pytest.raises(TypeError, match="quantized must be a mapping from row to data type; got 7"):
        rl.Model("tiny", **TINY, quantized=7)


def test_kinds_of_layers_may_be_passed_as_a_list():
    layer = rl.Layer(2, N=4, K=2, H=3, F=8)
    model = rl.Model("tiny", **TINY, kinds=[layer])
    assert {model: "tiny"}[rl.Model("tiny", **TINY, kinds=(layer,))] == "tiny"


def test_uneven_splits_over_chips_are_rejected():
    model = rl.Model("tiny", **TINY)
    with pytest.raises(ValueError, match="chips must divide N; got N=4, chips=3"):
        model.decode(1, 1, 3)
    with pytest.raises(ValueError, match="chips must divide vocabulary; got vocabulary=6"):
        rl.Model("tiny", **TINY | {"vocabulary": 6}).decode(1, 1, 4)
    with pytest.raises(ValueError, match="chips must divide F; got F=6, chips="):
        rl.Model("tiny", **TINY | {"F": 6}).decode(1, 1, [1, 4])
    odd = rl.Model("odd", **TINY | {"N": 12, "K": 6, "F": 8})
    with pytest.raises(
        ValueError, match="chips must divide K or be a multiple of K; got K=6, chips=4"
    ):
        odd.decode(1, 1, 4)
    with pytest.raises(ValueError, match=r"got K=6, chips=\[1\. 4\.\]"):
        odd.decode(1, 1, [1, 4])
    with pytest.raises(ValueError, match=r"replicas must divide B; got B=\[2\. 3\.\], replicas=2"):
        model.decode([2, 3], 1, replicas=2)


def test_errors_list_possible_layouts_up_to_1024_chips():
    wide = {"N": 4096, "K": 4096, "F": 4096, "vocabulary": 4096}
    layer = rl.Layer(2, N=4096, K=4096, H=3, experts=4096, active=1, X=4096)
    model = rl.Model("wide", **TINY | wide, kinds=(layer,))
    powers = ", ".join(str(2**n) for n in range(11))
    with pytest.raises(ValueError, match=f"chips=3; wide can be split over {powers}$"):
        model.decode(1, 1, 3)
    with pytest.raises(ValueError, match=f"replicas=3; wide can be spread over {powers}$"):
        model.decode(3, 1, 1, replicas=3, expert_parallel=True)


def test_model_lookup_ignores_case_and_separators():
    assert rl.model("llama-2-7b") is rl.model("Llama 2 7B")
    with pytest.raises(
        ValueError, match=r"^model must be one of Llama 2 7B, .* 405B, .*; got 'GPT'"
    ):
        rl.model("GPT")
    with pytest.raises(ValueError, match="did you mean 'Llama 2 70B' or 'Llama 3 70B'"):
        rl.model("70b")


@pytest.mark.parametrize("model", rl.models(), ids=lambda model: model.name)
def test_a_models_source_is_neither_compared_nor_printed(model):
    unsourced = dataclasses.replace(model, source=None)
    assert unsourced == model
    assert repr(unsourced) == repr(model)


def test_every_model_has_a_source_and_every_source_a_model():
    sources = _catalog("models.toml")["sources"]
    assert {model.source for model in rl.models()} == set(sources.values())
    for source in sources.values():
        assert datetime.date(2026, 11, 22) <= source.read <= datetime.date.today()
        assert source.url.startswith("https://")
        assert re.search("[Cc]ommit [0-9a-f]{7}|transformers [0-9.]+", source.title + source.note)
