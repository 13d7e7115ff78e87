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
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from rooflib.catalog import read_toml
from rooflib.checks import instance, one_of, short
from rooflib.llm.decoders import Model
from rooflib.llm.layers import EXPANDS, Layer, Matrix
from rooflib.llm.quantization import be, stored_types, whole_number
from rooflib.llm.towers import towers

MAX_BYTES, MAX_SIZE, MAX_LAYERS = 2**23, 10**7, 10_000

FAMILIES = read_toml("llm/families.toml")
"""The architectures that can be read, by `model_type`, and the keys that shape their layers."""
PARTS = ("rows", "names", "sizes", "fixed", "layer_types", "spelled_layer_types", "every")
ROWS, NAMES, SIZES, FIXED, LAYER_TYPES, SPELLED, EVERY = (FAMILIES.pop(part) for part in PARTS)
FAMILIES |= {name: {"like": other} for name, other in FAMILIES.pop("same").items()}
OUTER = ("dtype", "torch_dtype", "tie_word_embeddings")
SPEAKS = re.compile("expert|moe_|mamba|ssm_|linear_|lora_rank|index_|compress_rat")
KINDS: dict[type, str] = {bool: "true or false", str: "a string", list: "a list"}

Values: TypeAlias = Mapping[str, Any]
"""What a file says of its layers, and what its family's implementation fixes."""


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
    whole, beside = (config, None) if isinstance(config, Mapping) else _read(config)
    given = whole
    if nested := "text_config" in whole:  # the language model, with what is said beside it
        inner = be("text_config", whole["text_config"], Mapping, "an object")
        outer = {key: whole[key] for key in OUTER if whole.get(key) is not None}
        given = {"model_type": f"{whole.get('model_type')}_text", **inner, **outer}
    family = given.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        # Without a hint: a file that is read as of another family is counted wrong.
        raise ValueError(f"model_type must be one of {', '.join(FAMILIES)}; got {short(family)}")
    if not re.fullmatch(r"[\w./' :,\[\]{}-]+", str(code := whole.get("auto_map"))):  # only checked
        raise ValueError(f"auto_map must map to names of classes; got {short(code)}")
    keys = ("hybrid_override_pattern", "layer_types", *NAMES["layer_types"])
    listed = next((given[key] for key in keys if isinstance(given.get(key), (str, list))), "")
    if listed and given.get("num_hidden_layers") is None:  # as many as the file lists
        given = {**given, "num_hidden_layers": len(listed)}
    c = _values(given, family, nested)
    layers, D, V = c["num_hidden_layers"], c["hidden_size"], c["vocab_size"]
    stored = stored_types({**whole, **given}, beside, c)
    alike = Counter(stored.layer(_layer(c, i), str(i)) for i in range(layers))
    kinds = tuple(replace(kind, count=count) for kind, count in alike.items())
    own = be("name", given.get("_name_or_path") or family, str, "a string")
    last = {"F": 1, "N": 1, "K": 1, "H": 1}
    for kind in kinds:
        last |= {name: n for name, n in (vars(kind) | {"F": kind.F or kind.X}).items() if n}
    found = Model(
        own if name is None else instance("name", name, str, "a string"),
        *(layers, D, last["F"], last["N"], last["K"], last["H"], V),
        kinds=kinds,
        outer=stored.layer(_outer(c)),
        tied=c["tie_word_embeddings"],
        w=stored.plain,
        kv=stored.kv,
        towers=towers(whole),
    )
    if any(form for _, form in stored.rules) and len(found.stored_types()) == 1:
        wanted = "name the model's matrices as its targets or layers, and not leave out all"
        raise ValueError(f"quantization_config must {wanted}; it quantizes nothing")
    return found


def _outer(c: Values) -> Layer:
    """Return what stands beside the layers: tables, and what Gemma 4 and DeepSeek V4 add."""
    D, V, hc = c["hidden_size"], c["vocab_size"], c.get("hc_mult", 0)
    P = c.get("hidden_size_per_layer_input", 0)
    table = Matrix("embedding", "embed_tokens", V * D, V)
    name = table.name if c["tie_word_embeddings"] else "lm_head"
    matrices = [table, table._replace(row="logits", name=name)]
    if P:  # a further table has as much for each layer
        rows, wide = c["vocab_size_per_layer_input"], c["num_hidden_layers"] * P
        matrices += [table._replace(weights=rows * wide, parts=rows), _projection("more", D * wide)]
    if hc:
        matrices.append(_projection("more", hc * hc * D))
    return Layer(1, tuple(matrices), D * c["final_norm"] + P + V * c["head_bias"] + hc + (hc > 0))


def _values(given: Mapping[str, Any], family: str, nested: bool) -> Values:
    """Return all that shapes the layers: of the file, of its family's defaults and traits."""
    entry = _entry(family)
    traits, names, unused = (entry.pop(key) for key in ("layer", "names", "unused"))
    for row, keys in ROWS.items():
        entry = dict(zip(keys, entry.pop(row, ()), strict=False)) | entry
    c = {key: _checked(key, names.get(key, key), given, entry[key], nested) for key in entry}
    for key, only in FIXED.items():
        if given.get(key) not in (None, only, "vision"):  # images alone see in both directions
            raise ValueError(f"{key} must be {json.dumps(only)}; got {short(given[key])}")
    used = {*unused, *SIZES["unused"]}
    used = used.union(*((names.get(key, key), *NAMES.get(key, ())) for key in entry))
    for key, value in given.items():
        # Texts, flags and fractions tell how to train or compute, not what there is.
        sizes = type(value) is int or isinstance(value, (list, Mapping))
        if value and sizes and key not in used and SPEAKS.search(key):
            known = f"{key} must be left out for {family}, which has none"
            raise ValueError(f"{known}; got {short(value)}")
    if "expansion_ratio" in c:
        c["intermediate_size"] = c["expansion_ratio"] * c["hidden_size"]
    if pattern := c.get("hybrid_override_pattern"):  # its letters are the layers
        c["num_hidden_layers"] = len(pattern)
    layers = c["num_hidden_layers"]
    for key, spelled in SPELLED.items():
        if c.get(key):
            letters = (one_of(key, str(each), spelled) for each in c[key][:layers])
            c["layer_types"] = [spelled[each] for each in letters]
    listed = ("layer_types", "mlp_layer_types", "is_moe_layer", "no_rope_layers")
    for key in (*listed, "indexer_types", "index_topk_pattern"):
        if c.get(key) and len(c[key]) != layers:
            wanted = f"{layers} long, one for each layer"
            raise ValueError(f"{key} must be {wanted}; got {len(c[key])}")
    # What the family fixes, or one of its keys says: from here on both are asked alike.
    return c | {trait: c.get(each, each) for trait, each in traits.items()}


def _entry(family: str) -> dict[str, Any]:
    """Return the entry of a family, with what it has from a family that it is like."""
    own = FAMILIES[family]
    base = _entry(own["like"]) if "like" in own else EVERY
    both = {part: base[part] | own.get(part, {}) for part in ("layer", "names")}
    return {**base, **{key: own[key] for key in own if key != "like"}, **both}


def _checked(own: str, key: str, given: Mapping[str, Any], default: Any, nested: bool) -> Any:
    """Return a key's value, or its default if it is missing.

    Raise ValueError if the value is invalid, or if a size that must be given is not.
    """
    names = [key, *NAMES.get(own, ())]
    key = next((name for name in names if given.get(name) is not None), key)
    value = given.get(key)
    if value is None or (value == "auto" and own == "linear_value_head_dim"):
        null = any(name in given for name in names)
        usual, routed = own in ROWS["usual"], own in ("num_experts", "decoder_sparse_step")
        if default and ((usual and not nested) or (null and (usual or routed))):
            raise ValueError(f"{key} must be given for {given['model_type']}; got none")
        return 0 if null and own in SIZES["may_be_none"] else default
    kind = type(default)
    if kind in KINDS:
        return be(key, value, kind, KINDS[kind])
    if own == "pattern" and isinstance(value, str):
        return len(value)  # such as LLLG
    most = MAX_LAYERS if key == "num_hidden_layers" else MAX_SIZE
    # A default of -1 stands for the last layer.
    least = min(default, int(default != 0 and own not in SIZES["may_be_none"]))
    if own in SIZES["per_layer"] and isinstance(value, list):
        if len(value) != given.get("num_hidden_layers"):
            raise ValueError(f"{key} must be one size, or one for each layer; got {short(value)}")
        return [whole_number(key, each, least, most) for each in value]
    return whole_number(key, value, least, most)


def _layer(c: Values, i: int) -> Layer:
    """Return the layer with index `i`; how it is stored is not known yet."""
    D, kind = c["hidden_size"], _kind(c, i)
    layer = Layer(1, gains=c["norms"] * D)
    if kind == "linear":
        layer += _recurrence(c)
    elif "o_lora_rank" in c:
        layer += _pooled_attention(c, kind)
    elif "kv_lora_rank" in c:
        layer += _latent_attention(c, i, kind)
    elif kind not in ("moe", "mlp"):
        layer += _attention(c, i, kind)
    if not c["alone"] or kind in ("moe", "mlp"):
        layer += _mlp(c, i, kind)
    if P := c.get("hidden_size_per_layer_input", 0):
        layer += Layer(0, (_projection("more", 2 * D * P),), D)
    return layer


def _kind(c: Values, i: int) -> str:
    """Return what the layer with index `i` is, as `LAYER_TYPES` calls it."""
    if c["layer_types"]:
        known = (c["mixer"], c["other"], *c["also"].split())
        names = [name for name, each in LAYER_TYPES.items() if each in known]
        kind = LAYER_TYPES[one_of("layer_types", c["layer_types"][i], names)]
    else:
        kind = c["mixer"] if RULES[c["where"]](c, i) else c["other"]
    if kind in ("window", "chunked"):
        last = c["last_full"] and i == c["num_hidden_layers"] - 1
        on = c["window"] and c.get("use_sliding_window", True) and not last
        kind = kind if on else "full"
    return "indexed" if kind == "full" and c["mixer"] == "indexed" else kind


def _last_of(step: int, i: int) -> bool:
    """Return whether layer `i` is the last of a group of `step` layers; there is none of 0."""
    return step > 0 and (i + 1) % step == 0


# What `where` of a family says of layer `i`: whether it is a `mixer`.
RULES: dict[str, Callable[[Values, int], Any]] = {
    "always": lambda c, i: True,
    "but each": lambda c, i: c["pattern"] > 0 and not _last_of(c["pattern"], i),
    "but two and every other": lambda c, i: i > 1 and i % 2 > 0,
    "from": lambda c, i: i >= c["max_window_layers"],
    "before, every other": lambda c, i: i < c["max_window_layers"] and i % 2 == 0,
    "not rotary": lambda c, i: (
        not c["no_rope_layers"][i] if c["no_rope_layers"] else _last_of(4, i)
    ),
}


def _projection(name: str, weights: int, parts: int = 1) -> Matrix:
    return Matrix("projections", name, weights, parts)


def _attention(c: Values, i: int, kind: str) -> Layer:
    D, N, H, keys = c["hidden_size"], c["num_attention_heads"], c["head_dim"], 2
    K = c["num_key_value_heads"] or N
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
    gains = N * c["sinks"] + D * c["out_bias"]
    gains += c["qkv_bias"] * (N * (1 + c["gate"]) + K * keys) * H
    if c.get("use_qk_norm", True):
        gains += {"": 0, "each": (1 + (keys > 0)) * H, "all": (N + K) * H}[c["head_norms"]]
    matrices = [_projection("self_attn.q_proj", D * N * H * (1 + c["gate"]), N)]
    for name in ("k_proj", "v_proj")[:keys]:
        matrices.append(_projection(f"self_attn.{name}", D * K * H, K))
    matrices.append(_projection("self_attn.o_proj", N * H * D, N))
    shape = {"N": N, "K": K, "H": H, "V": H, "reuses": keys == 0, "aligned": kind == "chunked"}
    window = c["window"] if kind in ("window", "chunked") else 0
    return Layer(0, tuple(matrices), gains, window=window, **shape)


def _latent_attention(c: Values, i: int, kind: str) -> Layer:
    D, N = c["hidden_size"], c["num_attention_heads"]
    q, kv, rope = c["q_lora_rank"], c["kv_lora_rank"], c["qk_rope_head_dim"]
    plain, V = c["qk_nope_head_dim"], c["v_head_dim"]
    gains = q + kv + D * c["out_bias"] + c["qkv_bias"] * (q + kv + rope)
    H = plain + rope
    matrices = [_projection("self_attn.q_a_proj", D * q)] if q else []
    matrices += [
        _projection(f"self_attn.{'q_b_proj' if q else 'q_proj'}", (q or D) * N * H, N),
        _projection("self_attn.kv_a_proj_with_mqa", D * (kv + rope)),
        _projection(EXPANDS, kv * N * (plain + V), N),
        _projection("self_attn.o_proj", N * V * D, N),
    ]
    shape = {"N": N, "K": N, "H": H, "V": V, "q_rank": q, "kv_rank": kv, "rope": rope}
    if kind == "indexed":
        shape["top"] = c["index_topk"]
        if _own_index(c, i):
            shape |= {"index_N": c["index_n_heads"], "index_H": c["index_head_dim"]}
            matrices += _indexer(c, 1)
            gains += 2 * c["index_head_dim"]
    return Layer(0, tuple(matrices), gains, **shape)


def _own_index(c: Values, i: int) -> bool:
    """Return whether a layer of sparse attention has an indexer, instead of an earlier layer's."""
    if c.get("indexer_types"):
        return one_of("indexer_types", c["indexer_types"][i], ("full", "shared")) == "full"
    if pattern := c.get("index_topk_pattern"):
        return one_of("index_topk_pattern", pattern[i], ("F", "S")) == "F"
    freq, offset = c.get("index_topk_freq", 1), c.get("index_skip_topk_offset", 2)
    return bool(max(i - offset + 1, 0) % freq == 0)


def _indexer(c: Values, keys: int) -> list[Matrix]:
    """Return the matrices of an indexer, one of them for so many `keys`."""
    D, N, H = (c[key] for key in ("hidden_size", "index_n_heads", "index_head_dim"))
    sizes = {"wq_b": c["q_lora_rank"] * N * H, "wk": keys * D * H, "weights_proj": D * N}
    return [_projection(f"self_attn.indexer.{name}", size) for name, size in sizes.items()]


def _pooled_attention(c: Values, kind: str) -> Layer:
    """Return attention of DeepSeek V4.

    One vector, a latent of width H, is the key and the value of all heads. Beside a window, a
    "sparse" layer caches one for 4 positions and picks some by an indexer, and a "heavy" one reads
    one for each 128.
    """
    D, N, H, q = c["hidden_size"], c["num_attention_heads"], c["head_dim"], c["q_lora_rank"]
    out, h, hc = c["o_lora_rank"], c["index_head_dim"], c["hc_mult"]
    # Two hyper-connections mix the residual streams around attention and around the experts.
    mixed = (2 + hc) * hc
    gains = N + q + H + 2 * (mixed + 3)
    matrices = [
        _projection("self_attn.q_a_proj", D * q),
        _projection("self_attn.q_b_proj", q * N * H, N),
        _projection("self_attn.kv_proj", D * H),
        _projection("self_attn.o_a_proj", N * H * out, N),
        _projection("self_attn.o_b_proj", out * c["o_groups"] * D, out * c["o_groups"]),
        _projection("more", 2 * mixed * hc * D),
    ]
    shape = {"N": N, "H": H, "V": H, "q_rank": q, "kv_rank": H, "window": c["window"]}
    shape["pooled"] = {"sparse": 4, "heavy": 128}.get(kind, 0)
    if kind == "sparse":  # pools overlap: each is made of itself and its neighbor, with gates
        shape |= {"top": c["index_topk"], "index_N": c["index_n_heads"], "index_H": h}
        matrices += [_projection("self_attn.compressor", 4 * D * H), *_indexer(c, 4)]
        gains += (4 * 2 * H + H) + (4 * 2 * h + h)
    elif kind == "heavy":
        matrices.append(_projection("self_attn.compressor", 2 * D * H))
        gains += 128 * H + H
    return Layer(0, tuple(matrices), gains, **shape)


def _recurrence(c: Values) -> Layer:
    D, N, groups = c["hidden_size"], c["linear_num_value_heads"], c["linear_num_key_heads"]
    k, conv = c["linear_key_head_dim"], c["linear_conv_kernel_dim"]
    v = c["linear_value_head_dim"] or c["expand"] * D // N
    width, shared = N * v, 2 * groups * k
    gains = (width + shared) * (conv + c["conv_bias"])
    # Mamba 2 has a step width, a decay and a skip per head, and a norm of all; gated delta networks
    # have a step width and a decay, and one norm for each head's values.
    if c["delta"]:
        gains += 2 * N + v
        made = {"in_proj_qkv": width, "in_proj_z": width, "in_proj_ba": 2 * N}
    else:
        gains += 3 * N + width
        made = {"in_proj": 2 * width + N}
    gains += (sum(made.values()) + shared + D) * c["state_bias"]
    widths = {"float32": 4, "bfloat16": 2, "float16": 2}
    stored = widths[one_of("the type of the state", c["state_dtype"], widths)]
    made["out_proj"] = width
    matrices = [_projection(f"linear_attn.{name}", D * size, N) for name, size in made.items()]
    matrices.append(matrices[0]._replace(weights=D * shared, parts=groups))
    # A state decays (1), takes in a product of a key and a value (2), and is multiplied with a
    # query (2); a gated delta network first multiplies it with the key (2), too. Sources: Dao & Gu,
    # "Transformers are SSMs", 2024; Yang et al., "Gated Delta Networks", 2024. Chunked kernels
    # compute more, to multiply matrices.
    shape = {"state_heads": N, "state_groups": groups, "state_H": k, "state_V": v, "conv": conv}
    shape |= {"state_width": stored, "state_flops": 5 + 2 * c["delta"]}
    return Layer(0, tuple(matrices), gains, **shape)


def _mlp(c: Values, i: int, kind: str) -> Layer:
    D, F, gated = c["hidden_size"], c["intermediate_size"], c["gated"]
    biased, gains = c["mlp_bias"], 0
    shape: dict[str, Any] = {}
    matrices, path = [], "mlp"
    if c.get("use_double_wide_mlp") and i >= c["num_hidden_layers"] - c["num_kv_shared_layers"]:
        F *= 2
    if kind == "moe" or (kind != "mlp" and _has_experts(c, i)):
        listed = [key for key in SIZES["per_layer"] if isinstance(c.get(key), list)]
        c = {**c, **{key: c[key][i] for key in listed}}
        E = c["num_experts"]
        path, routed = ("mlp", "experts") if c["beside"] else ("mlp.shared_experts", "mlp.experts")
        own = "moe_intermediate_size"
        wide = own if c.get(own) else "intermediate_size"
        X = whole_number(wide, c[wide], most=MAX_SIZE)
        k = whole_number("num_experts_per_tok", c["num_experts_per_tok"], most=E)
        latent = c.get("moe_latent_size", 0)
        if further := 2 * D * latent + D * c["shared_gate"]:
            matrices.append(_projection("more", further))
        matrices.append(Matrix("router", "mlp.gate", D * E))
        matrices += _matrices_of_mlp("experts", f"{routed}.*", latent or D, X, gated)
        biases = c["sinks"] * ((1 + gated) * X + D)
        shape = {"experts": E, "active": k, "X": X, "expert_biases": biases}
        gains += E * (c["sinks"] or c["router_bias"])
        gains += biased * (latent + D * (latent > 0))
        if c["beside"]:  # the MLP stands beside the experts; the router scales its input
            gains += 3 * D + D + E
        else:
            F = c.get("shared_expert_intermediate_size", 0)
            F = F or c.get("n_shared_experts", 0) * X
    if F:
        matrices += _matrices_of_mlp("MLP", path, D, F, gated)
        gains += biased * ((1 + gated) * F + D)
    return Layer(0, tuple(matrices), gains, F=F, **shape)


def _has_experts(c: Values, i: int) -> bool:
    """Return whether a layer that also mixes positions has routed experts."""
    if c.get("mlp_layer_types"):
        names = ("dense", "sparse", "moe", "hash_moe")
        return one_of("mlp_layer_types", c["mlp_layer_types"][i], names) != "dense"
    if each := c.get("is_moe_layer"):
        return bool(be("is_moe_layer", each[i], bool, "true or false for each layer"))
    if not c.get("num_experts") or not c.get("enable_moe_block", True):
        return False
    if c.get("moe_layers"):
        return i in c["moe_layers"]
    first, last = c.get("first_k_dense_replace", 0), c.get("moe_layer_end_index", -1)
    between = first <= i and (i <= last or last < 0) and i not in c.get("mlp_only_layers", ())
    return between and _last_of(c.get("decoder_sparse_step", 1), i)


def _matrices_of_mlp(row: str, path: str, D: int, F: int, gated: bool) -> list[Matrix]:
    """Return the matrices of an MLP, or of one expert; without a gate, there are two."""
    names = ("gate_proj", "up_proj", "down_proj")[not gated :]
    parts = 1 if row == "experts" else F  # chips may split all experts, not each
    return [Matrix(row, f"{path}.{name}", D * F, parts) for name in names]


def _read(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Return the content of a config file, and of the `hf_quant_config.json` beside it, or None."""
    instance("config", path, (str, os.PathLike), "a path or a mapping")
    beside = Path(path).parent / "hf_quant_config.json"
    return _json(Path(path)), _json(beside) if beside.is_file() else None


def _json(path: Path) -> Any:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} must have at most {MAX_BYTES:,} bytes; it has more")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path} must be JSON; it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} must be JSON in UTF-8: {error}") from None
    return be(f"content of {path}", found, Mapping, "a JSON object")
