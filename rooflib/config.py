"""Models from the `config.json` of a checkpoint, as Hugging Face publishes them.

Nothing in a file is executed, and nothing is downloaded. A key that the published files of a family
leave out has the default of the family's class in `transformers` 5.24.0, from whose implementations
the shapes of layers were read.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rooflib._arguments import one_of, short, string
from rooflib.dtypes import DType, Type
from rooflib.layers import Layer
from rooflib.models import Model

MAX_BYTES, MAX_SIZE, MAX_LAYERS = 2**20, 10**7, 10_000
TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
FIXED = {"moe_layer_freq": 1, "use_bidirectional_attention": False}
METHODS = ("fp8", "awq", "gptq", "mxfp4")
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")

# Keys and their defaults: `int` stands for a size that must be given, 0 for one that may be missing
# or null, and None for one that may be null but must be there.
_ALL: dict[str, Any] = {"num_hidden_layers": int, "hidden_size": int, "vocab_size": int}
_ALL |= {"num_attention_heads": int, "intermediate_size": int, "tie_word_embeddings": False}
_HEADS = {"num_key_value_heads": 0, "head_dim": 0}
_BIAS = {"attention_bias": False}
_WINDOW: dict[str, Any] = {"sliding_window": None, "layer_types": []}
_USED = {"sliding_window": 0, "layer_types": [], "use_sliding_window": False}
_QWEN3 = _BIAS | _USED | {"num_key_value_heads": 0, "head_dim": int}
_EXPERTS = {"num_experts_per_tok": int, "moe_intermediate_size": int}
_SHARED = _EXPERTS | _BIAS | {"n_routed_experts": int, "n_shared_experts": 0}
_SHARED |= {"first_k_dense_replace": 0}
_GEMMA = {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}
_GEMMA |= {"vocab_size": 262_208, "tie_word_embeddings": True, "sliding_window_pattern": 6}
_LATENT = {"q_lora_rank": 0, "kv_lora_rank": int, "v_head_dim": int}
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": _HEADS | _BIAS | {"mlp_bias": False},
    "mistral": _HEADS | _WINDOW,
    "qwen2": _HEADS | _USED | {"max_window_layers": 0},
    "qwen3": _QWEN3 | {"max_window_layers": 0},
    "phi3": _HEADS | {"sliding_window": 0, "layer_types": []},
    "gemma3_text": _BIAS | _WINDOW | _GEMMA,
    "olmo2": _HEADS | _BIAS,
    "olmo3": _HEADS | _BIAS | _WINDOW | {"sliding_window_pattern": 4},
    "mixtral": _HEADS | {"sliding_window": 0, "layer_types": []}
    | {"num_experts_per_tok": int, "num_local_experts": int},
    "qwen3_moe": _QWEN3 | _EXPERTS | {"num_experts": int, "decoder_sparse_step": 1}
    | {"mlp_only_layers": []},
    "gpt_oss": _WINDOW | {"attention_bias": True, "num_key_value_heads": int, "head_dim": int}
    | {"num_experts_per_tok": int, "num_local_experts": int, "sliding_window_pattern": 2},
    "glm4_moe": _HEADS | _SHARED | {"use_qk_norm": False},
    "deepseek_v3": _SHARED | _LATENT | {"qk_nope_head_dim": int, "qk_rope_head_dim": int},
}  # fmt: skip
"""The architectures that can be read, by `model_type`, and the keys that shape their layers."""


def model_from_config(
    config: str | os.PathLike[str] | Mapping[str, Any], name: str | None = None
) -> Model:
    """Read a model from a Hugging Face `config.json`: a path, or its content as a mapping.

    >>> llama = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096}
    >>> llama |= {"intermediate_size": 11008, "num_attention_heads": 32, "vocab_size": 32000}
    >>> model_from_config(llama).parameters
    6738415616

    A multimodal model's `text_config` is read; its other parts are not counted, and neither are
    layers that predict further tokens. The data type of weights comes from `quantization_config`
    (fp8, AWQ, GPTQ, or MXFP4, with their scales), else from `dtype`, else it is bf16. A quantized
    file keeps its tables, norms and routers in `dtype`, and what `modules_to_not_convert` names.

    `name` is a label, by default what the file calls itself. Raises a ValueError that names the key
    for an architecture that is not supported, a missing key, or a size that can't be; an OSError
    for a file that can't be read.
    """
    given = config if isinstance(config, Mapping) else _read(config)
    if "text_config" in given:
        outer = ("quantization_config", "dtype", "torch_dtype", "tie_word_embeddings")
        inner = _typed("text_config", given["text_config"], Mapping, "an object")
        given = {**{key: given[key] for key in outer if key in given}, **inner}
    classes = _typed("auto_map", given.get("auto_map", {}), Mapping, "an object")
    for each in classes.values():  # names of classes are ignored
        if not isinstance(each, str) or not re.fullmatch(r"[\w./-]+", each):
            raise ValueError(f"auto_map must map to names of classes; got {short(each)}")
    for key, only in FIXED.items():
        if given.get(key) not in (None, only):
            raise ValueError(f"{key} must be {json.dumps(only)}; got {short(given[key])}")
    family = one_of("model_type", given.get("model_type", ""), FAMILIES)
    c = {key: _checked(key, given, default) for key, default in (_ALL | FAMILIES[family]).items()}
    if len(c.get("layer_types") or range(c["num_hidden_layers"])) != c["num_hidden_layers"]:
        wanted = f"a list of {c['num_hidden_layers']} names, one for each layer"
        raise ValueError(f"layer_types must be {wanted}; got {len(c['layer_types'])}")
    found = Counter(tuple(_layer(family, c, i).items()) for i in range(c["num_hidden_layers"]))
    kinds = tuple(Layer(count=count, **dict(kind)) for kind, count in found.items())
    last, (w, quantized) = kinds[-1], _types(given)
    label = string("name", given.get("_name_or_path") or family if name is None else name)
    sizes = (c["hidden_size"], last.F or last.X, last.N, last.K, last.H, c["vocab_size"])
    shapes = {"tied": c["tie_word_embeddings"], "kinds": kinds, "w": w, "quantized": quantized}
    return Model(label, c["num_hidden_layers"], *sizes, **shapes)


def _layer(family: str, c: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the arguments of `Layer`, without the count, for the layer with this index."""
    D, N = c["hidden_size"], c["num_attention_heads"]
    sinks = family == "gpt_oss"
    gains = (4 if family == "gemma3_text" else 2) * D + N * sinks
    if family == "deepseek_v3":
        q, kv, rope = c["q_lora_rank"], c["kv_lora_rank"], c["qk_rope_head_dim"]
        made = {"N": N, "K": N, "H": c["qk_nope_head_dim"] + rope, "V": c["v_head_dim"]}
        made |= {"q_rank": q, "kv_rank": kv, "rope": rope}
        gains += q + kv + c["attention_bias"] * (q + kv + rope + D)
    else:
        K, H = c["num_key_value_heads"] or N, c["head_dim"] or D // N
        if not c["head_dim"] and D % N:
            given = f"hidden_size={D}, num_attention_heads={N}"
            raise ValueError(f"head_dim must be given unless heads divide hidden_size; got {given}")
        if N % K:
            given = f"num_key_value_heads={K}, num_attention_heads={N}"
            raise ValueError(f"num_key_value_heads must divide the heads of queries; got {given}")
        made = {"N": N, "K": K, "H": H}
        biased = family == "qwen2" or c.get("attention_bias", False)
        gains += (N + 2 * K) * H * biased + D * (biased and family not in ("qwen2", "glm4_moe"))
        if family in ("olmo2", "olmo3"):
            gains += (N + K) * H
        elif family in ("qwen3", "qwen3_moe", "gemma3_text") or c.get("use_qk_norm"):
            gains += 2 * H
    if _has_window(c, index):
        made["window"] = c["sliding_window"]
    if _has_experts(family, c, index):
        X = c.get("moe_intermediate_size", c["intermediate_size"])
        k, E = c["num_experts_per_tok"], next(c[e] for e in EXPERTS if e in c)
        made |= {"experts": E, "active": _whole("num_experts_per_tok", k, most=E), "X": X}
        made |= {"F": c.get("n_shared_experts", 0) * X, "expert_biases": sinks}
        gains += E * sinks
    else:
        made["F"] = F = c["intermediate_size"]
        gains += (2 * F + D) * c.get("mlp_bias", False)
    return {**made, "gains": gains}


def _has_window(c: Mapping[str, Any], index: int) -> bool:
    if not c.get("sliding_window") or not c.get("use_sliding_window", True):
        return False
    if c["layer_types"]:
        kinds = ("full_attention", "sliding_attention")
        return one_of("layer_types", c["layer_types"][index], kinds) == kinds[1]
    if "sliding_window_pattern" in c:
        return bool((index + 1) % c["sliding_window_pattern"])
    return bool(index >= c.get("max_window_layers", 0))


def _has_experts(family: str, c: Mapping[str, Any], index: int) -> bool:
    if "decoder_sparse_step" in c:
        dense = index in c["mlp_only_layers"] or (index + 1) % c["decoder_sparse_step"]
        return not bool(dense)
    return "num_experts_per_tok" in c and index >= c.get("first_k_dense_replace", 0)


def _checked(key: str, given: Mapping[str, Any], default: Any) -> Any:
    """Return a key's value, or its default if it is missing or null."""
    value = given.get(key)
    if value is None and (default is int or (default is None and key not in given)):
        raise ValueError(f"{key} must be given for {given['model_type']}; got none")
    if value is None:
        return default
    if isinstance(default, bool):
        return _typed(key, value, bool, "true or false")
    if isinstance(default, list):
        return _typed(key, value, list, "a list")
    least, most = int(default != 0), MAX_LAYERS if key == "num_hidden_layers" else MAX_SIZE
    return _whole(key, value, least, most)


def _whole(key: str, value: Any, least: int = 1, most: int = MAX_SIZE) -> int:
    if type(value) is not int or not least <= value <= most:
        wanted = f"a whole number from {least} to {most:,}"
        raise ValueError(f"{key} must be {wanted}; got {short(value)}")
    return value


def _typed(key: str, value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{key} must be {what}; got {short(value)}")
    return value


def _types(given: Mapping[str, Any]) -> tuple[str, dict[str, Type]]:
    """Return the type of weights, and the other types that rows of a step are quantized to."""
    stored = given.get("dtype") or given.get("torch_dtype") or "bfloat16"
    plain, how = TYPES[one_of("dtype", stored, TYPES)], given.get("quantization_config")
    if how is None:
        return plain, {}
    how = _typed("quantization_config", how, Mapping, "an object")
    method = one_of("quant_method", how.get("quant_method", ""), METHODS)
    rows = {"experts"} if method == "mxfp4" else {"projections", "MLP", "experts"}
    for module in _typed(
        "modules_to_not_convert", how.get("modules_to_not_convert") or [], list, "a list"
    ):
        rows -= _rows_of(_typed("modules_to_not_convert", module, str, "a list of names"))
    return plain, dict.fromkeys(sorted(rows), _quantized(method, how))


def _rows_of(module: str) -> set[str]:
    """Return the rows of a step that a module excluded from quantization belongs to."""
    *path, last = module.removesuffix(".weight").split(".")
    if any(
        part in last for part in ("norm", "router", "embed", "head", "bias", "vis", "projector")
    ):
        return set()
    rows = {"self_attn": {"projections"}, "mlp": {"MLP", "experts"}, "experts": {"experts"}}
    rows |= {"shared_experts": {"MLP"}, "gate": set()}
    if last not in rows or (rows[last] and any(part.isdecimal() for part in path)):
        wanted = f"modules of all layers: {', '.join(rows)}"
        raise ValueError(f"modules_to_not_convert must name {wanted}; got {short(module)}")
    return rows[last]


def _quantized(method: str, how: Mapping[str, Any]) -> DType:
    """Return the data type of quantized weights, with their scales."""
    if method == "mxfp4":
        return DType("fp4", 4, scale_bits=8, group=32)
    if method == "fp8":
        sides = how.get("weight_block_size")
        if sides is None:
            return DType("fp8", 8)
        if len(_typed("weight_block_size", sides, list, "a list of two sizes")) != 2:
            raise ValueError(f"weight_block_size must be a list of two sizes; got {short(sides)}")
        down, across = (_whole("weight_block_size", side) for side in sides)
        return DType("fp8", 8, scale_bits=32, group=down * across)
    bits = {4: 4, 8: 8}.get(_whole("bits", how.get("bits")))
    if bits is None:
        raise ValueError(f"bits must be 4 or 8; got {how['bits']}")
    # Each group has a scale in fp16 and a zero point. With group_size -1 a group is a whole
    # column, so there are too few scales to count.
    if (group := how.get("group_size")) == -1:
        return DType(f"int{bits}", bits)
    return DType(f"int{bits}", bits, scale_bits=16 + bits, group=_whole("group_size", group))


def _read(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Read a JSON object of at most `MAX_BYTES` from a file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"config must be a path or a mapping; got {short(path)}")
    with Path(path).open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} must have at most {MAX_BYTES:,} bytes; it has more")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path} must be JSON; it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} must be JSON in UTF-8: {error}") from None
    return _typed(f"content of {path}", found, Mapping, "a JSON object")  # type: ignore[no-any-return]
