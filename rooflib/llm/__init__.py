"""Language models as sums of work: read from a `config.json`, served and trained on chips."""

from rooflib.llm.catalog import (
    critical_training_batch,
    kv_bytes_per_token,
    model,
    models,
    published_steps,
)
from rooflib.llm.layers import Layer
from rooflib.llm.models import Model

__all__ = [
    "Layer",
    "Model",
    "critical_training_batch",
    "kv_bytes_per_token",
    "model",
    "models",
    "published_steps",
]
