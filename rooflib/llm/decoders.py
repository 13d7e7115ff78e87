"""Language models as sums of work: parameters, cache, steps of decode, prefill and training.

A step is a sum over the kinds of layers, `layers * (projections + attention + MLP)`, and the
logits; `Step` says what one chip's share of each of these is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflib.checks import Number, Size, instance, size, sizes
from rooflib.dtypes import Type, dtype
from rooflib.llm.layers import Format, Layer, Matrix
from rooflib.llm.steps import Step
from rooflib.operations import all_gather, reduce_scatter
from rooflib.quantities import quantity, text
from rooflib.work import Work, work

if TYPE_CHECKING:
    from rooflib.catalog import Source

MAX_LISTED = 1024


@dataclass(frozen=True)
class Model:
    """A decoder-only language model, as `model_from_config` reads it from a file."""

    name: str
    layers: int  #: number of layers
    D: int  #: width of the model
    F: int  #: width of the MLP, or else of an expert; of the last kind of layer that has one
    N: int  #: heads of queries, likewise
    K: int  #: heads of keys and values
    H: int  #: width of a head
    vocabulary: int  #: rows of the embedding table
    kinds: tuple[Layer, ...] = field(repr=False)  #: the kinds of layers
    #: What stands beside them, such as the output matrix, the last norm, and tables of embeddings,
    #: of which a token looks up a row of each.
    outer: Layer = field(repr=False)
    tied: bool = False  #: whether the embedding table and the output matrix share weights
    w: Type = "bf16"  #: data type of weights that aren't quantized
    kv: Type | None = None  #: that of the cache, if the checkpoint says one
    #: Parts beside the language model, such as one that sees, and their weights, None where these
    #: are not known. They are counted nowhere else.
    towers: Mapping[str, int | None] = field(default_factory=dict, hash=False)
    #: Where the shapes were read, for models of the catalog.
    source: Source | None = field(default=None, compare=False, repr=False)

    @property
    def parameters(self) -> int:
        """Number of weights, including embeddings, norms and biases."""
        return sum(self.weights.values())

    def active_parameters(self, tables: bool = True) -> int:
        """Return how many weights are active for one token: all but experts it isn't routed to.

        Without `tables`, neither the embedding tables nor the output matrix count.
        """
        kinds = self.kinds
        resting = sum(kind.count * (kind.experts - kind.active) * kind.expert for kind in kinds)
        whole = instance("tables", tables, bool, "True or False")
        return self.parameters - resting - (0 if whole else self.weights["tables"])

    @cached_property
    def weights(self) -> dict[str, int]:
        """Number of weights by role: tables, experts, other matrices, and what is no matrix."""
        kinds = (*self.kinds, self.outer)
        experts = sum(kind.count * kind.experts * kind.expert for kind in kinds)
        other = sum(kind.count * kind.gains for kind in kinds)
        tables = int(self.outer.weights("embedding") + self.outer.weights("logits"))
        matrices = sum(kind.count * kind.parameters for kind in kinds) - tables - experts - other
        tables -= self.tied * self.vocabulary * self.D
        return {"tables": tables, "experts": experts, "matrices": matrices, "other": other}

    def kv_bytes_per_token(self, kv: Type | None = None) -> Number:
        """Return the bytes of cache per token, stored in the type `kv` (default: the model's).

        Layers with a window count as well. State that doesn't grow is that of `state_bytes`.
        """
        width = dtype(self.cache_type(kv=kv), "kv").bytes
        return quantity(width * sum(kind.count * kind.kept() for kind in self.kinds), "B")

    def state_bytes(self) -> Number:
        """Return the bytes of recurrent states that one sequence takes at any length."""
        width = dtype(self.w).bytes
        return quantity(sum(kind.count * kind.state_bytes(width) for kind in self.kinds), "B")

    @property
    def named_towers(self) -> str:
        """The towers and their weights, in words: "vision (412M weights)"."""
        return ", ".join(
            name if weights is None else f"{name} ({text(weights)} weights)"
            for name, weights in self.towers.items()
        )

    def stored(self, matrix: Matrix) -> Format:
        """Return the format of a matrix: its own, or plain `w`."""
        return matrix.of or self.formats[0]

    def cache_type(self, x: Type | None = None, kv: Type | None = None) -> Type:
        """Return the type of the cache: `kv`, or the model's, or that of given activations `x`."""
        return kv or (self.kv if x is None else None) or x or self.w

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        """How weights are stored, and with what they are multiplied: first those in plain `w`."""
        matrices = (matrix for layer in (self.outer, *self.kinds) for matrix in layer.matrices)
        own = (matrix.of for matrix in matrices if matrix.of)
        return tuple(dict.fromkeys((Format(dtype(self.w)), *own)))

    def decode(self, B: Size, S: Size, chips: Size = 1, *, T: Size = 1, **options: Any) -> Work:
        """Return one chip's share of a decode step: T new tokens for each of B sequences.

        >>> from rooflib.llm import model
        >>> model("Llama 3 8B").decode(B=1, S=8192)
        <Work decode step of Llama 3 8B: 19.3 GFLOP in bf16, 16.1 GB, 1.2 FLOP/byte>

        B, S and `chips` are sequences, positions of each including the new ones, and chips of one
        replica: whole numbers, or arrays that broadcast. T is more than one where guesses are
        checked, as in speculative decoding. `options` are those of `Step`.

        FLOPs are 2B per matrix weight, without the embedding table, plus those of `attention`. A
        step loads all weights, but only B rows of the embedding table and the routed experts that
        at least one token takes, and the cache of S positions, or of those that a window shows. It
        writes the new positions' keys and values, and logits. Activations stay on the chips. Norms,
        softmax, rotary embeddings and additions are not counted. HBM holds all weights and caches.

        The chips split heads, the width F and the vocabulary; key/value heads that are fewer,
        latent caches, routers, norms and biases are on each. Each layer takes two all-reduces of BD
        elements of type `x`, on a ring or in a switch that adds up. Communication for the embedding
        lookup is not counted, and neither is what servers add to a vocabulary that `chips` doesn't
        divide. Raises a ValueError if `chips` doesn't divide N and F, or if neither of `chips` and
        K divides the other.
        Sources: How To Scale Your Model, "All About Transformer Inference"; Shoeybi et al.,
        "Megatron-LM", 2019.
        """
        S, new = sizes(whole=True, S=S, T=T)
        if np.any(new > S):
            raise ValueError(f"T must be at most S, which counts new tokens; got T={new}, S={S}")
        step = Step(model=self, B=B, S=S, chips=chips, start=S - new, chunk=new, **options)
        return step.total("decode step")

    def prefill(
        self,
        B: Size,
        S: Size,
        chips: Size = 1,
        *,
        chunk: Size | None = None,
        cached: Size = 0,
        logits: str = "last",
        latent: str = "expanded",
        **options: Any,
    ) -> Work:
        """Return one chip's share of a prefill: B prompts of S tokens each.

        >>> from rooflib.llm import model
        >>> model("Llama 3 8B").prefill(B=1, S=8192)
        <Work prefill of Llama 3 8B: 132 TFLOP in bf16, 17.2 GB, 7,660 FLOP/byte>

        The first `cached` positions of each prompt are in the cache already. Exactly the pairs of a
        query and a position up to its own count: S(S+1)/2 per head, less with a window. A prompt is
        read in chunks of `chunk` tokens, all at once by default; the last may be shorter. Each
        loads the weights again, and the cached positions up to its end, its own included. The rest
        is as for `decode`.
        """
        S, start = size("S", S, whole=True), size("cached", cached, zero=True, whole=True)
        if np.any(start >= S):
            raise ValueError(f"cached must be less than S; got cached={start}, S={S}")
        read = S - start if chunk is None else size("chunk", chunk, whole=True)
        given = {"start": start, "chunk": read, "logits": logits, "latent": latent, **options}
        return Step(model=self, B=B, S=S, chips=chips, **given).total("prefill")

    def train(self, B: Size, S: Size, chips: Size = 1, *, recompute: bool = False) -> Work:
        """Return one chip's share of a training step in bf16: B sequences of S tokens per chip.

        >>> from rooflib.llm import model
        >>> step = model("Llama 3 8B").train(B=1, S=8192, chips=64)
        >>> {part.name: f"{part.flops:.3g}" for part in step.parts if part.flops}
        {'forward': '1.41e+14', 'backward': '2.81e+14'}

        The forward pass is a prefill with all logits. The backward pass takes twice its FLOPs: a
        product for the gradient of each input of a product. Scores that a fused kernel computes
        again are not counted.

        Chips hold equal parts of weights (`held` of "forward"), gradients ("backward") and the
        state of Adam ("update"), a copy of the weight and two moments in fp32: fully sharded data
        parallelism. Each gathers all weights for the forward and again for the backward pass, and
        reduce-scatters all gradients; HBM also holds the gathered weights of the largest layer;
        tables are gathered piece by piece.
        Sources: Rajbhandari et al., "ZeRO", 2020; How To Scale Your Model, "How to Parallelize a
        Transformer".

        "activations" are kept for each token: those of `Layer.activations`, and the logits. With
        `recompute`, each layer keeps only its residual stream (D), and one all; the layers then run
        forward twice.
        """
        B, S, chips = sizes(whole=True, B=B, S=S, chips=chips)
        ahead = self.prefill(B, S, logits="all", w="bf16", x="bf16")
        of_logits = next(part.flops for part in ahead.parts if part.name == "logits")
        element, kinds = dtype("bf16").bytes, self.kinds
        weights, moments = element * self.parameters, 3 * 4 * self.parameters / chips
        gathered = element * max(kind.parameters for kind in kinds) * (chips > 1)
        again = instance("recompute", recompute, bool, "True or False")
        if again:
            kept = self.layers * self.D + max(kind.activations(self.D) for kind in kinds)
        else:
            kept = sum(kind.count * kind.activations(self.D) for kind in kinds)
        saved = element * B * S * (kept + self.vocabulary)
        sent = 2 * all_gather(weights, chips) + reduce_scatter(weights, chips)
        share, hops = weights / chips, 3 * self.layers * (chips - 1)
        part = partial(work, type=ahead.compute)
        forward, again_flops = ahead.flops, again * (ahead.flops - of_logits)
        parts = (
            part("forward", forward, loaded=weights, held=share + gathered),
            part("backward", 2 * forward, loaded=weights, written=weights, held=share),
            part("recomputation", again_flops, loaded=again * weights, held=0),
            part("activations", loaded=saved, written=saved, held=saved),
            part("update", loaded=moments + share, written=moments + share, held=moments),
            replace(part("collectives", sent=sent, hops=hops, held=0), chips=chips),
        )
        rows = [part for part in parts if np.any(part.bytes) or np.any(part.hops)]
        return sum(rows[1:], start=rows[0]).named(f"training step of {self.name}")

    def splits(self, expert_parallel: bool = False) -> list[int]:
        """Return the numbers of chips over which a replica can be split, up to 1,024."""
        most = min(MAX_LISTED, *(kind.N or MAX_LISTED for kind in self.kinds))
        return [chips for chips in range(1, most + 1) if not self._misfit(chips, expert_parallel)]

    def _misfit(self, chips: Number, expert_parallel: bool) -> str:
        """Return the first rule that a split over `chips` breaks, with the size; "" if none."""
        for kind in self.kinds:
            groups = kind.state_groups * (kind.state_groups > 1)  # a single one is on each chip
            shape = {"N": kind.N, "F": kind.F, "state heads": kind.state_heads}
            shape |= {"state groups": groups, "X": 0 if expert_parallel else kind.X}
            for name, width in shape.items():
                if np.any(width % chips):
                    return f"chips must divide {name}; got {name}={width}"
            if kind.N and not kind.kv_rank and np.any((kind.K % chips) * (chips % kind.K)):
                return f"chips must divide K or be a multiple of K; got K={kind.K}"
        return ""

    def check_split(self, B: Number, chips: Number, replicas: Number, spread: bool) -> None:
        """Raise a ValueError unless chips and replicas divide model and B, if `spread` experts."""
        if misfit := self._misfit(chips, spread):
            fitting = ", ".join(map(str, self.splits(spread)))
            raise ValueError(f"{misfit}, chips={chips}; {self.name} can be split over {fitting}")
        if np.any(B % replicas):
            raise ValueError(f"replicas must divide B; got B={B}, replicas={replicas}")
        routed, over = [kind.experts for kind in self.kinds if kind.experts], chips * replicas
        if spread and not routed:
            raise ValueError(f"expert_parallel needs a model with experts; got {self.name}")
        for E in routed if spread else ():
            if np.any(E % over):
                fitting = ", ".join(str(n) for n in range(1, MAX_LISTED + 1) if not E % n)
                given = f"experts={E}, chips times replicas={over}; {self.name} can be spread over"
                raise ValueError(f"chips times replicas must divide experts; got {given} {fitting}")
