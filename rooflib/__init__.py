"""Roofline analysis: how fast work can be done on a chip, and what limits it.

A chip is a set of rates, work is a set of amounts, a time is an amount over a rate, and the longest
time is the roof. Work adds up and repeats; a quantity prints its own unit:

    >>> import rooflib as rl
    >>> layer = rl.matmul(B=64, D=4096, F=16384)
    >>> t = layer.on("TPU v5e")
    >>> t.roof, t.lower
    ('HBM', 167 µs)

Amounts are FLOPs and bytes, rates are dense FLOP/s and one-way bytes/s, times are seconds.
Sizes are numbers or numpy arrays; arrays broadcast.

To read the code, know that `size` checks a number and `quantity` gives it a unit, and start with
`Chip` in `hardware.py` and `Work.on` in `work.py`: that is the whole idea. Then read
`operations.py`, which counts, `dtypes.py`, and `catalog.py`, which reads `chips.toml`. The rest
prints, checks, draws, or stands on it, as does `rooflib.llm`, whose names are reached from here,
like `rl.model`. A new roof is a name in `ROOFS` and a rate of `Chip`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rooflib.catalog import Figure, chip, chips, figures, published_shares
from rooflib.dtypes import DType, dtype
from rooflib.hardware import Chip, Link
from rooflib.measured import published_runs
from rooflib.operations import (
    all_gather,
    all_reduce,
    attention,
    critical_batch,
    critical_depth,
    dot,
    elementwise,
    matmul,
    reduce_scatter,
    rms_norm,
    split,
)
from rooflib.quantities import Quantity
from rooflib.table import Table
from rooflib.work import Times, Work, work

if TYPE_CHECKING:
    from rooflib import plots

__version__ = "1.0.0"

# fmt: off
__all__ = [
    "Chip", "DType", "Figure", "Link", "Quantity", "Table", "Times", "Work", "__version__",
    "all_gather", "all_reduce", "attention", "chip", "chips", "critical_batch", "critical_depth",
    "dot", "dtype", "elementwise", "figures", "matmul", "plots", "published_runs",
    "published_shares", "reduce_scatter", "rms_norm", "split", "work",
]
# fmt: on


def __getattr__(name: str) -> Any:
    # Imported on first use: matplotlib takes far longer to import than all the rest.
    if name == "plots":
        return import_module("rooflib.plots")
    llm = import_module("rooflib.llm")
    if name in llm.__all__:
        return getattr(llm, name)
    raise AttributeError(f"module 'rooflib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *import_module("rooflib.llm").__all__]
