"""Language models as sums of work: parameters, cache, steps of decode, prefill and training.

A step is a sum over the kinds of layers, `layers * (projections + attention + MLP)`, and the logits;
`_Step` says what one chip's share of each of these is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflib.checks import Number, ReadOnlyDict, Size, instance, one_of, size, sizes
from rooflib.dtypes import DType, Type, common_type, dtype
from rooflib.llm.layers import Layer
from rooflib.llm.quantization import Format
from rooflib.operations import all_gather, all_reduce, reduce_scatter
from rooflib.work import Work, work

if TYPE_CHECKING:
    from rooflib.catalog import Source

ROWS = (
    "embedding, norms", "projections", "attention", "state", "router", "experts", "MLP", "logits",
    "collectives",
)  # fmt: skip
"""Kinds of operations of a step, in the order of `Work.parts`."""
STORED = (*ROWS, "embedding")
MAX_LISTED = 1024


@dataclass(frozen=True)
class Model:
    """A decoder-only language model: its kinds of layers, and how many of each.

    Without `kinds`, all layers are dense and have no biases, as those of Llama. `model_from_config`
    reads other models from a file.

    Raises a ValueError if a size is not a whole number above zero, or N is not a multiple of K.

    Attributes
    ----------
    name, source
        A label; and where the shapes were read, for models of the catalog.
    layers, D, F
        Number of layers, model width, and MLP width.
    N, K, H
        Query heads, key/value heads, and head width.
    vocabulary
        Vocabulary size: rows of the embedding table.
    gated
        Whether the MLP has three matrices (gate, up, down) instead of two.
    tied
        Whether the embedding table and the output matrix share weights.
    kinds
        The kinds of layers. F, N, K, H and `gated` then describe the last one.
    w, quantized
        The data type in which weights are stored; and exceptions, by kind of operation: "experts",
        "projections" and the other names in `Work.parts`, or "embedding" for that table.
    kv
        The data type of the cache, if the checkpoint says one.
    looked_up, more, gains
        Weights outside of the layers: of further tables of embeddings, of further matrices, and of
        norms and biases (by default those of one norm, D).
    towers
        Parts of the checkpoint beside the language model, such as one that sees, and their
        parameters; None where they are not known. They are counted nowhere else.
    """

    name: str
    layers: int
    D: int
    F: int
    N: int
    K: int
    H: int
    vocabulary: int
    gated: bool = True
    tied: bool = False
    source: Source | None = field(default=None, compare=False, repr=False)
    kinds: tuple[Layer, ...] = field(default=(), kw_only=True)
    w: Type = field(default="bf16", kw_only=True)
    quantized: Mapping[str, Any] = field(default_factory=dict, kw_only=True, hash=False)
    kv: Type | None = field(default=None, kw_only=True)
    looked_up: int = field(default=0, kw_only=True)
    more: int = field(default=0, kw_only=True)
    gains: int | None = field(default=None, kw_only=True)
    towers: Mapping[str, int | None] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        for name in ("layers", "D", "F", "N", "K", "H", "vocabulary"):
            size(name, getattr(self, name), whole=True, single=True)
        for name in ("gated", "tied"):
            instance(name, getattr(self, name), bool, "True or False")
        if self.N % self.K:
            raise ValueError(f"N must be a multiple of K; got N={self.N}, K={self.K}")
        dtype(self.w, "w")
        instance("quantized", self.quantized, Mapping, "a mapping from row to data type")
        for row, stored in self.quantized.items():
            dtype(_format(stored).w, f"quantized[{one_of('quantized', row, STORED)!r}]")
        object.__setattr__(self, "quantized", ReadOnlyDict(self.quantized))
        object.__setattr__(self, "kinds", tuple(self.kinds))
        for kind in self.kinds:
            instance("each of kinds", kind, Layer, "a Layer")
        if self.kinds and (count := sum(kind.count for kind in self.kinds)) != self.layers:
            raise ValueError(f"layers must be the sum of all kinds, {count}; got {self.layers}")

    @cached_property
    def every_kind(self) -> tuple[Layer, ...]:
        """The kinds of layers, also of a model that was made without `kinds`."""
        if self.kinds:
            return self.kinds
        dense: Any = {"F": self.F, "gated": self.gated, "gains": 2 * self.D}
        return (Layer(self.layers, self.N, self.K, self.H, **dense),)

    @property
    def parameters(self) -> int:
        """Number of weights, including embeddings, norms and biases.

        Each layer of Llama has two norms with D gains, and one more norm follows the last layer.
        Source: Touvron et al., "Llama 2", 2023.
        """
        return sum(self.weights.values())

    def active_parameters(self, tables: bool = True) -> int:
        """Return how many weights are active for one token.

        These are all but the experts that it isn't routed to. With `tables`, the embedding tables
        and the output matrix count as a whole; without, neither does, and the rest is what
        multiplies a token on its way through the layers.
        """
        resting = sum(
            kind.count * (kind.experts - kind.active) * kind.expert(self.D)
            for kind in self.every_kind
        )
        whole = instance("tables", tables, bool, "True or False")
        return self.parameters - resting - (0 if whole else self.weights["tables"])

    @cached_property
    def weights(self) -> dict[str, int]:
        """Number of weights by role: tables, experts, other matrices, and what is no matrix."""
        D, kinds = self.D, self.every_kind
        experts = sum(kind.count * kind.experts * kind.expert(D) for kind in kinds)
        other = sum(kind.count * kind.gains for kind in kinds)
        layers = sum(kind.count * kind.parameters(D) for kind in kinds)
        return {
            "tables": (1 if self.tied else 2) * self.vocabulary * D + self.looked_up,
            "experts": experts,
            "matrices": layers - experts - other + self.more,
            "other": other + (D if self.gains is None else self.gains),
        }

    def kv_bytes_per_token(self, kv: Type | None = None) -> Number:
        """Return the bytes of cache per token, stored in the type `kv` (default: the model's).

        Layers with a window count as well; they hold no more positions than their window. State
        that doesn't grow with the sequence doesn't count: see `state_bytes`.
        """
        width = dtype(kv or self.kv or self.w, "kv").bytes
        return width * sum(kind.count * kind.kept() for kind in self.every_kind)

    def state_bytes(self, x: Type | None = None) -> Number:
        """Return the bytes that one sequence takes at any length: recurrent states in fp32, and
        the last inputs of their convolutions in the type `x` (default: that of the weights)."""
        states = [(kind.count, *kind.state()) for kind in self.every_kind]
        width = dtype(x or self.w, "x").bytes
        return sum(count * (4 * recurrent + width * inputs) for count, recurrent, inputs in states)


def _format(stored: Any) -> Format:
    """Return the format of weights stored in a type."""
    return stored if isinstance(stored, Format) else Format(stored)
