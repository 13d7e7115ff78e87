"""Layers as a family's class in `transformers` 5.24.0 makes them: sums of matrices and shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from rooflib.checks import one_of
from rooflib.llm.layers import EXPANDS, Layer, Matrix
from rooflib.llm.quantization import whole_number

Values: TypeAlias = Mapping[str, Any]
"""What a file says, or else its family's entry in `families.toml`, by the names there."""

Part: TypeAlias = dict[str, Any]
"""A part of a layer: what it adds to fields of `Layer`."""


def added(parts: Iterable[Part]) -> Layer:
    """Return the layer that consists of these parts; how it is stored is not known yet."""
    total: Part = {"count": 1}
    for part in parts:
        total |= {name: total[name] + n if name in total else n for name, n in part.items()}
    return Layer(**total)


def _matrix(name: str, D: int, F: int, parts: int = 1, bias: Any = 0, row: str = "") -> Part:
    """Return a matrix [D, F], by default of the projections, maybe with a bias."""
    biases = "expert_biases" if row == "experts" else "gains"
    return {"matrices": (Matrix(row or "projections", name, D * F, parts),), biases: F * bias}


def beside_layers(c: Values) -> Iterator[Part]:
    """Yield what stands beside the layers: tables, and what Gemma 4 and DeepSeek V4 add."""
    D, V, hc = c["hidden_size"], c["vocab_size"], c.get("hc_mult", 0)
    yield {"gains": D * c["final_norm"]}
    yield _matrix("embed_tokens", D, V, V, row="embedding")
    name = "embed_tokens" if c["tie_word_embeddings"] else "lm_head"
    yield _matrix(name, D, V, V, c["head_bias"], "logits")
    if P := c.get("hidden_size_per_layer_input", 0):  # a further table has as much for each layer
        rows, wide = c["vocab_size_per_layer_input"], c["num_hidden_layers"] * P
        yield _matrix("embed_tokens", wide, rows, rows, row="embedding")
        yield _matrix("more", D, wide) | {"gains": P}
    if hc:
        yield _matrix("more", hc * D, hc) | {"gains": hc + 1}


def of_layer(c: Values) -> Iterator[Part]:
    """Yield the parts of a layer: what mixes positions, and an MLP or experts."""
    D, kind = c["hidden_size"], c["kind"]
    yield {"gains": c["norms"] * D}
    if kind == "linear":
        yield from _recurrence(c)
    elif "o_lora_rank" in c:
        yield from _pooled_attention(c)
    elif "kv_lora_rank" in c:
        yield from _latent_attention(c)
    elif kind not in ("moe", "mlp"):
        yield from _attention(c)
    if not c["alone"] or kind in ("moe", "mlp"):
        yield from _mlp_and_experts(c)
    if P := c.get("hidden_size_per_layer_input", 0):
        yield _matrix("more", D, 2 * P) | {"gains": D}


def _attention(c: Values) -> Iterator[Part]:
    D, N, H, kind = c["hidden_size"], c["num_attention_heads"], c["head_dim"], c["kind"]
    K, keys = c["num_key_value_heads"] or N, 2
    if kind == "full" and "global_head_dim" in c:
        H = c["global_head_dim"]
        if c["attention_k_eq_v"]:
            K, keys = c["num_global_key_value_heads"] or K, 1
    keys = 0 if c["shares"] else keys
    if not H and D % N:
        given = f"hidden_size={D}, num_attention_heads={N}"
        raise ValueError(f"head_dim must be given unless heads divide hidden_size; got {given}")
    if N % K:
        given = f"num_key_value_heads={K}, num_attention_heads={N}"
        raise ValueError(f"num_key_value_heads must divide the heads of queries; got {given}")
    H = H or D // N
    window = c["window"] if kind in ("window", "chunked") else 0
    yield {"N": N, "K": K, "H": H, "V": H, "reuses": keys == 0}
    yield {"window": window, "aligned": kind == "chunked", "gains": N * c["sinks"]}
    if c.get("use_qk_norm", True):
        norms = {"": 0, "each": (1 + (keys > 0)) * H, "all": (N + K) * H}
        yield {"gains": norms[c["head_norms"]]}
    yield _matrix("self_attn.q_proj", D, N * H * (1 + c["gate"]), N, c["qkv_bias"])
    for name in ("k_proj", "v_proj")[:keys]:
        yield _matrix(f"self_attn.{name}", D, K * H, K, c["qkv_bias"])
    yield _matrix("self_attn.o_proj", N * H, D, N, c["out_bias"])


def _latent_attention(c: Values) -> Iterator[Part]:
    D, N, bias = c["hidden_size"], c["num_attention_heads"], c["qkv_bias"]
    q, kv, rope = c["q_lora_rank"], c["kv_lora_rank"], c["qk_rope_head_dim"]
    plain, V = c["qk_nope_head_dim"], c["v_head_dim"]
    yield {"N": N, "K": N, "H": plain + rope, "V": V, "q_rank": q, "kv_rank": kv, "rope": rope}
    yield {"gains": q + kv}
    if q:
        yield _matrix("self_attn.q_a_proj", D, q, bias=bias)
    name = "q_b_proj" if q else "q_proj"
    yield _matrix(f"self_attn.{name}", q or D, N * (plain + rope), N)
    yield _matrix("self_attn.kv_a_proj_with_mqa", D, kv + rope, bias=bias)
    yield _matrix(EXPANDS, kv, N * (plain + V), N)
    yield _matrix("self_attn.o_proj", N * V, D, N, c["out_bias"])
    if c["kind"] == "indexed":
        yield {"top": c["index_topk"]}
        if c["picks"]:
            yield {"gains": 2 * c["index_head_dim"]}
            yield from _indexer(c, 1)


def _indexer(c: Values, keys: int) -> Iterator[Part]:
    """Yield the indexer of sparse attention, which makes so many `keys` of a position."""
    D, N, H = (c[key] for key in ("hidden_size", "index_n_heads", "index_head_dim"))
    yield {"index_N": N, "index_H": H}
    yield _matrix("self_attn.indexer.wq_b", c["q_lora_rank"], N * H)
    yield _matrix("self_attn.indexer.wk", D, keys * H)
    yield _matrix("self_attn.indexer.weights_proj", D, N)


def _pooled_attention(c: Values) -> Iterator[Part]:
    """Yield attention of DeepSeek V4.

    One vector, a latent of width H, is the key and the value of all heads. Beside a window, a
    "sparse" layer caches one for 4 positions and picks some by an indexer, and a "heavy" one reads
    one for each 128.
    """
    D, N, H, q = c["hidden_size"], c["num_attention_heads"], c["head_dim"], c["q_lora_rank"]
    out, groups, h, hc = c["o_lora_rank"], c["o_groups"], c["index_head_dim"], c["hc_mult"]
    pooled = {"sparse": 4, "heavy": 128}.get(c["kind"], 0)
    yield {"N": N, "H": H, "V": H, "q_rank": q, "kv_rank": H, "gains": N + q + H}
    yield {"window": c["window"], "pooled": pooled}
    yield _matrix("self_attn.q_a_proj", D, q)
    yield _matrix("self_attn.q_b_proj", q, N * H, N)
    yield _matrix("self_attn.kv_proj", D, H)
    yield _matrix("self_attn.o_a_proj", N * H, out, N)
    yield _matrix("self_attn.o_b_proj", out * groups, D, out * groups)
    # Two hyper-connections mix the residual streams around attention and around the experts.
    mixed = (2 + hc) * hc
    yield _matrix("more", hc * D, 2 * mixed) | {"gains": 2 * (mixed + 3)}
    if c["kind"] == "sparse":  # pools overlap: each is made of itself and its neighbor, with gates
        yield _matrix("self_attn.compressor", D, 4 * H)
        yield from _indexer(c, 4)
        yield {"top": c["index_topk"], "gains": (4 * 2 + 1) * (H + h)}
    elif c["kind"] == "heavy":
        yield _matrix("self_attn.compressor", D, 2 * H) | {"gains": (128 + 1) * H}


def _recurrence(c: Values) -> Iterator[Part]:
    D, N, groups = c["hidden_size"], c["linear_num_value_heads"], c["linear_num_key_heads"]
    k, conv, bias = c["linear_key_head_dim"], c["linear_conv_kernel_dim"], c["state_bias"]
    v = c["linear_value_head_dim"] or c["expand"] * D // N
    width, shared = N * v, 2 * groups * k
    widths = {"float32": 4, "bfloat16": 2, "float16": 2}
    stored = widths[one_of("the type of the state", c["state_dtype"], widths)]
    # A state decays (1), takes in a product of a key and a value (2), and is multiplied with a
    # query (2); a gated delta network first multiplies it with the key (2), too. Sources: Dao & Gu,
    # "Transformers are SSMs", 2024; Yang et al., "Gated Delta Networks", 2024. Chunked kernels
    # compute more, to multiply matrices.
    yield {"state_heads": N, "state_groups": groups, "state_H": k, "state_V": v, "conv": conv}
    yield {"state_width": stored, "state_flops": 5 + 2 * c["delta"]}
    # Mamba 2 has a step width, a decay and a skip per head, and a norm of all; gated delta networks
    # have a step width and a decay, and one norm for each head's values.
    yield {"gains": 2 * N + v if c["delta"] else 3 * N + width}
    yield {"gains": (width + shared) * (conv + c["conv_bias"])}
    delta = {"in_proj_qkv": width, "in_proj_z": width, "in_proj_ba": 2 * N}
    made = delta if c["delta"] else {"in_proj": 2 * width + N}
    for name, F in made.items():
        yield _matrix(f"linear_attn.{name}", D, F, N, bias)
    yield _matrix(f"linear_attn.{next(iter(made))}", D, shared, groups, bias)
    yield _matrix("linear_attn.out_proj", width, D, N, bias)


def _mlp_and_experts(c: Values) -> Iterator[Part]:
    D, bias, path = c["hidden_size"], c["mlp_bias"], "mlp"
    F = c.get("expansion_ratio", 0) * D or c["intermediate_size"]
    if c.get("use_double_wide_mlp") and c["shares"]:
        F *= 2
    if c["routed"]:
        E, latent = c["num_experts"], c.get("moe_latent_size", 0)
        wide = "moe_intermediate_size" if c.get("moe_intermediate_size") else "intermediate_size"
        X = whole_number(wide, c[wide])
        k = whole_number("num_experts_per_tok", c["num_experts_per_tok"], most=E)
        yield {"experts": E, "active": k, "X": X}
        yield _matrix("mlp.gate", D, E, 1, c["sinks"] or c["router_bias"], "router")
        routed = "experts" if c["beside"] else "mlp.experts"
        yield from _mlp(c, f"{routed}.*", latent or D, X, c["sinks"], "experts")
        if latent:
            yield _matrix("more", D, latent, 1, bias)
            yield _matrix("more", latent, D, 1, bias)
        if c["shared_gate"]:
            yield _matrix("more", D, 1)
        if c["beside"]:  # the MLP stands beside the experts; the router scales its input
            yield {"gains": 3 * D + D + E}
        else:
            path = "mlp.shared_experts"
            F = c.get("shared_expert_intermediate_size", 0) or c.get("n_shared_experts", 0) * X
    if F:
        yield {"F": F}
        yield from _mlp(c, path, D, F, bias, "MLP")


def _mlp(c: Values, path: str, D: int, F: int, bias: bool, row: str) -> Iterator[Part]:
    """Yield the matrices of an MLP, or of one expert; without a gate, there are two."""
    parts = F if row == "MLP" else 1  # chips may split all experts, not each
    for name in ("gate_proj", "up_proj")[not c["gated"] :]:
        yield _matrix(f"{path}.{name}", D, F, parts, bias, row)
    yield _matrix(f"{path}.down_proj", F, D, parts, bias, row)
