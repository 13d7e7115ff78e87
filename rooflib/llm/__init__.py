"""Language models as sums of work: read from a `config.json`, served and trained on chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rooflib.llm.catalog import (
    critical_training_batch,
    kv_bytes_per_token,
    model,
    models,
    published_steps,
)
from rooflib.llm.decoders import Model
from rooflib.llm.layers import Layer

if TYPE_CHECKING:
    from rooflib.llm.config import model_from_config
    from rooflib.llm.serving import Serving, expected_tokens, mfu

# fmt: off
__all__ = [
    "Layer", "Model", "Serving", "critical_training_batch", "expected_tokens",
    "kv_bytes_per_token", "mfu", "model", "model_from_config", "models", "published_steps",
]
# fmt: on

_LAZY = {"model_from_config": "config", "Serving": "serving"}
_LAZY |= {"expected_tokens": "serving", "mfu": "serving"}


def __getattr__(name: str) -> Any:
    # What reads files and what serves is imported on first use.
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(f"rooflib.llm.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'rooflib.llm' has no attribute {name!r}")
