"""Language models: parameter and cache sizes, steps of decode and prefill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflib import _arguments as check
from rooflib._arguments import Number, ReadOnlyDict, Size, short
from rooflib.attention import check_heads
from rooflib.collectives import all_gather, all_reduce, reduce_scatter, ring_steps, spared
from rooflib.dtypes import DType, Type, dtype
from rooflib.operations import Operation, matmul_types, share, total

if TYPE_CHECKING:
    from rooflib.layers import Layer
    from rooflib.source import Source

ROWS = (
    "embedding, norms", "projections", "attention", "router", "experts", "MLP", "logits",
    "collectives",
)  # fmt: skip
"""Kinds of operations of a step, in the order of `Operation.parts`."""
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
        "projections" and the other names in `Operation.parts`.
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
    quantized: Mapping[str, Type] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        for size in ("layers", "D", "F", "N", "K", "H", "vocabulary"):
            check.whole(size, getattr(self, size))
        for name in ("gated", "tied"):
            check.flag(name, getattr(self, name))
        check_heads(self.N, self.K)
        dtype(self.w, "w")
        check.instance("quantized", self.quantized, Mapping, "a mapping from row to data type")
        for row, stored in self.quantized.items():
            dtype(stored, f"quantized[{check.one_of('quantized', row, ROWS)!r}]")
        object.__setattr__(self, "quantized", ReadOnlyDict(self.quantized))
        object.__setattr__(self, "kinds", tuple(self.kinds))
        for kind in self.kinds:
            if not hasattr(kind, "pair_flops"):
                raise TypeError(f"kinds must be a sequence of Layer; got {short(kind)}")
        if self.kinds and (count := sum(kind.count for kind in self.kinds)) != self.layers:
            raise ValueError(f"layers must be the sum of all kinds, {count}; got {self.layers}")

    @cached_property
    def every_kind(self) -> tuple[Layer, ...]:
        """The kinds of layers, also of a model that was made without `kinds`."""
        from rooflib.layers import Layer  # imported here to keep `import rooflib` light

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
        return self._weights(active=False, tables=True)

    def active_parameters(self, tables: bool = True) -> int:
        """Return how many weights are active for one token.

        These are all but the experts that it isn't routed to. With `tables`, the embedding table
        and the output matrix count as a whole; without, neither does, and the rest is what
        multiplies a token on its way through the layers.
        """
        return self._weights(active=True, tables=check.flag("tables", tables))

    def kv_bytes_per_token(self, kv: Type = "bf16") -> Number:
        """Return the bytes of cache per token, stored in the type `kv`.

        Layers with a window count as well; they hold no more positions than their window.
        """
        return dtype(kv, "kv").bytes * sum(kind.count * kind.cached() for kind in self.every_kind)

    def decode(
        self,
        B: Size,
        S: Size,
        chips: Size = 1,
        *,
        w: Type | None = None,
        kv: Type | None = None,
        x: Type | None = None,
        compute: Type | None = None,
        replicas: Size = 1,
        expert_parallel: bool = False,
        experts: str = "expected",
        latent: str = "absorbed",
    ) -> Operation:
        """Return one chip's share of a decode step: a new token for each of B sequences.

        >>> from rooflib.catalog import model
        >>> model("Llama 3 8B").decode(B=1, S=8192)
        <Operation decode step of Llama 3 8B: 19.3 GFLOP in bf16, 16.1 GB, 1.2 FLOP/B>

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

        Raises a ValueError if `chips` doesn't divide N, F and the vocabulary, or if neither of
        `chips` and K divides the other; and as `attention`.

        Parameters
        ----------
        B, S, chips
            Sequences, positions per sequence including the new one, and chips of one replica: whole
            numbers, or arrays of them that broadcast.
        w, kv, x, compute
            Data types of all weights (default: those of the model), of the cache (default `x`), of
            activations and logits (default: the model's `w`), and of the arithmetic (default: the
            common type of `x` and `w`).
        replicas
            Copies of the model, each on `chips` chips, that share the B sequences.
        expert_parallel
            Whether each chip of all replicas holds whole routed experts, instead of a part of
            each. A token then travels to the chips of its experts and back, once to each: two
            all-to-alls take the place of a layer's second all-reduce, of which an all-gather
            remains. All chips get equal shares of tokens and experts, as under uniform routing.
        experts
            How many distinct experts B tokens take, which only the router knows: "expected" under
            uniform routing, E · (1 - (1 - k/E)^B), or the extremes "fewest" (all tokens the same k)
            and "most" (as many as there are).
        latent
            How latent attention computes: "absorbed" compares queries with the cached vectors,
            "expanded" makes keys and values of every position again.
        """
        sizes = check.wholes(B=B, S=S, chips=chips, replicas=replicas)
        options = (expert_parallel, experts, latent)
        return self._count("decode step", sizes, (w, kv, x, compute), *options)

    def prefill(
        self,
        B: Size,
        S: Size,
        chips: Size = 1,
        *,
        chunk: Size | None = None,
        logits: str = "last",
        w: Type | None = None,
        kv: Type | None = None,
        x: Type | None = None,
        compute: Type | None = None,
        replicas: Size = 1,
        expert_parallel: bool = False,
        experts: str = "expected",
        latent: str = "expanded",
    ) -> Operation:
        """Return one chip's share of a prefill: B prompts of S tokens each.

        >>> from rooflib.catalog import model
        >>> model("Llama 3 8B").prefill(B=1, S=8192)
        <Operation prefill of Llama 3 8B: 132 TFLOP in bf16, 17.2 GB, 7,660 FLOP/B>

        The cache is empty at first. Counts are as for `decode`, with BS tokens instead of B. A
        query sees the positions up to its own, and exactly those pairs count: S(S+1)/2 per head,
        less with a window. A prompt is read in chunks of `chunk` tokens, all at once by default.
        Each chunk loads the weights again, and the cached positions up to its end. Positions that a
        chunk adds are written and read once. Other parameters, and errors, are those of `decode`.

        Parameters
        ----------
        chunk
            Tokens of a prompt that are read together. The last chunk may be shorter.
        logits
            "last": logits of the last position of each prompt, as sampling needs. "all": of all.
        latent
            As for `decode`; "expanded": each chunk makes keys and values of all that it sees.
        """
        sizes = check.wholes(B=B, S=S, chips=chips, replicas=replicas)
        S, chunk = sizes[1], sizes[1] if chunk is None else check.whole("chunk", chunk)
        passes = [(S // chunk, chunk), (S % chunk > 0, S % chunk)]
        options = (expert_parallel, experts, latent, passes, logits)
        return self._count("prefill", sizes, (w, kv, x, compute), *options)

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
    ) -> Operation:
        """Return one chip's share of a training step: B sequences of S tokens per chip.

        >>> from rooflib.catalog import model
        >>> step = model("Llama 3 8B").train(B=1, S=8192, chips=64)
        >>> {part.name: f"{part.flops:.3g}" for part in step.parts if part.flops}
        {'forward': '1.41e+14', 'backward': '2.81e+14'}

        The forward pass is a prefill with all logits. The backward pass takes twice its FLOPs: a
        product for the gradient of each input of a product. Scores that a fused kernel computes
        again are not counted.

        Chips hold equal parts of weights, gradients and the optimizer's state: fully sharded data
        parallelism. Each gathers all weights for the forward and again for the backward pass, and
        reduce-scatters all gradients; HBM also holds the gathered weights of the largest layer.
        Sources: Rajbhandari et al., "ZeRO", 2020; How To Scale Your Model, "How to Parallelize a
        Transformer".

        Activations are kept for each token: in every layer the residual stream and its norm before
        attention and before the MLP (4D); queries, keys, values, the heads' results and latent
        vectors; the outputs and their product in each MLP and expert that the token takes; and the
        logits. `held` of the parts are the weights (forward), gradients (backward), activations,
        and the optimizer's state (update).

        Parameters
        ----------
        recompute
            Whether only the residual stream (D) is kept for each layer, and the rest for one: the
            layers then run forward twice.
        x, gradients, state
            Data types of weights and activations, and of gradients; bytes of the optimizer's state
            per weight: 12 for Adam with a copy of the weight and two moments in fp32.
        """
        B, S, chips = check.wholes(B=B, S=S, chips=chips)
        ahead = self.prefill(B, S, logits="all", w=x, x=x)
        of_logits = next(part.flops for part in ahead.parts if part.name == "logits")
        element, kinds = dtype(x, "x").bytes, self.every_kind
        weights = element * self.parameters
        slopes = dtype(gradients, "gradients").bytes * self.parameters
        moments = check.non_negative("state", state) * self.parameters / chips
        gathered = element * max(kind.parameters(self.D) for kind in kinds) * (chips > 1)
        again = check.flag("recompute", recompute)
        if again:
            kept = self.layers * self.D + max(kind.activations(self.D) for kind in kinds)
        else:
            kept = sum(kind.count * kind.activations(self.D) for kind in kinds)
        saved = element * B * S * (kept + self.vocabulary)
        sent = 2 * all_gather(weights, chips) + reduce_scatter(slopes, chips)
        part, slope = partial(share, ahead.compute, chips), slopes / chips
        parts = (
            part("forward", flops=ahead.flops, loaded=weights, held=weights / chips + gathered),
            part("backward", flops=2 * ahead.flops, loaded=weights, written=slopes, held=slope),
            part("recomputation", flops=again * (ahead.flops - of_logits), loaded=again * weights),
            part("activations", loaded=saved, written=saved, held=saved),
            part("update", loaded=moments + slope, written=moments + weights / chips, held=moments),
            part("collectives", sent=sent, hops=3 * self.layers * ring_steps(chips)),
        )
        return total(f"training step of {self.name}", parts)

    def _count(
        self,
        name: str,
        sizes: list[Number],
        types: tuple[Type | None, ...],
        expert_parallel: bool,
        experts: str,
        latent: str,
        passes: list[tuple[Number, Number]] | None = None,
        logits: str = "last",
    ) -> Operation:
        """Count a decode step, or a prefill in `passes`: (chunks, tokens of each) pairs."""
        routing = check.one_of("experts", experts, ("expected", "fewest", "most"))
        absorbed = check.one_of("latent", latent, ("absorbed", "expanded")) == "absorbed"
        all_logits = check.one_of("logits", logits, ("last", "all")) == "all"
        read, cache, stored, compute = self._types(*types)
        B, S, chips, replicas = sizes
        self._check_layout(B, chips, replicas, expert_parallel)
        D, B = self.D, B // replicas
        prefill = passes is not None
        passes = passes or [(1, 1)]
        repeats = sum(number for number, _ in passes)
        n = B * S if prefill else B
        counted: dict[str, dict[str, Number]] = {row: defaultdict(int) for row in ROWS}

        def add(row: str, **counts: Number) -> None:
            for count, size in counts.items():
                counted[row][count] += size

        def add_weights(row: str, weights: Number, passes: Number = repeats, n: Number = n) -> None:
            held = stored[row].bytes * weights
            add(row, flops=2 * n * weights, loaded=held * passes, held=held)

        for kind in self.every_kind:
            c, seen = kind.count, kind.visible(S)
            positions = kind.positions_read(S, passes[0][1]) if prefill else seen
            held = c * cache.bytes * kind.cached(chips)
            again = 0 if absorbed else kind.expansion(chips) * (B * positions - n)
            add_weights("embedding, norms", c * kind.gains, n=0)
            add_weights("projections", c * kind.projections(D, chips))
            add("projections", flops=2 * c * again, written=held * n)
            pairs = (kind.N // chips) * B * (kind.pairs(S) if prefill else seen)
            flops = c * kind.pair_flops(absorbed) * pairs
            add("attention", flops=flops, loaded=held * B * positions, held=held * B * seen)
            reductions = c * (2 if kind.F or not expert_parallel else 1)
            summed = read.bytes * n * D
            sent, hops = all_reduce(summed, chips), repeats * ring_steps(chips, 2)
            less = reductions * spared(summed, chips)
            add("collectives", sent=reductions * sent, hops=reductions * hops, spared=less)
            add_weights("MLP", c * kind.matrices * D * (kind.F // chips))
            if not kind.experts:
                continue
            add_weights("router", c * D * kind.experts)
            groups = replicas if expert_parallel else 1  # number of replicas that share the experts
            holders = chips * groups
            taken = sum(k * kind.touched(B * T * groups, routing) for k, T in passes)
            flops = 2 * c * kind.active * n * (kind.matrices * D * kind.X) / chips
            one = c * stored["experts"].bytes * kind.expert(D) / holders
            add("experts", flops=flops, loaded=one * taken, held=one * kind.experts)
            if expert_parallel:
                gathers = kind.F == 0
                sent = 2 * read.bytes * (n / chips) * D * kind.chips_reached(holders)
                hops = repeats * (2 * ring_steps(holders) + gathers * ring_steps(chips))
                sent += gathers * all_gather(read.bytes * n * D, chips)
                add("collectives", sent=c * sent, hops=c * hops)
        last, rows = self.vocabulary // chips, n if all_logits else B
        add_weights("logits", last * D, repeats if all_logits else 1, rows)
        add("logits", written=read.bytes * rows * last)
        add_weights("embedding, norms", D, n=0)
        one = stored["embedding, norms"].bytes * D
        add("embedding, norms", loaded=one * n / chips, held=0 if self.tied else one * last)
        share_of = partial(share, compute, chips * replicas)
        parts = tuple(share_of(row, **counts) for row, counts in counted.items())
        return total(f"{name} of {self.name}", parts)

    def _types(
        self, w: Type | None, kv: Type | None, x: Type | None, compute: Type | None
    ) -> tuple[DType, DType, dict[str, DType], DType]:
        """Return data types: activations, KV cache, weights by row, and arithmetic."""
        read = dtype(self.w if x is None else x, "x")
        given = {row: self.quantized.get(row, self.w) if w is None else w for row in ROWS}
        stored = {row: dtype(kind, "w") for row, kind in given.items()}
        kinds = {matmul_types(read, kind, None, compute)[3] for kind in stored.values()}
        if len(kinds) > 1:
            named = ", ".join(sorted(kind.name for kind in kinds))
            raise ValueError(f"compute must be given: weights of this model differ; got {named}")
        return read, matmul_types(read, kv, None, compute, second="kv")[1], stored, kinds.pop()

    def _weights(self, active: bool, tables: bool) -> int:
        each = sum(kind.count * kind.parameters(self.D, active) for kind in self.every_kind)
        return each + self.D + tables * (1 if self.tied else 2) * self.vocabulary * self.D

    def _misfit(self, chips: Number, expert_parallel: bool) -> str:
        """Return the first rule that a split over `chips` breaks; "" if none.

        The text includes the size that breaks it.
        """
        for kind in self.every_kind:
            sizes = {"N": kind.N, "F": kind.F, "vocabulary": self.vocabulary}
            if kind.experts and not expert_parallel:
                sizes["X"] = kind.X
            for name, size in sizes.items():
                if np.any(size % chips):
                    return f"chips must divide {name}; got {name}={size}"
            if not kind.kv_rank and np.any((kind.K % chips) * (chips % kind.K)):
                return f"chips must divide K or be a multiple of K; got K={kind.K}"
        return ""

    def _check_layout(self, B: Number, chips: Number, replicas: Number, spread: bool) -> None:
        """Raise a ValueError unless chips and replicas divide the model and B.

        With `spread`, they must also divide the experts.
        """
        if misfit := self._misfit(chips, check.flag("expert_parallel", spread)):
            most = min(MAX_LISTED, *(kind.N for kind in self.every_kind))
            fitting = [str(n) for n in range(1, most + 1) if not self._misfit(n, spread)]
            hint = f"{self.name} can be split over {', '.join(fitting)}"
            raise ValueError(f"{misfit}, chips={chips}; {hint}")
        if np.any(B % replicas):
            raise ValueError(f"replicas must divide B; got B={B}, replicas={replicas}")
        if not spread:
            return
        routed, over = [kind.experts for kind in self.every_kind if kind.experts], chips * replicas
        if not routed:
            raise ValueError(f"expert_parallel needs a model with experts; got {self.name}")
        for E in routed:
            if np.any(E % over):
                fitting = [str(n) for n in range(1, MAX_LISTED + 1) if not E % n]
                given = f"experts={E}, chips times replicas={over}"
                hint = f"{self.name} can be spread over {', '.join(fitting)}"
                raise ValueError(f"chips times replicas must divide experts; got {given}; {hint}")
