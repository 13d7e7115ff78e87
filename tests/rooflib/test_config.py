"""Tests of configs: published keys, data types, and one-line errors."""

from __future__ import annotations

import json

import pytest
from broken_configs import BROKEN, BROKEN_FILES, DEEPSEEK, GEMMA, LLAMA, QWEN, quantized, write

import rooflib as rl


def test_at_least_40_broken_configs_are_tested():
    assert len(BROKEN) + len(BROKEN_FILES) >= 40


@pytest.mark.parametrize(("config", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_configs_raise_one_line_that_names_the_key(config, message, tmp_path):
    with pytest.raises((ValueError, TypeError)) as of_mapping:
        rl.model_from_config(config)
    with pytest.raises((ValueError, TypeError)) as of_file:
        rl.model_from_config(write(tmp_path, config))
    for error in (of_mapping, of_file):
        shown = str(error.value)
        assert shown.startswith(message)
        assert "\n" not in shown
        assert len(shown) < 300


@pytest.mark.parametrize(("content", "message"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_broken_files_raise_one_line_that_names_the_file(content, message, tmp_path):
    path = write(tmp_path, content)
    with pytest.raises(ValueError, match=r"^[^\n]+$") as error:
        rl.model_from_config(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        rl.model_from_config(tmp_path / "config.json")
    with pytest.raises(OSError, match="directory"):
        rl.model_from_config(tmp_path)
    with pytest.raises(TypeError, match="config must be a path or a mapping; got 7"):
        rl.model_from_config(7)


def test_a_file_and_its_content_give_the_same_model(tmp_path):
    config = LLAMA | {"_name_or_path": "tiny", "head_dim": 24, "rope_theta": 1e4, "use_cache": True}
    model = rl.model_from_config(config)
    assert model == rl.model_from_config(str(write(tmp_path, config)))
    assert (model.name, model.layers, model.D, model.H, model.K) == ("tiny", 2, 64, 24, 2)
    assert rl.model_from_config(config, name="other").name == "other"
    assert rl.model_from_config(LLAMA).name == "llama"
    signed = "\N{BOM}".encode() + json.dumps(config).encode()
    assert rl.model_from_config(write(tmp_path, signed)) == model
    largest = json.dumps(config).encode().ljust(2**20)
    assert rl.model_from_config(write(tmp_path, largest)) == model


def test_class_names_in_auto_map_are_ignored():
    classes = {
        "AutoConfig": "configuration_deepseek.DeepseekV3Config",
        "AutoModel": "org/x-1--x.Model_3",
    }
    assert rl.model_from_config(LLAMA | {"auto_map": classes}) == rl.model_from_config(LLAMA)


def test_nested_text_configs_inherit_outer_settings():
    inner = GEMMA | {"sliding_window_pattern": 2}
    nested = {"model_type": "gemma3", "text_config": inner, "vision_config": {"hidden_size": 7}}
    assert rl.model_from_config(nested) == rl.model_from_config(inner)
    how = {"quant_method": "fp8"}
    outer = nested | {"quantization_config": how, "torch_dtype": "float16"}
    model = rl.model_from_config(outer)
    assert model == rl.model_from_config(inner | {"quantization_config": how, "dtype": "float16"})
    assert (model.w, model.tied) == ("fp16", True)


def windows(config):
    return [
        layer.window for layer in rl.model_from_config(config).kinds for _ in range(layer.count)
    ]


def test_attention_windows_are_read_from_all_keys_that_describe_them():
    many = GEMMA | {"num_hidden_layers": 13}
    assert sorted(windows(many)) == [0] * 2 + [16] * 11
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    listed = GEMMA | {"num_hidden_layers": 3, "layer_types": kinds}
    assert sorted(windows(listed)) == [0, 16, 16]
    mistral = LLAMA | {"model_type": "mistral"}
    assert windows(mistral | {"sliding_window": 8}) == [8, 8]
    assert windows(mistral | {"sliding_window": None}) == [0, 0]
    qwen = LLAMA | {"model_type": "qwen2", "sliding_window": 8, "max_window_layers": 1}
    assert windows(qwen) == windows(qwen | {"use_sliding_window": False}) == [0, 0]
    assert sorted(windows(qwen | {"use_sliding_window": True})) == [0, 8]


def test_missing_config_keys_default_as_in_the_transformers_library():
    left_out = ("vocab_size", "num_attention_heads", "num_key_value_heads")
    gemma = rl.model_from_config({key: GEMMA[key] for key in GEMMA if key not in left_out})
    assert (gemma.vocabulary, gemma.N, gemma.K, gemma.H) == (262_208, 8, 4, 256)
    assert gemma.tied
    gpt = LLAMA | {"model_type": "gpt_oss", "head_dim": 16, "sliding_window": 16}
    gpt |= {"num_hidden_layers": 9, "num_experts_per_tok": 2, "num_local_experts": 8}
    counts = {kind.window: kind.count for kind in rl.model_from_config(gpt).kinds}
    assert counts == {16: 5, 0: 4}


def test_dense_layers_of_mixtures_of_experts_are_recognized():
    def dense(config):
        return sum(each.count for each in rl.model_from_config(config).kinds if not each.experts)

    many = QWEN | {"num_hidden_layers": 6}
    assert dense(many) == 0
    assert dense(many | {"mlp_only_layers": [0, 5]}) == 2
    assert dense(many | {"decoder_sparse_step": 2}) == 3
    # With a step of three, only the third and the sixth of eight layers have experts.
    assert dense(many | {"num_hidden_layers": 8, "decoder_sparse_step": 3}) == 6
    assert dense(DEEPSEEK | {"first_k_dense_replace": 1}) == 1
    shared = rl.model_from_config(DEEPSEEK | {"n_shared_experts": 3}).kinds[-1]
    assert (shared.F, shared.X, shared.experts, shared.active) == (96, 32, 8, 2)
    for active in (1, 8):  # one or all of eight experts active per token
        config = QWEN | {"num_experts_per_tok": active}
        assert rl.model_from_config(config).kinds[0].active == active


def test_biases_of_latent_attention_are_those_of_its_outermost_matrices():
    config = DEEPSEEK | {"q_lora_rank": 24}
    plain, biased = (
        rl.model_from_config(config | {"attention_bias": each}).kinds[0] for each in (False, True)
    )
    # The biases have the outputs' widths: the query rank, the cached vector, the model width.
    assert biased.gains - plain.gains == 24 + (16 + 8) + 64


def test_the_mlp_width_of_a_mixture_of_experts_is_that_of_its_last_layer():
    config = DEEPSEEK | {"first_k_dense_replace": 1, "n_shared_experts": 2}
    model = rl.model_from_config(config)
    assert [kind.F for kind in model.kinds] == [96, 2 * 32]
    assert model.F == 2 * 32


def test_the_error_for_a_missing_model_type_shows_an_empty_string():
    with pytest.raises(ValueError, match=r"model_type must be one of .*; got ''$"):
        rl.model_from_config({})


TYPES = [
    ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4", 4 + 20 / 128),
    ({"quant_method": "gptq", "bits": 8, "group_size": 64}, "int8", 8 + 24 / 64),
    ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "int4", 4),
    ({"quant_method": "fp8"}, "fp8", 8),
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", 8 + 32 / 128**2),
    ({"quant_method": "mxfp4"}, "fp4", 4 + 8 / 32),
]


@pytest.mark.parametrize(("how", "name", "bits"), TYPES)
def test_bits_of_quantized_weights_include_scales(how, name, bits):
    model = rl.model_from_config(QWEN | {"quantization_config": how})
    rows = {"experts"} if name == "fp4" else {"experts", "projections", "MLP"}
    assert set(model.quantized) == rows
    assert {kind.name for kind in model.quantized.values()} == {name}
    assert 8 * model.quantized["experts"].bytes == bits
    assert model.w == "bf16"


@pytest.mark.parametrize(
    ("modules", "rows"),
    [
        (["lm_head", "model.layers.3.input_layernorm", "model.layers.3.mlp.gate"],
         {"experts", "projections", "MLP"}),
        (["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens"],
         {"experts", "MLP"}),
        (["mlp", "vision_tower"], {"projections"}),
        (["experts"], {"projections", "MLP"}),
        (["shared_experts"], {"projections", "experts"}),
        (None, {"experts", "projections", "MLP"}),
    ],
)  # fmt: skip
def test_modules_to_not_convert_are_not_quantized(modules, rows):
    how = {"quant_method": "fp8", "modules_to_not_convert": modules}
    assert set(rl.model_from_config(QWEN | {"quantization_config": how}).quantized) == rows


def test_decode_steps_default_to_the_data_types_of_the_config():
    plain = rl.model_from_config(LLAMA)
    model = rl.model_from_config(quantized(quant_method="awq", bits=4, group_size=32))
    halves = rl.model_from_config(LLAMA | {"dtype": "float16"})
    assert halves.decode(1, 8).compute.name == "fp16"
    assert model.decode(1, 8, w="bf16").held == plain.decode(1, 8).held
    (layer,) = plain.kinds
    matrices = 2 * (layer.projections(64) + 3 * 64 * layer.F)
    saved = matrices * (2 - (4 + 20 / 32) / 8)
    assert plain.decode(1, 8).held - model.decode(1, 8).held == saved
