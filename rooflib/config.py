"""Models from the `config.json` of a checkpoint, as Hugging Face publishes them.

Nothing in a file is executed, and nothing is downloaded. A key that the published files of a family
leave out has the default of the family's class in `transformers` 5.24.0, from whose implementations
the shapes of layers were read.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rooflib.catalog import read_toml
from rooflib.checks import instance, one_of, short
from rooflib.decoders import Model
from rooflib.dtypes import DType, Type
from rooflib.layers import Layer

MAX_BYTES, MAX_SIZE, MAX_LAYERS = 2**20, 10**7, 10_000
TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
METHODS = ("fp8", "awq", "gptq", "mxfp4")

FAMILIES = read_toml("families.toml")
"""The architectures that can be read, by `model_type`, and the keys that shape their layers."""
EVERY, FIXED = FAMILIES.pop("every"), FAMILIES.pop("fixed")
OF_EXPERTS = {key for keys in FAMILIES.values() for key in keys if re.search("expert|moe_", key)}
"""Keys that mean something only where a layer has experts."""

_instance = partial(instance, error=ValueError)


def model_from_config(
    config: str | os.PathLike[str] | Mapping[str, Any], name: str | None = None
) -> Model:
    """Read a model from a Hugging Face `config.json`, by path or as a mapping.

    >>> llama = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096}
    >>> llama |= {"intermediate_size": 11008, "num_attention_heads": 32, "vocab_size": 32000}
    >>> model_from_config(llama).parameters
    6738415616

    A multimodal model's `text_config` is read; its other parts are not counted, and neither are
    layers that predict further tokens. The data type of weights comes from `quantization_config`
    (fp8, AWQ, GPTQ, or MXFP4, with their scales), else from `dtype`, else it is bf16. A quantized
    file keeps its tables, norms and routers in `dtype`, and what `modules_to_not_convert` names.

    Keys of a mixture of experts in the file of a dense type are not used, as in `transformers`; a
    UserWarning names them.

    `name` is a label, by default what the file calls itself. Raises a ValueError that names the key
    for an architecture that is not supported, a missing key, or a size that can't be; an OSError
    for a file that can't be read.
    """
    given = config if isinstance(config, Mapping) else _read(config)
    if "text_config" in given:
        outer = ("quantization_config", "dtype", "torch_dtype", "tie_word_embeddings")
        inner = _instance("text_config", given["text_config"], Mapping, "an object")
        given = {**{key: given[key] for key in outer if key in given}, **inner}
    classes = _instance("auto_map", given.get("auto_map", {}), Mapping, "an object")
    for each in classes.values():  # class names are checked but not used
        if not isinstance(each, str) or not re.fullmatch(r"[\w./-]+", each):
            raise ValueError(f"auto_map must map to names of classes; got {short(each)}")
    for key, only in FIXED.items():
        if given.get(key) not in (None, only):
            raise ValueError(f"{key} must be {json.dumps(only)}; got {short(given[key])}")
    keys = EVERY | FAMILIES[one_of("model_type", given.get("model_type", ""), FAMILIES)]
    traits = EVERY["layer"] | keys.pop("layer")
    if not traits["experts"] and (unused := sorted(key for key in OF_EXPERTS if given.get(key))):
        kind = f"a model of the type {given['model_type']} has no experts"
        warnings.warn(f"{kind}, so {', '.join(unused)} are not used", UserWarning, stacklevel=2)
    c = {key: _checked(key, given, default) for key, default in keys.items()}
    layers = c["num_hidden_layers"]
    if c.get("layer_types") and len(c["layer_types"]) != layers:
        wanted = f"a list of {layers} names, one for each layer"
        raise ValueError(f"layer_types must be {wanted}; got {len(c['layer_types'])}")
    found = Counter(tuple(_layer(c, traits, index).items()) for index in range(layers))
    kinds = tuple(Layer(count=count, **dict(kind)) for kind, count in found.items())
    last, (w, quantized) = kinds[-1], _types(given)
    label = given.get("_name_or_path") or given["model_type"] if name is None else name
    instance("name", label, str, "a string")
    sizes = (c["hidden_size"], last.F or last.X, last.N, last.K, last.H, c["vocab_size"])
    shapes = {"tied": c["tie_word_embeddings"], "kinds": kinds, "w": w, "quantized": quantized}
    return Model(label, layers, *sizes, **shapes)


def _layer(c: Mapping[str, Any], traits: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the arguments of `Layer` for the layer with this index.

    The count is not included.
    """
    D, N, sinks = c["hidden_size"], c["num_attention_heads"], traits["sinks"]
    gains = traits["norms"] * D + N * sinks
    if "kv_lora_rank" in c:
        q, kv, rope = c["q_lora_rank"], c["kv_lora_rank"], c["qk_rope_head_dim"]
        shape = {"N": N, "K": N, "H": c["qk_nope_head_dim"] + rope, "V": c["v_head_dim"]}
        shape |= {"q_rank": q, "kv_rank": kv, "rope": rope}
        gains += q + kv + c["attention_bias"] * (q + kv + rope + D)
    else:
        K, H = c["num_key_value_heads"] or N, c["head_dim"] or D // N
        if not c["head_dim"] and D % N:
            given = f"hidden_size={D}, num_attention_heads={N}"
            raise ValueError(f"head_dim must be given unless heads divide hidden_size; got {given}")
        if N % K:
            given = f"num_key_value_heads={K}, num_attention_heads={N}"
            raise ValueError(f"num_key_value_heads must divide the heads of queries; got {given}")
        shape = {"N": N, "K": K, "H": H}
        biases = (N + 2 * K) * H + D * traits["output_bias"]
        gains += biases * (traits["biased"] or c.get("attention_bias", False))
        norms = "each" if c.get("use_qk_norm") else traits["head_norms"]
        gains += {"": 0, "each": 2 * H, "all": (N + K) * H}[norms]
    if _has_window(c, index):
        shape["window"] = c["sliding_window"]
    if traits["experts"] and _has_experts(c, index):
        X = c.get("moe_intermediate_size", c["intermediate_size"])
        k, E = c["num_experts_per_tok"], c[traits["experts"]]
        shape |= {"experts": E, "active": _whole("num_experts_per_tok", k, most=E), "X": X}
        shape |= {"F": c.get("n_shared_experts", 0) * X, "expert_biases": sinks}
        gains += E * sinks
    else:
        shape["F"] = c["intermediate_size"]
        gains += (2 * shape["F"] + D) * c.get("mlp_bias", False)
    return {**shape, "gains": gains}


def _has_window(c: Mapping[str, Any], index: int) -> bool:
    if not c.get("sliding_window") or not c.get("use_sliding_window", True):
        return False
    if c["layer_types"]:
        kinds = ("full_attention", "sliding_attention")
        return one_of("layer_types", c["layer_types"][index], kinds) == kinds[1]
    if "sliding_window_pattern" in c:
        return bool((index + 1) % c["sliding_window_pattern"])
    return bool(index >= c.get("max_window_layers", 0))


def _has_experts(c: Mapping[str, Any], index: int) -> bool:
    if "decoder_sparse_step" in c:
        return index not in c["mlp_only_layers"] and not (index + 1) % c["decoder_sparse_step"]
    return bool(index >= c.get("first_k_dense_replace", 0))


def _checked(key: str, given: Mapping[str, Any], default: Any) -> Any:
    """Return a key's value, or its default if it is missing or null.

    Raise ValueError if the value is invalid or a size is missing.
    """
    value = given.get(key)
    if value is None:
        if default == "size" or (default == "size or null" and key not in given):
            raise ValueError(f"{key} must be given for {given['model_type']}; got none")
        return None if default == "size or null" else default
    if isinstance(default, bool):
        return _instance(key, value, bool, "true or false")
    if isinstance(default, list):
        return _instance(key, value, list, "a list")
    least, most = int(default != 0), MAX_LAYERS if key == "num_hidden_layers" else MAX_SIZE
    return _whole(key, value, least, most)


def _whole(key: str, value: Any, least: int = 1, most: int = MAX_SIZE) -> int:
    if type(value) is not int or not least <= value <= most:
        wanted = f"a whole number from {least} to {most:,}"
        raise ValueError(f"{key} must be {wanted}; got {short(value)}")
    return value


def _types(given: Mapping[str, Any]) -> tuple[str, dict[str, Type]]:
    """Return the weights' data type, and exceptions to it by kind of operation."""
    stored = given.get("dtype") or given.get("torch_dtype") or "bfloat16"
    plain, how = TYPES[one_of("dtype", stored, TYPES)], given.get("quantization_config")
    if how is None:
        return plain, {}
    how = _instance("quantization_config", how, Mapping, "an object")
    method = one_of("quant_method", how.get("quant_method", ""), METHODS)
    rows = {"experts"} if method == "mxfp4" else {"projections", "MLP", "experts"}
    key = "modules_to_not_convert"
    for module in _instance(key, how.get(key) or [], list, "a list"):
        rows -= _rows_of(_instance(key, module, str, "a list of names"))
    return plain, dict.fromkeys(sorted(rows), _quantized(method, how))


def _rows_of(module: str) -> set[str]:
    """Return the kinds of operation whose weights an unquantized module holds."""
    *path, last = module.removesuffix(".weight").split(".")
    if re.search("norm|router|embed|head|bias|vis|projector", last):
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
        if len(_instance("weight_block_size", sides, list, "a list of two sizes")) != 2:
            raise ValueError(f"weight_block_size must be a list of two sizes; got {short(sides)}")
        down, across = (_whole("weight_block_size", side) for side in sides)
        return DType("fp8", 8, scale_bits=32, group=down * across)
    if (bits := _whole("bits", how.get("bits"))) not in (4, 8):
        raise ValueError(f"bits must be 4 or 8; got {bits}")
    # Each group has a scale in fp16 and a zero point. With group_size -1 a group is a whole
    # column: neglect its scale and zero point.
    if (group := how.get("group_size")) == -1:
        return DType(f"int{bits}", bits)
    return DType(f"int{bits}", bits, scale_bits=16 + bits, group=_whole("group_size", group))


def _read(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Read a JSON object of at most `MAX_BYTES` from a file."""
    instance("config", path, (str, os.PathLike), "a path or a mapping")
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
    _instance(f"content of {path}", found, Mapping, "a JSON object")
    return found  # type: ignore[no-any-return]
