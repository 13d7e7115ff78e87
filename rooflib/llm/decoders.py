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
from rooflib.dtypes import DType, Type, dtype
from rooflib.llm.layers import Format, Layer, Matrix, weight_type
from rooflib.llm.steps import Step
from rooflib.operations import all_gather, reduce_scatter
from rooflib.quantities import quantity, text
from rooflib.work import Work, work

if TYPE_CHECKING:
    from rooflib.catalog import Source

MAX_LISTED = 1024


@dataclass(frozen=True)
class Model:
    """A decoder-only language model, as `model_from_config` reads it from a file.

    Attributes
    ----------
    name, source
        A label; and where the shapes were read, for models of the catalog.
    layers, D, F, N, K, H
        Number of layers, model width; and of the last kind of layer the width of its MLP, heads of
        queries and of keys and values, and head width.
    vocabulary
        Vocabulary size: rows of the embedding table.
    kinds
        The kinds of layers.
    tied
        Whether the embedding table and the output matrix share weights.
    w, quantized
        The data type in which weights are stored; and formats of tables that are quantized, by
        name: "logits", the output matrix, and "embedding".
    kv
        The data type of the cache, if the checkpoint says one.
    looked_up, more, outer_gains
        Weights outside of the layers: of further tables of embeddings, of further matrices, and of
        norms and biases.
    looked_up_each
        How many weights of further tables a token looks up.
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
    kinds: tuple[Layer, ...] = field(repr=False)
    tied: bool = False
    w: Type = "bf16"
    quantized: Mapping[str, Format] = field(default_factory=dict, hash=False)
    kv: Type | None = None
    looked_up: int = 0
    more: int = 0
    outer_gains: int = 0
    looked_up_each: int = 0
    towers: Mapping[str, int | None] = field(default_factory=dict, hash=False)
    source: Source | None = field(default=None, compare=False, repr=False)

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
        kinds = self.kinds
        resting = sum(kind.count * (kind.experts - kind.active) * kind.expert for kind in kinds)
        whole = instance("tables", tables, bool, "True or False")
        return self.parameters - resting - (0 if whole else self.weights["tables"])

    @cached_property
    def weights(self) -> dict[str, int]:
        """Number of weights by role: tables, experts, other matrices, and what is no matrix."""
        kinds = self.kinds
        experts = sum(kind.count * kind.experts * kind.expert for kind in kinds)
        other = sum(kind.count * kind.gains for kind in kinds)
        layers = sum(kind.count * kind.parameters for kind in kinds)
        return {
            "tables": (1 if self.tied else 2) * self.vocabulary * self.D + self.looked_up,
            "experts": experts,
            "matrices": layers - experts - other + self.more,
            "other": other + self.outer_gains,
        }

    def kv_bytes_per_token(self, kv: Type | None = None) -> Number:
        """Return the bytes of cache per token, stored in the type `kv` (default: the model's).

        Layers with a window count as well; they hold no more positions than their window. State
        that doesn't grow with the sequence doesn't count: see `state_bytes`.
        """
        width = dtype(kv or self.kv or self.w, "kv").bytes
        return quantity(width * sum(kind.count * kind.kept() for kind in self.kinds), "B")

    def state_bytes(self) -> Number:
        """Return the bytes that one sequence takes at any length.

        They are recurrent states, and the last inputs of their convolutions in the type of weights.
        """
        found: float = 0
        width = dtype(self.w).bytes
        for kind in self.kinds:
            recurrent, inputs = kind.state()
            found += kind.count * (kind.state_width * recurrent + width * inputs)
        return quantity(found, "B")

    @property
    def named_towers(self) -> str:
        """The towers and their weights, in words: "vision (412M weights)"."""
        return ", ".join(
            name if weights is None else f"{name} ({text(weights)} weights)"
            for name, weights in self.towers.items()
        )

    def stored(self, matrix: Matrix) -> Format:
        """Return the format of a matrix: its own, that of its kind of operation, or plain `w`."""
        return matrix.of or self.quantized.get(matrix.row, Format(self.w))

    def decode(self, B: Size, S: Size, chips: Size = 1, *, T: Size = 1, **options: Any) -> Work:
        """Return one chip's share of a decode step: T new tokens for each of B sequences.

        >>> from rooflib.llm import model
        >>> model("Llama 3 8B").decode(B=1, S=8192)
        <Work decode step of Llama 3 8B: 19.3 GFLOP in bf16, 16.1 GB, 1.2 FLOP/byte>

        FLOPs are 2B per matrix weight, without the embedding table, plus those of `attention` with
        T = 1 in each layer. A step loads all weights, but only B rows of the embedding table and
        the routed experts that at least one token takes, and the KV cache of S positions, or of the
        last W with a window, including the new one. It writes the keys and values of the new
        position, and B rows of logits. Activations stay on the chips. Norms, softmax, rotary
        embeddings and additions are not counted. HBM must hold all weights and the cache.

        The chips split the heads, the width F and the vocabulary. Each layer takes two ring
        all-reduces of BD elements of type `x`. Each chip keeps its part of the logits;
        communication for the embedding lookup is not counted. With more than K chips, each
        key/value head is replicated; so are latent caches, routers, norms and biases. Sources: How
        To Scale Your Model, "All About Transformer Inference"; Shoeybi et al., "Megatron-LM", 2019.

        B, S and `chips` are sequences, positions of each including the new ones, and chips of one
        replica: whole numbers, or arrays that broadcast. T is more than one where guesses are
        checked, as in speculative decoding. `options` are those of `Step`. Raises a ValueError if
        `chips` doesn't divide N, F and the vocabulary, or if neither of `chips` and K divides the
        other; and as `attention`.
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

        The first `cached` positions of each prompt are in the cache already. Counts are as for
        `decode`, with all new tokens instead of B. A query sees the positions up to its own, and
        exactly those pairs count: S(S+1)/2 per head, less with a window. A prompt is read in chunks
        of `chunk` tokens, all at once by default; the last may be shorter. Each chunk loads the
        weights again, and the cached positions up to its end. Positions that a chunk adds are
        written and read once. Errors, and other arguments, are those of `decode` and `Step`.
        """
        S, start = size("S", S, whole=True), size("cached", cached, zero=True, whole=True)
        if np.any(start >= S):
            raise ValueError(f"cached must be less than S; got cached={start}, S={S}")
        read = S - start if chunk is None else size("chunk", chunk, whole=True)
        given = {"start": start, "chunk": read, "logits": logits, "latent": latent, **options}
        return Step(model=self, B=B, S=S, chips=chips, **given).total("prefill")

    def train(
        self,
        B: Size,
        S: Size,
        chips: Size = 1,
        *,
        recompute: bool = False,
        x: Type = "bf16",
        gradients: Type = "bf16",
        state: Size = 12,
    ) -> Work:
        """Return one chip's share of a training step: B sequences of S tokens per chip.

        >>> from rooflib.llm import model
        >>> step = model("Llama 3 8B").train(B=1, S=8192, chips=64)
        >>> {part.name: f"{part.flops:.3g}" for part in step.parts if part.flops}
        {'forward': '1.41e+14', 'backward': '2.81e+14'}

        The forward pass is a prefill with all logits. The backward pass takes twice its FLOPs: a
        product for the gradient of each input of a product. Scores that a fused kernel computes
        again are not counted.

        Chips hold equal parts of weights (`held` of "forward"), gradients ("backward") and the
        optimizer's state ("update"): fully sharded data parallelism. Each gathers all weights for
        the forward and again for the backward pass, and reduce-scatters all gradients; HBM also
        holds the gathered weights of the largest layer. Sources: Rajbhandari et al., "ZeRO", 2020;
        How To Scale Your Model, "How to Parallelize a Transformer".

        "activations" are kept for each token: in every layer the residual stream and its norm
        before attention and before the MLP (4D); queries, keys, values, the heads' results and
        latent vectors; the outputs and their product in each MLP and expert that the token takes;
        and the logits. With `recompute`, only the residual stream (D) is kept for each layer, and
        the rest for one: the layers then run forward twice.

        `x` is the data type of weights and activations, `gradients` of gradients. `state` is bytes
        per weight: 12 for Adam with a copy of the weight and two moments in fp32.
        """
        B, S, chips = sizes(whole=True, B=B, S=S, chips=chips)
        ahead = self.prefill(B, S, logits="all", w=x, x=x)
        of_logits = next(part.flops for part in ahead.parts if part.name == "logits")
        element, kinds = dtype(x, "x").bytes, self.kinds
        weights = element * self.parameters
        slopes = dtype(gradients, "gradients").bytes * self.parameters
        moments = size("state", state, zero=True) * self.parameters / chips
        gathered = element * max(kind.parameters for kind in kinds) * (chips > 1)
        again = instance("recompute", recompute, bool, "True or False")
        if again:
            kept = self.layers * self.D + max(kind.activations(self.D) for kind in kinds)
        else:
            kept = sum(kind.count * kind.activations(self.D) for kind in kinds)
        saved = element * B * S * (kept + self.vocabulary)
        sent = 2 * all_gather(weights, chips) + reduce_scatter(slopes, chips)
        slope, hops = slopes / chips, 3 * self.layers * (chips - 1)
        part = partial(work, type=ahead.compute)
        forward, again_flops = ahead.flops, again * (ahead.flops - of_logits)
        parts = (
            part("forward", forward, loaded=weights, held=weights / chips + gathered),
            part("backward", 2 * forward, loaded=weights, written=slopes, held=slope),
            part("recomputation", again_flops, loaded=again * weights, held=0),
            part("activations", loaded=saved, written=saved, held=saved),
            part("update", loaded=moments + slope, written=moments + weights / chips, held=moments),
            replace(part("collectives", sent=sent, hops=hops, held=0), chips=chips),
        )
        rows = [part for part in parts if np.any(part.bytes) or np.any(part.hops)]
        return sum(rows[1:], start=rows[0]).named(f"training step of {self.name}")

    def splits(self, expert_parallel: bool = False) -> list[int]:
        """Return the numbers of chips over which a replica can be split, up to 1,024."""
        most = min(MAX_LISTED, *(kind.N or MAX_LISTED for kind in self.kinds))
        return [chips for chips in range(1, most + 1) if not self._misfit(chips, expert_parallel)]

    @cached_property
    def activation_types(self) -> frozenset[Type]:
        """Data types of activations that the checkpoint says."""
        return frozenset(of.x for of in self._formats if of.x is not None)

    def stored_types(self, w: Type | None = None) -> list[DType]:
        """Return the data types of weights: those of the checkpoint, or `w` if it is given."""
        return [dtype(of.w) for of in self._formats] if w is None else [weight_type(w)]

    @cached_property
    def _formats(self) -> dict[Format, None]:
        own = (matrix.of for kind in self.kinds for matrix in kind.matrices if matrix.of)
        return dict.fromkeys((Format(self.w), *self.quantized.values(), *own))

    def _misfit(self, chips: Number, expert_parallel: bool) -> str:
        """Return the first rule that a split over `chips` breaks; "" if none.

        The text includes the size that breaks it.
        """
        for kind in self.kinds:
            shape = {"N": kind.N, "F": kind.F, "vocabulary": self.vocabulary}
            shape |= {"state heads": kind.state_heads, "state groups": kind.state_groups}
            if kind.experts and not expert_parallel:
                shape["X"] = kind.X
            for name, width in shape.items():
                if np.any(width % chips):
                    return f"chips must divide {name}; got {name}={width}"
            if kind.N and not kind.kv_rank and np.any((kind.K % chips) * (chips % kind.K)):
                return f"chips must divide K or be a multiple of K; got K={kind.K}"
        return ""

    def check_split(self, B: Number, chips: Number, replicas: Number, spread: bool) -> None:
        """Raise a ValueError unless chips and replicas divide the model and B.

        With `spread`, they must also divide the experts.
        """
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
                given = f"experts={E}, chips times replicas={over}"
                hint = f"{self.name} can be spread over {fitting}"
                raise ValueError(f"chips times replicas must divide experts; got {given}; {hint}")
