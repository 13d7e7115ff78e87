"""Language models as sums of work: read from a `config.json`, served and trained on chips.

To read the code, start with `Layer` in `layers.py`, a list of matrices, and with `Step.total` and
`Step.layer` in `steps.py`, which sum up what one chip does for them. `decoders.py` has the steps of
a `Model`, `serving.py` what follows from them. In `config.py` a file becomes a model: `families.py`
reads its keys, `parts.py` sums up its layers, `quantization.py` says how these are stored, and
`towers.py` counts what stands beside them.
"""

from rooflib.llm.catalog import kv_bytes_per_token, model, models, published_steps
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
