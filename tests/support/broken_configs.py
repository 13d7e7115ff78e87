"""Broken config files, and the beginning of the error message for each."""

from __future__ import annotations

import json

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 128,
}
QWEN = LLAMA | {"model_type": "qwen3_moe", "head_dim": 16, "num_experts": 8}
QWEN |= {"num_experts_per_tok": 2, "moe_intermediate_size": 32}
DEEPSEEK = LLAMA | {"model_type": "deepseek_v3", "n_routed_experts": 8, "num_experts_per_tok": 2}
DEEPSEEK |= {"moe_intermediate_size": 32, "kv_lora_rank": 16, "v_head_dim": 8}
DEEPSEEK |= {"qk_rope_head_dim": 8, "qk_nope_head_dim": 8}
GEMMA = LLAMA | {"model_type": "gemma3_text", "sliding_window": 16}

SIZE = "must be a whole number from 1 to 10,000,000; got"


def quantized(**how):
    return LLAMA | {"quantization_config": how}


def write(folder, config):
    """Write a config file from a dictionary or from raw bytes, and return its path."""
    path = folder / "config.json"
    path.write_bytes(config if isinstance(config, bytes) else json.dumps(config).encode())
    return path


def without(config, key):
    return {name: value for name, value in config.items() if name != key}


BROKEN = [
    (without(LLAMA, "model_type"), "model_type must be one of llama, mistral"),
    ({"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}},
     "model_type must be one of"),
    ({}, "got None"),
    (without(LLAMA, "vocab_size"), "vocab_size must be given for llama"),
    (LLAMA | {"hidden_size": None}, "hidden_size must be given for llama; got none"),
    # Not a dense model, which a null could be taken for.
    (DEEPSEEK | {"n_routed_experts": None}, "experts must be given for deepseek_v3; got none"),
    (LLAMA | {"hidden_size": 0}, f"hidden_size {SIZE} 0"),
    (LLAMA | {"num_key_value_heads": 3}, "num_key_value_heads must"),
    (LLAMA | {"num_attention_heads": 6},
     "head_dim must be given unless heads divide hidden_size; got hidden_size=64"),
    (QWEN | {"num_experts_per_tok": 9},
     "num_experts_per_tok must be a whole number from 1 to 8; got 9"),
    (GEMMA | {"layer_types": ["full_attention"]}, "layer_types must be 2 long, one for each layer"),
    (DEEPSEEK | {"model_type": "glm_moe_dsa", "q_lora_rank": 8, "indexer_types": ["full"]},
     "indexer_types must be 2 long, one for each layer; got 1"),
    (GEMMA | {"layer_types": ["full_attention", "linear_attention"]},
     "layer_types must be one of full_attention, sliding_attention, attention; got"),
    (LLAMA | {"dtype": "int3"}, "dtype must be one of bfloat16, float16"),
    (quantized(bits=4), "quant_method must be one of fp8, fbgemm_fp8, compressed-tensors"),
    (quantized(quant_method="bitsandbytes"), "load_in_4bit or load_in_8bit"),
    (LLAMA | {"num_local_experts": 8},
     "num_local_experts must be left out for llama, which has none; got 8"),
    (quantized(quant_method="gptq", bits=4, group_size=128, dynamic={"-:.*": {}}),
     "quantization must be one for all matrices"),
    (quantized(quant_method="auto-round", bits=4, group_size=32, data_type="mx_fp"),
     "data_type must be int; got 'mx_fp'"),
    (quantized(quant_algo="NVFP3"), "quant_algo must be one of FP8"),
    (quantized(config_groups={"": {"targets": [3], "weights": {"num_bits": 8, "type": "int"}}}),
     "quantization_config must be as compressed-tensors writes it"),
    # What fits no matrix of the model, or all that is left out.
    *((quantized(**how), "quantization_config must name the model's matrices") for how in (
        {"config_groups": {"": {"targets": ["Linaer"], "weights": {"num_bits": 8, "type": "int"}}}},
        {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.foo": {"quant_algo": "FP8"}}},
        {"quant_algo": "FP8", "ignore": ["*mlp*", "*attn*", "lm_head"]},
    )),
    (QWEN | {"quantization_config": {"quant_method": "fp8", "modules_to_not_convert": [
        "model.layers.0.mlp.experts.3.up_proj"]}}, "modules_to_not_convert must name modules"),
    (quantized(quant_method="gptq", bits=3, group_size=128), "bits must be 4 or 8"),
    (quantized(quant_method="fp8", modules_to_not_convert=["some.thing"]),
     "modules_to_not_convert must name modules; got 'some.thing'"),
    (GEMMA | {"use_bidirectional_attention": True},
     "use_bidirectional_attention must be false; got True"),
]  # fmt: skip

BROKEN_FILES = [
    (b"model_type: llama", "must be JSON in UTF-8"),
    (b"", "must be JSON in UTF-8"),
    (json.dumps(LLAMA).encode()[:-9], "must be JSON in UTF-8"),
    (b'{"model_type": "\xff\xfe"}', "must be JSON in UTF-8"),
    (b"[1, 2]", "must be a JSON object; got [1, 2]"),
    (b'{"a": ' * 100_000, "must be JSON; it is nested too deeply"),
    (b'{"hidden_size": ' + b"9" * 5000 + b"}", "must be JSON in UTF-8"),
    (b" " * 9 * 2**20, "must have at most 8,388,608 bytes"),
]  # fmt: skip
