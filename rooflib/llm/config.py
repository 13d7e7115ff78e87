"""Models from the `config.json` of a checkpoint, as Hugging Face publishes them.

Nothing in a file is executed, and nothing is downloaded. What a family's layers consist of, and
what a key is that a file leaves out, comes from the family's class in `transformers` 5.24.0:
`families.toml` has an entry for each.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rooflib.catalog import read_toml
from rooflib.checks import instance, one_of, short
from rooflib.llm.decoders import Model
from rooflib.llm.layers import Layer
from rooflib.llm.quantization import stored_types
from rooflib.llm.towers import towers

MAX_BYTES, MAX_SIZE, MAX_LAYERS = 2**23, 10**7, 10_000

FAMILIES = read_toml("llm/families.toml")
"""The architectures that can be read, by `model_type`, and the keys that shape their layers."""
EVERY, NAMES = FAMILIES.pop("every"), FAMILIES.pop("names")
FIXED, SIZES = FAMILIES.pop("fixed"), FAMILIES.pop("sizes")
STATE = ("state_heads", "state_groups", "state_keys", "state_values", "conv")
OUTER = ("quantization_config", "compression_config", "dtype", "torch_dtype", "tie_word_embeddings")
SPEAKS = re.compile("expert|moe_|mamba|ssm_|linear_|lora_rank|index_|compress_r")
LAYER_TYPES = {
    "full_attention": "full",
    "sliding_attention": "window",
    "chunked_attention": "window",
    "linear_attention": "linear",
    "indexed_attention": "indexed",
    "compressed_sparse_attention": "sparse",
    "heavily_compressed_attention": "heavy",
    "moe": "moe",
    "mlp": "mlp",
}
RATIOS = {
    "0": "sliding_attention",
    "4": "compressed_sparse_attention",
    "128": "heavily_compressed_attention",
}
OLDER = {"attention": "full_attention", "mamba": "linear_attention"}
OLDER |= {"deepseek_sparse_attention": "indexed_attention"}
PATTERN = {"M": "mamba", "E": "moe", "*": "attention", "-": "mlp"}


def model_from_config(
    config: str | os.PathLike[str] | Mapping[str, Any], name: str | None = None
) -> Model:
    """Read a model from a Hugging Face `config.json`, by path or as a mapping.

    >>> llama = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096}
    >>> llama |= {"intermediate_size": 11008, "num_attention_heads": 32, "vocab_size": 32000}
    >>> model_from_config(llama).parameters
    6738415616

    A multimodal model's `text_config` is the model; its other parts are its `towers`. Layers that
    predict further tokens are not counted. `quantization_config` (or MLX's `quantization`, or
    ModelOpt's `hf_quant_config.json` beside the file) says in which types weights and cache are
    stored, and in which the arithmetic is; else `dtype` does, else it is bf16.

    `name` is a label, by default what the file calls itself. Raises a ValueError that names the key
    for an architecture that is not supported, a missing key, a size that can't be, a quantization
    that is not known, or a key that speaks of experts, Mamba or linear attention and that the
    architecture doesn't have; an OSError for a file that can't be read.
    """
    given, beside = config, None
    if not isinstance(config, Mapping):
        given, other = _read(config), Path(config).with_name("hf_quant_config.json")
        beside = _read(other) if other.is_file() else None
    assert isinstance(given, Mapping)
    whole, nested = given, "text_config" in given
    if nested:
        inner = _be("text_config", given["text_config"], Mapping, "an object")
        outer = {key: given[key] for key in OUTER if given.get(key) is not None}
        given = {"model_type": f"{given.get('model_type')}_text", **inner, **outer}
    family = given.get("model_type", "")
    if not isinstance(family, str) or family not in FAMILIES:
        # Without a hint: a file that is read as of another family is counted wrong.
        known = ", ".join(name for name, entry in FAMILIES.items() if "like" not in entry)
        raise ValueError(f"model_type must be one of {known}; got {short(family)}")
    classes = _be("auto_map", whole.get("auto_map") or {}, Mapping, "an object")
    for each in classes.values():  # class names are checked but not used
        if not isinstance(each, str) or not re.fullmatch(r"[\w./-]+", each):
            raise ValueError(f"auto_map must map to names of classes; got {short(each)}")
    entry = _entry(family)
    traits, names = entry["layer"], entry["names"]
    defaults = {key: entry[key] for key in entry if key not in ("layer", "names", "unused")}
    c = {key: _checked(key, names.get(key, key), given, defaults[key], nested) for key in defaults}
    for key, only in FIXED.items():
        if given.get(key) not in (None, only, "vision"):  # images alone see in both directions
            raise ValueError(f"{key} must be {json.dumps(only)}; got {short(given[key])}")
    _check_unused(given, family, {*defaults, *names.values(), *entry["unused"]})
    if "expansion_ratio" in c:
        c["intermediate_size"] = c["expansion_ratio"] * c["hidden_size"]
    pattern = c.get("hybrid_override_pattern")
    if pattern:  # its letters are the layers
        c["layer_types"] = [
            PATTERN[one_of("hybrid_override_pattern", each, PATTERN)] for each in pattern
        ]
        c["num_hidden_layers"] = len(pattern)
    if ratios := c.get("compress_ratios"):
        c["layer_types"] = [
            RATIOS[one_of("compress_ratios", str(each), RATIOS)]
            for each in ratios[: c["num_hidden_layers"]]
        ]
    layers, stored = c["num_hidden_layers"], stored_types(whole, given, beside)
    for key in ("layer_types", "mlp_layer_types"):
        if c.get(key) and len(c[key]) != layers:
            wanted = f"a list of {layers} names, one for each layer"
            raise ValueError(f"{key} must be {wanted}; got {len(c[key])}")
    D, V, P = c["hidden_size"], c["vocab_size"], c.get("hidden_size_per_layer_input", 0)
    hc = c.get("hc_mult", 0)
    alike = Counter(stored.layer(_layer(c, traits, i), D, i) for i in range(layers))
    kinds = tuple(replace(kind, count=count) for kind, count in alike.items())
    own = _be("name", given.get("_name_or_path") or family, str, "a string")
    label = own if name is None else instance("name", name, str, "a string")
    last = kinds[-1]
    return Model(
        label,
        layers,
        D,
        last.F or last.X or 1,
        last.N or 1,
        last.K or 1,
        last.H or 1,
        V,
        tied=c["tie_word_embeddings"],
        kinds=kinds,
        w=stored.plain,
        quantized=stored.tables,
        kv=stored.kv,
        looked_up=c.get("vocab_size_per_layer_input", 0) * layers * P,
        more=D * layers * P + hc * hc * D,
        gains=D * traits["final_norm"] + P + V * _set(c, traits["head_bias"]) + hc + (hc > 0),
        towers=towers(whole),
    )


def _entry(family: str) -> dict[str, Any]:
    """Return the entry of a family, with what it has from a family that it is like."""
    own = FAMILIES[family]
    base = _entry(own["like"]) if "like" in own else EVERY
    both = {part: base[part] | own.get(part, {}) for part in ("layer", "names")}
    return {**base, **{key: own[key] for key in own if key != "like"}, **both}


def _layer(c: Mapping[str, Any], traits: Mapping[str, Any], i: int) -> Layer:
    """Return the layer with index `i`; how it is stored is not known yet."""
    D, kind = c["hidden_size"], _kind(c, traits, i)
    shape: Any = Counter(gains=traits["norms"] * D)
    if kind == "linear":
        shape.update(_recurrence(c, traits))
    elif kind not in ("moe", "mlp"):
        shape.update(_attention(c, traits, i, kind))
    if not traits["alone"] or kind in ("moe", "mlp"):
        shape.update(_mlp(c, traits, i, kind))
    if P := c.get("hidden_size_per_layer_input", 0):
        shape.update(more=2 * D * P, gains=D)
    sinks = traits["sinks"] and shape["experts"] > 0
    return Layer(1, **shape, gated=traits["gated"], expert_biases=sinks)


def _attention(
    c: Mapping[str, Any], traits: Mapping[str, Any], i: int, kind: str
) -> dict[str, int]:
    """Return the arguments of `Layer` for attention of a kind: "full", "window" or "indexed"."""
    D, N = c["hidden_size"], _at(c, "num_attention_heads", i)
    biased, gains = _set(c, traits["qkv_bias"]), N * traits["sinks"]
    gains += D * _set(c, traits["out_bias"])
    seen = {"window": c[traits["window"]]} if kind == "window" else {}
    if "o_lora_rank" in c:
        return _pooled_attention(c, kind)
    if "kv_lora_rank" in c:
        q, kv, rope = c["q_lora_rank"], c["kv_lora_rank"], c["qk_rope_head_dim"]
        H, V = c["qk_nope_head_dim"] + rope, c["v_head_dim"]
        gains += q + kv + biased * (q + kv + rope)
        if kind == "indexed":
            seen["top"], width = c["index_topk"], c["index_head_dim"]
            if _own_index(c, i):
                seen |= {"index_N": c["index_n_heads"], "index_H": width}
                gains += 2 * width
        shape = {"N": N, "K": N, "H": H, "V": V, "q_rank": q, "kv_rank": kv, "rope": rope}
        return {**shape, **seen, "keys": 2, "gains": gains}
    K, H, keys = _at(c, "num_key_value_heads", i) or N, c.get("head_dim") or 0, 2
    if kind == "full" and "global_head_dim" in c:
        H = c["global_head_dim"]
        if c["attention_k_eq_v"]:
            K, keys = c["num_global_key_value_heads"] or K, 1
    if i >= c["num_hidden_layers"] - c.get("num_kv_shared_layers", 0):
        keys = 0
    if not H and D % N:
        given = f"hidden_size={D}, num_attention_heads={N}"
        raise ValueError(f"head_dim must be given unless heads divide hidden_size; got {given}")
    if N % K:
        given = f"num_key_value_heads={K}, num_attention_heads={N}"
        raise ValueError(f"num_key_value_heads must divide the heads of queries; got {given}")
    H = H or D // N
    gains += biased * (N * (1 + traits["gate"]) + K * keys) * H
    if _set(c, traits["head_norms_if"]):
        gains += {"": 0, "each": (1 + (keys > 0)) * H, "all": (N + K) * H}[traits["head_norms"]]
    return {
        "N": N,
        "K": K,
        "H": H,
        **seen,
        "keys": keys,
        "gates": N * H * traits["gate"],
        "gains": gains,
    }


def _pooled_attention(c: Mapping[str, Any], kind: str) -> dict[str, int]:
    """Return the arguments of `Layer` for DeepSeek V4.

    One vector is the key and the value of all heads. Beside a window, a "sparse" layer caches one
    vector for 4 positions and picks some by an indexer, and a "heavy" one reads one for each 128.
    """
    N, H, q, h = (
        c[key] for key in ("num_attention_heads", "head_dim", "q_lora_rank", "index_head_dim")
    )
    shape = {"N": N, "K": 1, "H": H, "keys": 1, "q_rank": q, "window": c["sliding_window"]}
    shape |= {"out_rank": c["o_lora_rank"], "out_groups": c["o_groups"], "pooled": MAX_SIZE}
    gains, hc, D = N + q + H, c["hc_mult"], c["hidden_size"]
    if kind == "sparse":
        shape |= {"pooled": 4, "pool_width": 2 * H, "top": c["index_topk"]}
        shape |= {"index_N": c["index_n_heads"], "index_H": h}
        gains += (4 * 2 * H + H) + (4 * 2 * h + h)
    elif kind == "heavy":
        shape |= {"pooled": 128, "pool_width": H}
        gains += 128 * H + H
    # Two hyper-connections mix the residual streams around attention and around the experts.
    mixed = (2 + hc) * hc
    return {**shape, "more": 2 * mixed * hc * D, "gains": gains + 2 * (mixed + 3)}


def _recurrence(c: Mapping[str, Any], traits: Mapping[str, Any]) -> dict[str, int]:
    """Return the arguments of `Layer` for linear attention or a state-space layer."""
    heads, groups, k, v, conv = (c[each] for each in STATE)
    v = v or c["expand"] * c["hidden_size"] // heads
    channels = 2 * groups * k + heads * v
    gains = channels * (conv + _set(c, traits["conv_bias"]))
    # Mamba 2 has a step width, a decay and a skip per head, and a norm of all; gated delta networks
    # have a step width and a decay, and one norm for each head's values.
    gains += 2 * heads + v if traits["delta"] else 3 * heads + heads * v
    controls = 2 if traits["delta"] else 1
    made = channels + heads * v + controls * heads
    gains += (made + c["hidden_size"]) * _set(c, traits["state_bias"])
    shape = {"state_heads": heads, "state_groups": groups, "state_keys": k, "state_values": v}
    stored = {"float32": 4, "bfloat16": 2, "float16": 2}
    width = stored[one_of("the type of the state", c["state_dtype"], stored)]
    return {**shape, "conv": conv, "controls": controls, "state_width": width, "gains": gains}


def _mlp(c: Mapping[str, Any], traits: Mapping[str, Any], i: int, kind: str) -> dict[str, int]:
    """Return the arguments of `Layer` for its MLP, its experts, or both."""
    D, F, shape, gains = c["hidden_size"], c.get("intermediate_size", 0), {}, 0
    biased = _set(c, traits["mlp_bias"])
    if c.get("use_double_wide_mlp") and i >= c["num_hidden_layers"] - c["num_kv_shared_layers"]:
        F *= 2
    if kind == "moe" or (not traits["alone"] and _has_experts(c, traits["sparse"], i)):
        E, X = _at(c, "num_experts", i), _at(c, "moe_intermediate_size", i)
        X = X or c["intermediate_size"]
        k = _whole("num_experts_per_tok", _at(c, "num_experts_per_tok", i), most=E)
        shape, latent = {"experts": E, "active": k, "X": X}, c.get("moe_latent_size", 0)
        shape |= {"expert_D": latent, "more": 2 * D * latent + D * traits["shared_gate"]}
        gains += E * (traits["sinks"] or traits["router_bias"]) + biased * (
            latent + D * (latent > 0)
        )
        if traits["beside"]:  # the MLP stands beside the experts; the router scales its input
            gains += 3 * D + D + E
        else:
            F = c.get("shared_expert_intermediate_size", 0)
            F = F or _at(c, "n_shared_experts", i) * X
    gains += biased * (F > 0) * ((1 + traits["gated"]) * F + D)
    return {"F": F, **shape, "gains": gains}


def _kind(c: Mapping[str, Any], traits: Mapping[str, Any], i: int) -> str:
    """Return how a layer mixes positions: "full", "window", "indexed" or "linear".

    Families whose layers are a mixer or an MLP have "moe" and "mlp", too.
    """
    known = {"full"} | ({"window"} if traits["window"] else set())
    known |= {"linear"} if STATE[0] in c else set()
    known |= {"indexed"} if "index_topk" in c else set()
    known |= {"moe", "mlp"} if traits["alone"] else set()
    known = {"window", "sparse", "heavy"} if "o_lora_rank" in c else known
    if c.get("layer_types"):
        unlike = "sliding" if traits["window"] == "attention_chunk_size" else "chunked"
        names = [name for name, each in LAYER_TYPES.items() if each in known and unlike not in name]
        given = c["layer_types"][i]
        given = OLDER.get(given, given) if isinstance(given, str) else given
        kind = LAYER_TYPES[one_of("layer_types", given, names)]
    else:
        kind = traits["mixer"] if _differs(c, traits["where"], i) else traits["other"]
    if "o_lora_rank" in c:
        return kind
    if kind == "window":
        on = c[traits["window"]] and c.get("use_sliding_window", True)
        last = traits["last_full"] and i == c["num_hidden_layers"] - 1
        kind = "window" if on and not last else "full"
    return "indexed" if kind == "full" and "indexed" in known else kind


def _differs(c: Mapping[str, Any], rule: str, i: int) -> bool:
    """Return whether a layer is not full attention, where `layer_types` doesn't say it."""
    every, rotary = c.get("pattern", 0), c.get("no_rope_layers")
    if rule == "but each":
        return bool(every > 0 and (i + 1) % every > 0)
    if rule == "from":
        return bool(i >= c["max_window_layers"])
    if rule == "but two and every other":
        return i > 1 and i % 2 > 0
    if rule == "before, every other":
        return (i + 1) % 2 > 0 and i < c["max_window_layers"]
    if rule in ("rotary", "not rotary"):
        turned = bool(rotary[i]) if rotary else (i + 1) % 4 > 0
        return turned == (rule == "rotary")
    return rule == "always"


def _has_experts(c: Mapping[str, Any], rule: str, i: int) -> bool:
    """Return whether a layer has routed experts."""
    if c.get("mlp_layer_types"):
        names = ("dense", "sparse", "moe", "hash_moe")
        return one_of("mlp_layer_types", c["mlp_layer_types"][i], names) != "dense"
    if rule == "each":  # the first of them is the layer before a multiple of the step
        return i not in c["mlp_only_layers"] and (i + 1) % c["decoder_sparse_step"] == 0
    if rule == "between":
        first, last, step = (
            c[f"moe_layer_{end}"] for end in ("start_index", "end_index", "interval")
        )
        return bool((i + 1) % step == 0 and first <= i <= (last if last >= 0 else i))
    if rule == "listed":
        step = c["interleave_moe_layer_step"]
        return i in c["moe_layers"] if c["moe_layers"] else step > 0 and (i + 1) % step == 0
    if rule == "if any":
        return bool(c["num_experts"] and c.get("enable_moe_block", True))
    return rule == "all" or (rule == "after" and i >= c.get("first_k_dense_replace", 0))


def _own_index(c: Mapping[str, Any], i: int) -> bool:
    """Return whether a layer of sparse attention has an indexer, instead of an earlier layer's."""
    if c.get("indexer_types"):
        return one_of("indexer_types", c["indexer_types"][i], ("full", "shared")) == "full"
    if pattern := c.get("index_topk_pattern"):
        return one_of("index_topk_pattern", pattern[i], ("F", "S")) == "F"
    freq, offset = c.get("index_topk_freq", 1), c.get("index_skip_topk_offset", 2)
    return bool(max(i - offset + 1, 0) % max(freq, 1) == 0)


def _set(c: Mapping[str, Any], trait: Any) -> bool:
    """Return a trait that is true, false, or the name of a key that says it."""
    return bool(c[trait]) if isinstance(trait, str) else bool(trait)


def _at(c: Mapping[str, Any], key: str, i: int) -> Any:
    """Return a size of layer `i`: files may give one for each layer, or one for all."""
    value = c.get(key, 0)
    return value[i] if isinstance(value, list) else value


def _checked(own: str, key: str, given: Mapping[str, Any], default: Any, nested: bool) -> Any:
    """Return a key's value, or its default if it is missing.

    Raise ValueError if the value is invalid, or if a size that must be given is not.
    """
    names = [key, *NAMES.get(own, ())]
    key = next((name for name in names if given.get(name) is not None), key)
    value = given.get(key)
    if value is None:
        null = any(name in given for name in names)
        if own in SIZES["must"] and default and (null or not nested):
            raise ValueError(f"{key} must be given for {given['model_type']}; got none")
        return 0 if null and own in SIZES["may_be_null"] + SIZES["may_be_zero"] else default
    if isinstance(default, bool):
        return _be(key, value, bool, "true or false")
    if isinstance(default, str):
        return _be(key, value, str, "a string")
    if isinstance(default, list):
        return _be(key, value, list, "a list")
    if value == "auto" and own == "state_values":
        return 0
    if own == "pattern" and isinstance(value, str):
        return len(value)  # such as LLLG
    most = MAX_LAYERS if key == "num_hidden_layers" else MAX_SIZE
    least = (
        -1
        if own == "moe_layer_end_index"
        else int(default != 0 and own not in SIZES["may_be_zero"])
    )
    if own in SIZES["per_layer"] and isinstance(value, list):
        if len(value) != given.get("num_hidden_layers"):
            raise ValueError(f"{key} must be one size, or one for each layer; got {short(value)}")
        return [_whole(key, each, least, most) for each in value]
    return _whole(key, value, least, most)


def _whole(key: str, value: Any, least: int = 1, most: int = MAX_SIZE) -> int:
    if type(value) is not int or not least <= value <= most:
        wanted = f"a whole number from {least} to {most:,}"
        raise ValueError(f"{key} must be {wanted}; got {short(value)}")
    return value


def _be(key: str, value: Any, kind: Any, what: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{key} must be {what}; got {short(value)}")
    return value


def _check_unused(given: Mapping[str, Any], family: str, used: set[str]) -> None:
    """Raise a ValueError for a key that speaks of a kind of layer that the family doesn't have."""
    used = used.union(SIZES["unused"], *(NAMES.get(key, ()) for key in used))
    for key, value in given.items():
        # Texts, flags and fractions tell how to train or compute, not what there is.
        sizes = type(value) is int or isinstance(value, (list, Mapping))
        if value and sizes and key not in used and SPEAKS.search(key):
            known = f"{key} must be left out for {family}, which has none"
            raise ValueError(f"{known}; got {short(value)}")


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
    _be(f"content of {path}", found, Mapping, "a JSON object")
    return found  # type: ignore[no-any-return]
