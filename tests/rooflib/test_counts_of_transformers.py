"""Tests against `transformers`: its models' parameters, and torch's FLOPs.

Both were printed on 2026-11-24 with transformers 5.24.0 and torch 2.13.0 on a CPU.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rooflib as rl
from rooflib.config import FAMILIES as FAMILIES_READ

# sum(p.numel() for p in model.parameters()) of AutoModelForCausalLM.from_config on the meta device,
# with the shapes of models.toml.
PARAMETERS = {
    "Llama 2 7B": 6_738_415_616,
    "Llama 2 13B": 13_015_864_320,
    "Llama 2 70B": 68_976_648_192,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3 70B": 70_553_706_496,
    "Llama 3.1 405B": 405_853_388_800,
    "Llama 3.2 1B": 1_235_814_400,
    "Mistral 7B": 7_241_732_096,
    "Qwen3 8B": 8_190_735_360,
    "Qwen3 32B": 32_762_123_264,
    "Gemma 3 27B": 27_009_346_304,
    "Phi-4": 14_659_507_200,
    "OLMo 2 13B": 13_716_198_400,
    "Mixtral 8x7B": 46_702_792_704,
    "Mixtral 8x22B": 140_630_071_296,
    "Qwen3 30B-A3B": 30_532_122_624,
    "Qwen3 235B-A22B": 235_093_634_560,
    "gpt-oss 120B": 116_829_156_672,
    "GLM-4.5-Air": 106_852_245_504,
    "DeepSeek-V3": 671_026_404_352,
}

# Parameter counts of default configurations, for model families that the catalog lacks.
OTHERS = [
    (
        {"model_type": "qwen2", "num_hidden_layers": 32, "hidden_size": 4096}
        | {"intermediate_size": 22016, "num_attention_heads": 32, "vocab_size": 151936},
        12_049_846_272,
    ),
    (
        {"model_type": "olmo3", "num_hidden_layers": 32, "hidden_size": 4096}
        | {"intermediate_size": 11008, "num_attention_heads": 32, "vocab_size": 50304}
        | {"sliding_window": 4096},
        6_888_624_128,
    ),
    (
        {"model_type": "phi3", "num_hidden_layers": 32, "hidden_size": 3072, "vocab_size": 32064}
        | {"intermediate_size": 8192, "num_attention_heads": 32},
        3_821_079_552,
    ),
]

COUNTED = json.loads((Path(__file__).parent / "counted_flops.json").read_text())
B, S = COUNTED["B"], COUNTED["S"]
FAMILIES = pytest.mark.parametrize(
    "counted", COUNTED["models"], ids=lambda each: each["config"]["model_type"]
)


def test_every_model_of_the_catalog_has_an_expected_parameter_count():
    assert {model.name for model in rl.models()} == set(PARAMETERS)


@pytest.mark.parametrize(("name", "counted"), PARAMETERS.items())
def test_parameters_equal_those_of_transformers(name, counted):
    assert rl.model(name).parameters == counted


@pytest.mark.parametrize(("config", "counted"), OTHERS, ids=lambda each: str(each)[:24])
def test_parameters_of_other_families_equal_those_of_transformers(config, counted):
    assert rl.model_from_config(config).parameters == counted


def test_every_supported_model_type_has_expected_counts():
    assert {each["config"]["model_type"] for each in COUNTED["models"]} == set(FAMILIES_READ)


def flops(step):
    return {part.name: part.flops for part in step.parts if part.flops}


@FAMILIES
def test_small_models_have_the_parameter_counts_of_transformers(counted):
    assert rl.model_from_config(counted["config"]).parameters == counted["parameters"]


@FAMILIES
def test_prefill_flops_match_those_of_torch_except_for_masked_pairs(counted):
    # Torch's attention also computes pairs that the causal mask or the window hides: all S · S.
    model = rl.model_from_config(counted["config"])
    mine, theirs = flops(model.prefill(B, S, logits="all")), dict(counted["prefill"])
    heads = sum(kind.count * kind.N * kind.pair_flops(False) for kind in model.every_kind)
    visible = sum(
        kind.count * kind.N * kind.pair_flops(False) * min(kind.window or S, query)
        for kind in model.every_kind
        for query in range(1, S + 1)
    )
    assert (mine.pop("attention"), theirs.pop("attention")) == (B * visible, B * heads * S * S)
    assert mine == theirs


@FAMILIES
def test_decode_flops_equal_those_that_torch_counts(counted):
    # In each step, DeepSeek in transformers recomputes keys and values of all cached positions.
    model = rl.model_from_config(counted["config"])
    assert flops(model.decode(B, S + 1, latent="expanded")) == counted["decode"]


@FAMILIES
def test_training_flops_equal_those_that_torch_counts(counted):
    # As in a prefill, torch's attention also computes masked pairs, forward and backward.
    model = rl.model_from_config(counted["config"])
    masked = counted["prefill"]["attention"] - flops(model.prefill(B, S))["attention"]
    assert model.train(B, S).flops == counted["training"] - 3 * masked


def test_absorbed_and_expanded_attention_have_the_expected_flops():
    counted = next(e for e in COUNTED["models"] if e["config"]["model_type"] == "deepseek_v3")
    c, model = counted["config"], rl.model_from_config(counted["config"])
    absorbed, expanded = (flops(model.decode(B, S + 1, latent=how)) for how in
                          ("absorbed", "expanded"))  # fmt: skip
    rank, rope, N, layers = (c["kv_lora_rank"], c["qk_rope_head_dim"], c["num_attention_heads"],
                             c["num_hidden_layers"])  # fmt: skip
    # Scores multiply queries with latents and rotary keys; outputs are weighted sums of latents.
    assert absorbed.pop("attention") == layers * B * N * (S + 1) * (2 * (rank + rope) + 2 * rank)
    both = c["qk_nope_head_dim"] + c["v_head_dim"]
    again = layers * 2 * B * S * rank * N * both
    assert expanded.pop("projections") - absorbed.pop("projections") == again
    del expanded["attention"]
    assert absorbed == expanded
