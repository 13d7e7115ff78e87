"""Models as rows of plain numbers, from which formulas compute a step of any model."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from rooflib.config import model_from_config
from rooflib.dtypes import dtype
from rooflib.layers import Layer
from rooflib.models import ROWS, Model

CHIPS = (1, 2, 4, 8)
COUNTS = (*CHIPS, 16)
"""Numbers of chips that formulas know: those to choose, and twice the largest."""


def row(model: Model) -> dict[str, Any]:
    """Return a model's shapes, the bytes of its weights, and how chips can split it.

    `stored` has bytes per weight for each of `rooflib.models.ROWS`, `bits` the fewest per weight.
    `splits` and `spreads` say for each of `COUNTS` whether chips can split the model, and whether
    they can hold whole experts; `refusals` say why they can't split it.
    """
    types = [dtype(model.quantized.get(name, model.w)) for name in ROWS]
    return {
        "D": model.D,
        "vocabulary": model.vocabulary,
        "tied": 1 * model.tied,
        "x": dtype(model.w).bytes,
        "stored": [kind.bytes for kind in types],
        "bits": min(kind.bits for kind in types),
        "kinds": [_kind(kind) for kind in model.every_kind],
        "splits": [1 * (_refusal(model, count) == "") for count in COUNTS],
        "spreads": [1 * (_refusal(model, count, spread=True) == "") for count in COUNTS],
        "refusals": [_refusal(model, count) for count in CHIPS],
    }


def in_bf16(model: Model) -> Model:
    """Return the reader's model with types and a name that the figure can show."""
    if dtype(model.w).name not in ("bf16", "fp16"):
        raise ValueError(f"w of the model must be bf16 or fp16; got {dtype(model.w).name}")
    # Braces mark placeholders in sentences, so a model's name must not contain any.
    return replace(model, w="bf16", name=model.name.replace("{", "(").replace("}", ")"))


def answer(content: bytes) -> str:
    """Return JSON of a config file's model, by its name and row, or of what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.json")
        path.write_bytes(content)
        try:
            model = in_bf16(model_from_config(path))
        except (TypeError, ValueError) as error:
            return json.dumps({"problem": str(error).replace(f"{folder}{os.sep}", "")})
    return json.dumps({"name": model.name, "row": row(model)})


def _kind(kind: Layer) -> dict[str, Any]:
    sizes = ("count", "N", "K", "H", "F", "experts", "active", "X", "window", "q_rank", "kv_rank")
    return {
        **{name: getattr(kind, name) for name in (*sizes, "rope", "gains", "matrices")},
        "V": kind.value,
        "expert_biases": 1 * kind.expert_biases,
        "reached": [_reached(kind, count) for count in COUNTS],
    }


def _reached(kind: Layer, count: int) -> float:
    """Return how many other chips a token goes to; 0 if `count` chips can't share the experts."""
    spread = kind.experts and kind.experts % count == 0
    return float(kind.chips_reached(count)) if spread else 0


def _refusal(model: Model, count: int, spread: bool = False) -> str:
    """Return why `count` chips can't split the model, or hold whole experts; "" if they can."""
    try:
        model.decode(1, 1, count, expert_parallel=spread)
    except ValueError as error:
        return str(error)
    return ""
