"""Language models: parameter counts, cache sizes, and steps of decode and prefill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflib._arguments import (
    Number,
    ReadOnlyDict,
    Size,
    flag,
    mapping,
    non_negative,
    one_of,
    short,
    whole,
    wholes,
)
from rooflib.attention import check_heads
from rooflib.collectives import all_gather, all_reduce, reduce_scatter, ring_steps
from rooflib.dtypes import DType, Type, dtype
from rooflib.operations import ANY_LINK, Operation, matmul_types, total

if TYPE_CHECKING:
    from rooflib.layers import Layer
    from rooflib.source import Source

ROWS = (
    "embedding, norms", "projections", "attention", "router", "experts", "MLP", "logits",
    "collectives",
)  # fmt: skip
"""Kinds of operations of a step, in the order of `Operation.parts`."""
ROUTING, LATENT = ("expected", "fewest", "most"), ("absorbed", "expanded")
MAX_LISTED = 1024


@dataclass(frozen=True)
class Model:
    """A decoder-only language model: its kinds of layers, and how many of each.

    Without `kinds`, all layers are dense and have no biases, as those of Llama. `model_from_config`
    reads other models from a file.

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
    kinds: tuple[Layer, ...] = field(default=(), kw_only=True)
    w: Type = field(default="bf16", kw_only=True)
    quantized: Mapping[str, Type] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        for size in ("layers", "D", "F", "N", "K", "H", "vocabulary"):
            whole(size, getattr(self, size))
        for name in ("gated", "tied"):
            flag(name, getattr(self, name))
        check_heads(self.N, self.K)
        dtype(self.w, "w")
        for row, kind in mapping("quantized", self.quantized, "row to data type").items():
            dtype(kind, f"quantized[{one_of('quantized', row, ROWS)!r}]")
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

        F, gated, gains = self.F, self.gated, 2 * self.D
        N, K, H = self.N, self.K, self.H
        return self.kinds or (Layer(self.layers, N, K, H, F=F, gated=gated, gains=gains),)

    @property
    def parameters(self) -> int:
        """Number of weights, including embeddings, norms and biases.

        Each layer of Llama has two norms with D gains, and one more norm follows the last layer.
        Source: Touvron et al., "Llama 2", 2023.
        """
        each = sum(kind.count * kind.parameters(self.D) for kind in self.every_kind)
        return each + self.D + (1 if self.tied else 2) * self.vocabulary * self.D

    def active_parameters(self, tables: bool = True) -> int:
        """Return how many weights one token takes: all but the experts it isn't routed to.

        With `tables`, the embedding table and the output matrix count as a whole; without, neither
        does, and the rest is what multiplies a token on its way through the layers.
        """
        each = sum(kind.count * kind.parameters(self.D, active=True) for kind in self.every_kind)
        of_tables = (1 if self.tied else 2) * self.vocabulary * self.D
        return each + self.D + (of_tables if flag("tables", tables) else 0)

    @property
    def split_weights(self) -> int:
        """Weights per layer that chips split evenly: query and output projections, MLP.

        Those of a dense model without `kinds`.
        """
        return 2 * self.D * self.N * self.H + (3 if self.gated else 2) * self.D * self.F

    def kv_bytes_per_token(self, kv: Type = "bf16") -> Number:
        """Return the bytes of cache per token, stored in the type `kv`.

        Layers with a window count as well; they hold no more positions than their window.
        """
        return dtype(kv, "kv").bytes * sum(kind.count * kind.cached() for kind in self.every_kind)

    def chips_that_divide(self, expert_parallel: bool = False) -> list[int]:
        """Return the numbers of chips, up to 1,024, that split this model evenly."""
        most = min(MAX_LISTED, *(kind.N for kind in self.every_kind))
        return [n for n in range(1, most + 1) if not self._undivided(n, expert_parallel)]

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
        T = 1 in each layer. A step loads all weights, but only B rows of the embedding table, and
        the KV cache of S positions, including the new one. It writes the keys and values of the new
        position, and B rows of logits. Activations stay on the chips. Norms, softmax, rotary
        embeddings and additions are not counted. HBM must hold all weights and the cache. A layer
        with a window of W reads and holds the last W positions, the new one included. Of routed
        experts a step loads those that at least one of the B tokens takes.

        The chips split the heads, the width F and the vocabulary. Each layer takes two ring
        all-reduces of BD elements of type `x`. Each chip keeps its part of the logits;
        communication for the embedding lookup is not counted. With more than K chips, each
        key/value head is replicated; so are latent caches, routers, norms and biases. Sources: How
        To Scale Your Model, "All About Transformer Inference"; Shoeybi et al., "Megatron-LM", 2019.

        `Operation.parts` has the same counts by kind of operation; they add up to the step.

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

        Raises
        ------
        ValueError
            If `chips` doesn't divide N, F and the vocabulary, or if neither of `chips` and K
            divides the other; and as for `attention`.
        """
        sizes = wholes(B=B, S=S, chips=chips, replicas=replicas)
        types = (w, kv, x, compute)
        phase = _Phase("decode step", sizes, *types, expert_parallel, experts, latent)
        phase.decodes = True
        return self._count(phase)

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
        """Return one chip's share of a prefill: B prompts of S tokens each, into an empty cache.

        >>> from rooflib.catalog import model
        >>> model("Llama 3 8B").prefill(B=1, S=8192)
        <Operation prefill of Llama 3 8B: 132 TFLOP in bf16, 17.2 GB, 7,660 FLOP/B>

        As `decode`, with BS tokens instead of B. A query sees the positions up to its own, and
        exactly those pairs count: S(S+1)/2 per head, less with a window. A prompt is read in
        chunks of `chunk` tokens, all at once by default. Each chunk loads the weights again, and
        the cached positions up to its end. Positions that a chunk adds are written and read once.

        Parameters
        ----------
        B, S, chips
            Prompts, tokens of each, and chips of one replica.
        chunk
            Tokens of a prompt that are read together. The last chunk may be shorter.
        logits
            "last": logits of the last position of each prompt, as sampling needs. "all": of all.
        latent
            "expanded" by default: each chunk makes keys and values of all positions that it sees.

        Other parameters, and errors, are those of `decode`.
        """
        sizes = wholes(B=B, S=S, chips=chips, replicas=replicas)
        types = (w, kv, x, compute)
        phase = _Phase("prefill", sizes, *types, expert_parallel, experts, latent)
        S, chunk = phase.S, phase.S if chunk is None else whole("chunk", chunk)
        phase.passes = [(S // chunk, chunk), ((S % chunk > 0) * 1, S % chunk)]
        phase.all_logits = one_of("logits", logits, ("last", "all")) == "all"
        return self._count(phase)

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
        """Return one chip's share of a training step: B sequences of S tokens on each chip.

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
        B, S, chips = wholes(B=B, S=S, chips=chips)
        ahead = self.prefill(B, S, logits="all", w=x, x=x, experts="most")
        tables = next(part.flops for part in ahead.parts if part.name == "logits")
        weights = dtype(x, "x").bytes * self.parameters
        slopes = dtype(gradients, "gradients").bytes * self.parameters
        moments = non_negative("state", state) * self.parameters / chips
        largest = max(kind.parameters(self.D) for kind in self.every_kind)
        at_work = dtype(x).bytes * largest * (chips > 1)
        kept = sum(kind.count * kind.activations(self.D) for kind in self.every_kind)
        if flag("recompute", recompute):
            kept = self.layers * self.D + max(kind.activations(self.D) for kind in self.every_kind)
        saved = dtype(x).bytes * B * S * (kept + self.vocabulary)

        def part(
            name: str, flops: Number, loaded: Number, written: Number, held: Number
        ) -> Operation:
            return Operation(
                name, flops, loaded, written, ahead.compute, resident=held, chips=chips
            )

        parts = [
            part("forward", ahead.flops, weights, 0, weights / chips + at_work),
            part("backward", 2 * ahead.flops, weights, slopes, slopes / chips),
            part("recomputation", ahead.flops - tables, weights, 0, 0),
            part("activations", 0, saved, saved, saved),
            part("update", 0, moments + slopes / chips, moments + weights / chips, moments),
        ]
        sent = 2 * all_gather(weights, chips) + reduce_scatter(slopes, chips)
        if np.any(sent):
            hops = {ANY_LINK: 3 * self.layers * ring_steps(chips)}
            idle = part("collectives", 0, 0, 0, 0)
            parts.append(replace(idle, sent={ANY_LINK: sent}, hops=hops))
        used = [each for each in parts if recompute or each.name != "recomputation"]
        return total(f"training step of {self.name}", tuple(used))

    def _count(self, at: _Phase) -> Operation:
        """Count a step; the `parts` of the result are its kinds of operations."""
        w, kv, x, compute = at.types
        read = dtype(self.w if x is None else x, "x")
        kinds = {row: self.quantized.get(row, self.w) if w is None else w for row in ROWS}
        types = {row: dtype(kind, "w") for row, kind in kinds.items()}
        each = [matmul_types(read, kind, None, compute)[3] for kind in types.values()]
        if any(kind != each[0] for kind in each):
            named = ", ".join(dict.fromkeys(kind.name for kind in each))
            raise ValueError(f"compute must be given: weights of this model differ; got {named}")
        cache = matmul_types(read, kv, None, compute, second="kv")[1]
        self._check_layout(at, at.everywhere)
        chips, D, B, n, passes = at.chips, self.D, at.B // at.replicas, at.tokens, at.repeats
        counted = {row: _Counts(types[row]) for row in ROWS}
        for kind in self.every_kind:
            c, seen = kind.count, kind.visible(at.S)
            read_positions = seen if at.decodes else kind.positions_read(at.S, at.passes[0][1])
            pairs = seen if at.decodes else kind.pairs(at.S)
            held = cache.bytes * kind.cached(chips)
            counted["embedding, norms"].weights(c * kind.gains, passes)
            weights = kind.projections(D, chips)
            again = 0 if at.absorbed else kind.expansion(chips)
            counted["projections"].weights(c * weights, passes, n=n)
            counted["projections"].flops += 2 * c * again * (B * read_positions - n)
            counted["projections"].written += c * held * n
            part = counted["attention"]
            part.flops += c * kind.pair_flops(at.absorbed) * (kind.N // chips) * B * pairs
            part.loaded += c * held * B * read_positions
            part.resident += c * held * B * seen
            part = counted["collectives"]
            reduced, ring = all_reduce(read.bytes * n * D, chips), ring_steps(chips, 2)
            part.sent += c * reduced
            part.hops += c * passes * ring
            if kind.F:
                shared = kind.matrices * D * (kind.F // chips)
                counted["MLP"].weights(c * shared, passes, n=n)
            if kind.F or not at.everywhere:
                part.sent += c * reduced
                part.hops += c * passes * ring
            if not kind.experts:
                continue
            counted["router"].weights(c * D * kind.experts, passes, n=n)
            one, part = kind.matrices * D * kind.X, counted["experts"]
            over = chips * at.replicas if at.everywhere else chips
            tokens = [(k, B * T * (at.replicas if at.everywhere else 1)) for k, T in at.passes]
            taken = sum(k * kind.touched(each, at.routing) for k, each in tokens)
            part.flops += 2 * c * kind.active * n * one / chips
            part.loaded += c * types["experts"].bytes * taken * kind.expert(D) / over
            part.resident += c * types["experts"].bytes * kind.experts * kind.expert(D) / over
            if at.everywhere:
                part = counted["collectives"]
                sent = 2 * read.bytes * (n / chips) * D * kind.chips_reached(over)
                part.sent += c * (sent + (0 if kind.F else all_gather(read.bytes * n * D, chips)))
                part.hops += c * passes * (2 * ring_steps(over) + (not kind.F) * ring_steps(chips))
        last, rows = self.vocabulary // chips * D, n if at.all_logits else B
        counted["logits"].weights(last, passes if at.all_logits else 1, n=rows)
        counted["logits"].written += read.bytes * rows * (self.vocabulary // chips)
        part = counted["embedding, norms"]
        part.weights(D, passes)
        part.loaded += part.kind.bytes * n * D / chips
        part.resident += 0 if self.tied else part.kind.bytes * last
        parts = tuple(
            part.operation(row, each[0], chips * at.replicas) for row, part in counted.items()
        )
        used = tuple(p for p in parts if np.any(p.flops) or np.any(p.bytes) or p.sent)
        return total(f"{at.name} of {self.name}", used)

    def _undivided(self, chips: Number, expert_parallel: bool) -> tuple[str, int] | None:
        """Return the first size that `chips` don't divide, and its name; None if they do."""
        sizes = [("N", kind.N) for kind in self.every_kind]
        sizes += [("F", kind.F) for kind in self.every_kind]
        sizes += [("vocabulary", self.vocabulary)]
        if not expert_parallel:
            sizes += [("X", kind.X) for kind in self.every_kind if kind.experts]
        for name, size in sizes:
            if np.any(size % chips):
                return name, size
        for kind in self.every_kind:
            if not kind.kv_rank and np.any((kind.K % chips) * (chips % kind.K)):
                return "K", kind.K
        return None

    def _check_layout(self, at: _Phase, expert_parallel: bool) -> None:
        if undivided := self._undivided(at.chips, expert_parallel):
            name, size = undivided
            rule = "chips must divide K or be a multiple of K" if name == "K" else None
            fitting = ", ".join(map(str, self.chips_that_divide(expert_parallel)))
            raise ValueError(
                f"{rule or f'chips must divide {name}'}; got {name}={size}, chips={at.chips}; "
                f"{self.name} can be split over {fitting}"
            )
        if np.any(at.B % at.replicas):
            raise ValueError(f"replicas must divide B; got B={at.B}, replicas={at.replicas}")
        over = at.chips * at.replicas
        routed = [kind.experts for kind in self.every_kind if kind.experts]
        if expert_parallel and not routed:
            raise ValueError(f"expert_parallel needs a model with experts; got {self.name}")
        for E in routed if expert_parallel else ():
            if np.any(E % over):
                fitting = ", ".join(str(n) for n in range(1, min(E, MAX_LISTED) + 1) if not E % n)
                raise ValueError(
                    f"chips times replicas must divide experts; got experts={E}, chips times "
                    f"replicas={over}; {self.name} can be spread over {fitting}"
                )


class _Phase:
    """What a step computes: B sequences of S positions, in passes of T tokens of each.

    `passes` has the number of passes of each length T. B is the sequences of all replicas.
    """

    decodes = all_logits = False

    def __init__(self, name: str, sizes: list[Number], *options: Any) -> None:
        self.name = name
        self.passes: list[tuple[Number, Number]] = [(1, 1)]
        self.B, self.S, self.chips, self.replicas = sizes
        self.types, self.everywhere = options[:4], flag("expert_parallel", options[4])
        self.routing = one_of("experts", options[5], ROUTING)
        self.absorbed = one_of("latent", options[6], LATENT) == "absorbed"

    @property
    def repeats(self) -> Number:
        """How often the step loads the weights."""
        return sum(repeats for repeats, _ in self.passes)

    @property
    def tokens(self) -> Number:
        """New tokens of one replica."""
        return (self.B // self.replicas) * (1 if self.decodes else self.S)


class _Counts:
    """Counts of one kind of operation, while they are added up; `kind` is the type of weights."""

    flops: Number = 0
    loaded: Number = 0
    written: Number = 0
    resident: Number = 0
    sent: Number = 0
    hops: Number = 0

    def __init__(self, kind: DType) -> None:
        self.kind = kind

    def weights(self, weights: Number, passes: Number, n: Number = 0) -> None:
        """Add weights that are loaded in each pass, and take 2n FLOPs each."""
        self.flops += 2 * n * weights
        self.loaded += self.kind.bytes * weights * passes
        self.resident += self.kind.bytes * weights

    def operation(self, name: str, compute: DType, chips: Number) -> Operation:
        """Return these counts as an operation on one chip."""
        sent = {ANY_LINK: self.sent} if np.any(self.sent) else {}
        hops = {ANY_LINK: self.hops} if np.any(self.hops) else {}
        counts = (self.flops, self.loaded, self.written, compute, sent, self.resident, chips)
        return Operation(name, *counts, hops=hops)
