"""Towers beside a language model, such as one that sees: their weights, counted apart.

Shapes are those of the classes in `transformers` 5.24.0. A tower of another kind is named, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

Sizes: TypeAlias = Mapping[str, Any]


def towers(given: Sizes) -> dict[str, int | None]:
    """Return the weights of each tower in a file, with what leads from it to the language model.

    None stands for a kind of tower that isn't known.
    """
    found: dict[str, int | None] = {}
    for key in ("vision_config", "audio_config"):
        if not isinstance(c := given.get(key), Mapping):
            continue
        of = str(c.get("model_type") or given.get("model_type"))
        count = TOWERS.get(of.removesuffix("_vision").removesuffix("_moe"))
        text = given.get("text_config") or {}
        name = key.removesuffix("_config")
        try:
            found[name] = int(count(c, text.get("hidden_size", 0))) if count else None
        except (TypeError, ValueError, ZeroDivisionError):
            found[name] = None  # not a size: the language model can be counted all the same
    return found


def _blocks(layers: int, D: int, F: int, *, norm: int = 2, gated: bool = False) -> int:
    """Return the weights of blocks of attention and an MLP; a norm has `norm` numbers per width."""
    matrices = 4 * D * D + (2 + gated) * D * F
    return layers * (matrices + 2 * norm * D + 4 * D + (1 + gated) * F + D)


def _qwen(c: Sizes, out: int, older: bool = False) -> Any:
    """Return the weights of the tower of Qwen3-VL and Qwen3.5, or the older of Qwen2.5-VL."""
    D = c.get("hidden_size", 3584 if older else 1152)
    F = c.get("intermediate_size", 3420 if older else 4304)
    inputs = c.get("in_channels", c.get("in_chans", 3)) * c.get("temporal_patch_size", 2)
    first = inputs * c.get("patch_size", 14 if older else 16) ** 2 * D
    wide = c.get("spatial_merge_size", 2) ** 2 * D
    merger = wide * (wide + 1) + (wide + 1) * c.get("out_hidden_size", 3584)
    if older:
        return first + _blocks(c.get("depth", 32), D, F, norm=1, gated=True) + merger + D
    first += D + c.get("num_position_embeddings", 2304) * D
    taps = c.get("deepstack_visual_indexes", ()) if "qwen3_vl" in c.get("model_type", "") else ()
    tapped = len(taps) * (merger + 2 * wide)
    return first + _blocks(c.get("depth", 27), D, F) + merger + 2 * D + tapped


def _siglip(c: Sizes, out: int) -> Any:
    """Return the weights of SigLIP's tower, and of Gemma 3's way from it."""
    D, patch = c.get("hidden_size", 768), c.get("patch_size", 16)
    positions = (c.get("image_size", 224) // patch) ** 2
    first = c.get("num_channels", 3) * patch**2 * D + D + positions * D
    F, layers = c.get("intermediate_size", 3072), c.get("num_hidden_layers", 12)
    pooling = (D + _blocks(1, D, F, norm=1)) * c.get("vision_use_head", True)
    return first + _blocks(layers, D, F) + pooling + 2 * D + D * out + D


def _llama4(c: Sizes, out: int) -> Any:
    """Return the weights of Llama 4's tower, its adapter and its projector."""
    D, F = c.get("hidden_size", 768), c.get("intermediate_size", 5632)
    patch = c.get("patch_size", 14)
    positions = (c.get("image_size", 448) // patch) ** 2 + 1
    first = c.get("num_channels", 3) * patch**2 * D + D + positions * D + 4 * D
    wide, made = c.get("projector_input_dim", 4096), c.get("projector_output_dim", 4096)
    ways = F * wide + wide * made + c.get("vision_output_dim", 7680) * out
    return first + _blocks(c.get("num_hidden_layers", 34), D, F) + ways


def _gemma4(c: Sizes, out: int) -> Any:
    """Return the weights of Gemma 4's tower for images, and of the way from it."""
    D, F, H = c.get("hidden_size", 768), c.get("intermediate_size", 3072), c.get("head_dim", 64)
    heads = c.get("num_attention_heads", 12) + c.get("num_key_value_heads", 12)
    positions = c.get("position_embedding_size", 10_240)
    first = 3 * c.get("patch_size", 16) ** 2 * D + 2 * positions * D
    layer = D * H * 2 * heads + 3 * D * F + 4 * D + 2 * H
    return first + c.get("num_hidden_layers", 16) * layer + D * out


TOWERS: dict[str, Callable[[Sizes, int], Any]] = {
    "qwen3_vl": _qwen,
    "qwen3_5": _qwen,
    "qwen2_5_vl": partial(_qwen, older=True),
    "siglip_vision_model": _siglip,
    "llama4_vision_model": _llama4,
    "gemma4": _gemma4,
}
