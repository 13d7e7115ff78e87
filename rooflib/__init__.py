"""Roofline analysis: how fast an operation can run on a chip, and what limits it.

    >>> import rooflib as rl
    >>> v5e = rl.chip("TPU v5e")
    >>> layer = rl.matmul(B=64, D=4096, F=16384)
    >>> rl.bound(layer, v5e).binding
    'HBM'

Counts are FLOPs and bytes, rates are dense FLOP/s and one-way bytes/s, times are seconds.
Sizes are numbers or numpy arrays; arrays broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rooflib.attention import attention, kv_bytes_per_token
from rooflib.bounds import Bounds, attainable, bound, breakdown
from rooflib.catalog import (
    DataPoint,
    chip,
    chips,
    data_points,
    model,
    models,
    published_runs,
    published_shares,
    published_steps,
)
from rooflib.collectives import all_gather, all_reduce, reduce_scatter
from rooflib.critical import (
    critical_batch,
    critical_batch_limit,
    critical_depth,
    critical_training_batch,
    first_whole_above,
    first_whole_from,
)
from rooflib.dtypes import DType, dtype
from rooflib.hardware import Chip, Link
from rooflib.models import Model
from rooflib.operations import (
    Operation,
    dot,
    elementwise,
    matmul,
    matmul_per_example,
    operation,
    rms_norm,
)
from rooflib.sharding import sharded_matmul
from rooflib.table import Table
from rooflib.units import percent, scientific, text

if TYPE_CHECKING:
    from rooflib import plots
    from rooflib.config import model_from_config
    from rooflib.layers import Layer
    from rooflib.serving import Serving

__version__ = "0.3.0"

# fmt: off
__all__ = [
    "Bounds", "Chip", "DType", "DataPoint", "Layer", "Link", "Model", "Operation", "Serving",
    "Table", "__version__", "all_gather", "all_reduce", "attainable", "attention", "bound",
    "breakdown", "chip", "chips", "critical_batch", "critical_batch_limit", "critical_depth",
    "critical_training_batch", "data_points", "dot", "dtype", "elementwise", "first_whole_above",
    "first_whole_from", "kv_bytes_per_token", "matmul", "matmul_per_example", "model",
    "model_from_config", "models", "operation", "percent", "plots", "published_runs",
    "published_shares", "published_steps", "reduce_scatter", "rms_norm", "scientific",
    "sharded_matmul", "text",
]
# fmt: on


_LAZY = {"model_from_config": "config", "Layer": "layers", "Serving": "serving"}


def __getattr__(name: str) -> Any:
    # Import these modules on first use. matplotlib, which plots needs, takes far longer to import
    # than all the rest; the other modules would add a third to the remaining import time.
    import importlib

    if name == "plots":
        return importlib.import_module("rooflib.plots")
    if name in _LAZY:
        return getattr(importlib.import_module(f"rooflib.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'rooflib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
