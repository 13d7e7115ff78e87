"""Towers beside a language model, such as one that sees: their weights, counted apart.

Shapes are those of the classes in `transformers` 5.24.0. A tower of another kind is named, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rooflib.catalog import read_toml

USUAL = read_toml("llm/towers.toml")


def towers(given: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the weights of each tower in a file, with what leads from it to the language model.

    None stands for a kind of tower that isn't known.
    """
    found: dict[str, int | None] = {}
    for name in ("vision", "audio"):
        if isinstance(c := given.get(f"{name}_config"), Mapping):
            of = str(c.get("model_type") or given.get("model_type"))
            of = of.removesuffix("_vision").removesuffix("_moe")
            width = (given.get("text_config") or {}).get("hidden_size", 0)
            try:
                found[name] = int(TOWERS[of](USUAL[of] | c, width))
            except (KeyError, TypeError, ValueError, ZeroDivisionError):
                found[name] = None  # not a size: the language model can be counted all the same
    return found


def _blocks(layers: int, D: int, F: int, *, norm: int = 2, gated: bool = False) -> int:
    """Return the weights of blocks of attention and an MLP; a norm has `norm` numbers per width."""
    matrices = 4 * D * D + (2 + gated) * D * F
    return layers * (matrices + 2 * norm * D + 4 * D + (1 + gated) * F + D)


def _qwen(c: Mapping[str, Any], out: int) -> Any:
    """Return the weights of the tower of Qwen3-VL and Qwen3.5, or the older of Qwen2.5-VL."""
    D, F, layers = c["hidden_size"], c["intermediate_size"], c["depth"]
    inputs = c.get("in_channels", c["in_chans"]) * c["temporal_patch_size"]
    first = inputs * c["patch_size"] ** 2 * D
    wide = c["spatial_merge_size"] ** 2 * D
    merger = wide * (wide + 1) + (wide + 1) * c["out_hidden_size"]
    if "num_position_embeddings" not in c:
        return first + _blocks(layers, D, F, norm=1, gated=True) + merger + D
    first += D + c["num_position_embeddings"] * D
    tapped = len(c.get("deepstack_visual_indexes", ())) * (merger + 2 * wide)
    return first + _blocks(layers, D, F) + merger + 2 * D + tapped


def _siglip(c: Mapping[str, Any], out: int) -> Any:
    """Return the weights of SigLIP's tower, and of Gemma 3's way from it."""
    D, F, patch = c["hidden_size"], c["intermediate_size"], c["patch_size"]
    positions = (c["image_size"] // patch) ** 2
    first = c["num_channels"] * patch**2 * D + D + positions * D
    pooling = (D + _blocks(1, D, F, norm=1)) * c["vision_use_head"]
    return first + _blocks(c["num_hidden_layers"], D, F) + pooling + 2 * D + D * out + D


def _llama4(c: Mapping[str, Any], out: int) -> Any:
    """Return the weights of Llama 4's tower, its adapter and its projector."""
    D, F, patch = c["hidden_size"], c["intermediate_size"], c["patch_size"]
    positions = (c["image_size"] // patch) ** 2 + 1
    first = c["num_channels"] * patch**2 * D + D + positions * D + 4 * D
    wide, made = c["projector_input_dim"], c["projector_output_dim"]
    ways = F * wide + wide * made + c["vision_output_dim"] * out
    return first + _blocks(c["num_hidden_layers"], D, F) + ways


def _gemma4(c: Mapping[str, Any], out: int) -> Any:
    """Return the weights of Gemma 4's tower for images, and of the way from it."""
    D, F, H = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    heads = c["num_attention_heads"] + c["num_key_value_heads"]
    first = 3 * c["patch_size"] ** 2 * D + 2 * c["position_embedding_size"] * D
    layer = D * H * 2 * heads + 3 * D * F + 4 * D + 2 * H
    return first + c["num_hidden_layers"] * layer + D * out


TOWERS: dict[str, Callable[[Mapping[str, Any], int], Any]] = {
    **dict.fromkeys(("qwen3_vl", "qwen3_5", "qwen2_5_vl"), _qwen),
    "siglip_vision_model": _siglip,
    "llama4_vision_model": _llama4,
    "gemma4": _gemma4,
}
