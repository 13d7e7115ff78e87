"""Language models as sums of work: read from a `config.json`, served and trained on chips."""

from rooflib.llm.catalog import (
    kv_bytes_per_token,
    model,
    models,
    published_steps,
)
from rooflib.llm.config import model_from_config
from rooflib.llm.decoders import Model
from rooflib.llm.layers import Layer
from rooflib.llm.serving import Serving, mfu

# fmt: off
__all__ = [
    "Layer", "Model", "Serving", "kv_bytes_per_token", "mfu", "model", "model_from_config",
    "models", "published_steps",
]
# fmt: on
