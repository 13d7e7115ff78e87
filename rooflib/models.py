"""Dense transformers: parameter counts, KV cache sizes, and decode steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rooflib._arguments import Number, Size, flag, larger, whole, wholes
from rooflib.attention import attention, check_heads, kv_bytes_per_token
from rooflib.collectives import all_reduce, ring_steps
from rooflib.dtypes import Type
from rooflib.operations import ANY_LINK, Operation, matmul_types

if TYPE_CHECKING:
    from rooflib.source import Source


@dataclass(frozen=True)
class Model:
    """A dense decoder-only transformer without biases, such as Llama.

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

    Raises a ValueError if a size is not a whole number above zero, or N is not a multiple of K.
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

    def __post_init__(self) -> None:
        for size in ("layers", "D", "F", "N", "K", "H", "vocabulary"):
            whole(size, getattr(self, size))
        for name in ("gated", "tied"):
            flag(name, getattr(self, name))
        check_heads(self.N, self.K)

    @property
    def parameters(self) -> int:
        """Number of weights, including embeddings and norms.

        Each layer has two norms with D gains, and one more norm follows the last layer. Source:
        Touvron et al., "Llama 2", 2023.
        """
        tables = 1 if self.tied else 2
        each = self.split_weights + 2 * self.D * self.K * self.H + 2 * self.D
        return self.layers * each + self.D + tables * self.vocabulary * self.D

    @property
    def split_weights(self) -> int:
        """Weights per layer that chips split evenly: query and output projections, MLP."""
        return 2 * self.D * self.N * self.H + (3 if self.gated else 2) * self.D * self.F

    def kv_bytes_per_token(self, kv: Type = "bf16") -> Number:
        """Return the bytes of KV cache per token, stored in the type `kv`."""
        return kv_bytes_per_token(self.layers, self.K, self.H, kv)

    def decode(
        self,
        B: Size,
        S: Size,
        chips: Size = 1,
        *,
        w: Type = "bf16",
        kv: Type | None = None,
        x: Type = "bf16",
        compute: Type | None = None,
    ) -> Operation:
        """Return one chip's share of a decode step: a new token for each of B sequences.

        >>> from rooflib.catalog import model
        >>> model("Llama 3 8B").decode(B=1, S=8192)
        <Operation decode step of Llama 3 8B: 19.3 GFLOP in bf16, 16.1 GB, 1.2 FLOP/B>

        FLOPs are 2B per matrix weight, without the embedding table, plus those of `attention` with
        T = 1 in each layer. A step loads all weights, but only B rows of the embedding table, and
        the KV cache of S positions, including the new one. It writes the keys and values of the new
        position, and B rows of logits. Activations stay on the chips. Norms, softmax, rotary
        embeddings and additions are not counted. HBM must hold all weights and the cache.

        The chips split the heads, the width F and the vocabulary. Each layer takes two ring
        all-reduces of BD elements of type `x`. Each chip keeps its part of the logits;
        communication for the embedding lookup is not counted. With more than K chips, each
        key/value head is replicated. Sources: How To Scale Your Model, "All About Transformer
        Inference"; Shoeybi et al., "Megatron-LM", 2019.

        Parameters
        ----------
        B, S, chips
            Sequences, positions per sequence including the new one, and chips: whole numbers, or
            arrays of them that broadcast.
        w, kv, x, compute
            Data types of weights, of the cache (default `x`), of activations and logits, and of the
            arithmetic (default: the common type of `x` and `w`).

        Raises
        ------
        ValueError
            If `chips` doesn't divide N, F and the vocabulary, or if neither of `chips` and K
            divides the other; and as for `attention`.
        """
        read, weight, _, kind = matmul_types(x, w, None, compute)
        B, S, chips = wholes(B=B, S=S, chips=chips)
        for name in ("N", "F", "vocabulary"):
            if np.any(getattr(self, name) % chips):
                size = f"{name}={getattr(self, name)}"
                raise ValueError(f"chips must divide {name}; got {size}, chips={chips}")
        if np.any((self.K % chips) * (chips % self.K)):
            raise ValueError(
                f"chips must divide K or be a multiple of K; got K={self.K}, chips={chips}"
            )
        own = larger(self.K // chips, 1)
        step = attention(B, 1, S, self.N // chips, own, self.H, x=x, kv=kv, compute=compute)
        matrices = self.layers * (self.split_weights // chips + 2 * self.D * own * self.H)
        logits = self.vocabulary // chips
        last = logits * self.D
        gains = self.layers * 2 * self.D + self.D
        new = kv_bytes_per_token(self.layers, own, self.H, x if kv is None else kv)
        weights = weight.bytes * (matrices + last + gains)
        sent = 2 * self.layers * all_reduce(read.bytes * B * self.D, chips)
        hops = 2 * self.layers * ring_steps(chips, 2)
        return Operation(
            name=f"decode step of {self.name}",
            flops=2 * B * (matrices + last) + self.layers * step.flops,
            loaded=weights + weight.bytes * B * self.D / chips + new * B * S,
            written=new * B + read.bytes * B * logits,
            compute=kind,
            sent={ANY_LINK: sent} if np.any(sent) else {},
            resident=weights + (0 if self.tied else weight.bytes * last) + new * B * S,
            chips=chips,
            hops={ANY_LINK: hops} if np.any(hops) else {},
        )
