"""Steps of a model as sums of work: what one chip does for one layer of a kind, and beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rooflib.checks import Number, instance, one_of, sizes
from rooflib.dtypes import DType, Type, common_type, dtype
from rooflib.hardware import HBM
from rooflib.llm.layers import GGUF, Layer, Matrix, positions_read
from rooflib.operations import all_gather, all_reduce, spared
from rooflib.work import Work, added, resource_of

ROWS = (
    "embedding, norms",
    "projections",
    "attention",
    "state",
    "router",
    "experts",
    "MLP",
    "logits",
    "collectives",
)
"""Kinds of operations of a step, in the order of `Work.parts`."""
NORMS = ROWS[0]


@dataclass(kw_only=True)
class Step:
    """One chip's share of a step: new tokens of B sequences pass the layers, in chunks.

    The model, B, S and chips are those of `Model.decode`.
    """

    model: Any  # a Model, whose module imports this one
    B: Number
    S: Number
    chips: Number
    start: Number  #: the first new position of each sequence
    chunk: Number  #: how many new tokens pass the layers together
    #: Whose logits are computed, "all" or those of the "last" token of each sequence, for sampling.
    logits: str = "all"
    w: Type | None = None  #: data type of all weights; by default those of the model
    kv: Type | None = None  #: data type of the cache; by default the model's, or `x`
    x: Type | None = None  #: data type of activations and logits; by default the model's `w`
    compute: Type | None = None  #: data type of the arithmetic; by default common to `x` and `w`
    replicas: Number = 1  #: copies of the model on `chips` chips each, which share the B sequences
    #: Whether each of all these chips holds whole routed experts, not a part of each. A token then
    #: travels to the chips of its experts and back, once to each. Two all-to-alls take the place of
    #: a layer's second all-reduce, of which an all-gather remains.
    expert_parallel: bool = False
    #: How many distinct experts n tokens take, which only the router knows. It is the "expected"
    #: number under uniform routing, E · (1 - (1 - k/E)^n), the "fewest" (k), or the "most".
    experts: str = "expected"
    #: How latent attention computes. It compares queries with the cached vectors if "absorbed", and
    #: makes keys and values of all positions that a chunk sees if "expanded".
    latent: str = "absorbed"

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("B", "S", "chips", "replicas")}
        self.B, self.S, self.chips, self.replicas = sizes(whole=True, **given)
        one_of("experts", self.experts, ("expected", "fewest", "most"))
        one_of("latent", self.latent, ("absorbed", "expanded"))
        one_of("logits", self.logits, ("last", "all"))
        model = self.model
        # The types of activations, of the cache, and of all weights (None: those of the model).
        self.read = dtype(model.w if self.x is None else self.x, "x")
        self.cache = dtype(model.cache_type(self.x, self.kv), "kv")
        self.given_w = None if self.w is None else dtype(self.w, "w", GGUF)
        # The type of activations and plain weights, in which a recurrence is computed; and that of
        # attention's products: fp8 for narrower activations, as in FlashAttention-3 (Shah et al.,
        # 2024). Kernels with a cache in bf16 usually compute attention in bf16, as x="bf16" does.
        said = self.w is None and self.x is None and not self.compute
        narrow = said and {"fp8", "fp4"} & {of.x for of in model.formats}
        self.plain_type = self._product(self.read, self.given_w or dtype(model.w))
        self.own_type = "fp8" if narrow else self.plain_type
        spread = instance("expert_parallel", self.expert_parallel, bool, "True or False")
        model.check_split(self.B, self.chips, self.replicas, spread)
        # Sequences and new tokens of a replica, and how often its weights are loaded.
        self.sequences = self.B // self.replicas
        self.n = self.sequences * (self.S - self.start)
        self.repeats = -(-(self.S - self.start) // self.chunk)

    def total(self, name: str) -> Work:
        """Return the sum of all layers, what stands beside them, and the logits."""
        kinds = (*self.model.kinds, self.model.outer)
        layers = [kind.count * part for kind in kinds for part in self.layer(kind)]
        step = added([self.embedding(), *layers, *self.output()])
        kept = (part for part in step.parts if np.any(part.bytes) or np.any(part.hops))
        rows = tuple(sorted(kept, key=lambda part: ROWS.index(part.name)))
        return replace(step, name=f"{name} of {self.model.name}", parts=rows)

    def layer(self, kind: Layer) -> Iterator[Work]:
        """Yield the parts of a layer."""
        yield self.multiply(NORMS, [Matrix(NORMS, "gains", kind.gains)], 0)
        yield from self.projections(kind)
        if kind.N:
            yield self.attention(kind)
        if kind.state_heads:
            yield self.recurrence(kind)
        for row in ("MLP", "router"):
            if matrices := kind.of(row):
                yield self.multiply(row, matrices, self.n)
        if kind.experts:
            yield self.routed(kind)
        yield self.exchanges(kind)

    def multiply(
        self, row: str, matrices: Iterable[Matrix], n: Number, passes: Number = None
    ) -> Work:
        """Return the multiplication of n tokens with matrices, which every pass loads."""
        by_type: dict[str, Number] = {}
        held: Number = 0
        for matrix in matrices:
            weights, (stored, product) = matrix.on(self.chips), self.types(matrix)
            by_type[product] = by_type.get(product, 0) + weights
            held += stored.bytes * weights
        flops = {product: 2 * n * weights for product, weights in by_type.items()}
        loaded = held * (self.repeats if passes is None else passes)
        return Work(row, {**flops, HBM: loaded}, held=held)

    def types(self, matrix: Matrix) -> tuple[DType, str]:
        """Return the type in which a matrix is stored, and that of products with it."""
        of = self.model.stored(matrix)
        stored = self.given_w or of.w
        own = dtype(of.x) if of.x and self.x is None and self.w is None else None
        return stored, self._product(own or self.read, own or stored)  # it says the product's type

    def _product(self, x: DType, w: DType) -> str:
        if self.compute:
            return resource_of(self.compute, "compute")
        return x.name if x.name == w.name else common_type(x, w).name

    def projections(self, kind: Layer) -> Iterator[Work]:
        """Queries, keys, values and their output; what enters the cache is written."""
        yield self.multiply("projections", kind.of("projections"), self.n)
        if self.latent == "expanded" and kind.expanding:
            seen = kind.positions_read(self.S, self.chunk, self.start)
            again = self.sequences * seen - self.n
            yield replace(self.multiply("projections", kind.expanding, again, 0), held=0)
        written = self.cache.bytes * kind.kept(self.chips) * self.n
        yield Work("projections", {HBM: written}, written, held=0)

    def attention(self, kind: Layer) -> Work:
        """Scores and values of the pairs of a query and a position that it sees."""
        width, heads = self.cache.bytes * self.sequences, kind.N // self.chips
        pairs = self.sequences * kind.positions_read(self.S, 1, self.start)
        flops = kind.pair_flops(self.latent == "absorbed") * heads * pairs
        seen = kind.positions_read(self.S, self.chunk, self.start)
        loaded = width * kind.cached(self.chips) * seen
        held = width * kind.held(self.S, self.chips)
        if kind.index_N:  # each query is compared with one key of every position
            compared, keys = (positions_read(self.S, each, self.start) for each in (1, self.chunk))
            every = kind.pooled or 1
            flops += 2 * kind.index_N * kind.index_H * self.sequences * (compared // every)
            loaded += width * kind.index_H * (keys // every)
        return Work("attention", {self.own_type: flops, HBM: loaded}, held=held)

    def recurrence(self, kind: Layer) -> Work:
        """A recurrent state: every token changes it; every pass loads and writes it once."""
        flops = self.n * kind.recurrence_flops(self.chips)
        size = self.sequences * kind.state_bytes(self.read.bytes, self.chips)
        loaded = size * (self.repeats - (self.start == 0))  # a prompt's first chunk starts at zero
        written = size * self.repeats
        return Work("state", {self.plain_type: flops, HBM: loaded + written}, written, held=size)

    def routed(self, kind: Layer) -> Work:
        """The experts that at least one token takes; each chip holds its part of all."""
        groups = self.replicas if self.expert_parallel else 1
        whole, last = divmod(self.S - self.start, self.chunk)  # the last chunk may be shorter
        tokens = self.sequences * groups
        taken = whole * kind.touched(tokens * self.chunk, self.experts)
        taken = taken + (last > 0) * kind.touched(tokens * last, self.experts)
        made = self.multiply("experts", kind.of("experts"), kind.active * self.n, 0)
        biases = (self.given_w or dtype(self.model.w)).bytes * kind.expert_biases
        one = (made.held + biases) / (self.chips * groups)
        amounts = {name: n / self.chips for name, n in made.amounts.items()} | {HBM: one * taken}
        return Work("experts", amounts, held=one * kind.experts)

    def exchanges(self, kind: Layer) -> Work:
        """An all-reduce after attention and one after the MLP, or the ways to experts and back."""
        n, D, chips, x = self.n, self.model.D, self.chips, self.read.bytes
        travels = self.expert_parallel and kind.experts > 0
        mixes, computes = kind.N + kind.state_heads > 0, kind.F + kind.experts > 0
        reductions = mixes + (computes and (not travels or kind.F > 0))
        summed = x * n * D
        sent, less = reductions * all_reduce(summed, chips), reductions * spared(summed, chips)
        hops = reductions * self.repeats * 2 * (chips - 1)
        group = chips * self.replicas
        if travels:
            gathers = kind.F == 0
            sent = sent + 2 * x * (n / chips) * D * kind.chips_reached(group)
            sent += gathers * all_gather(x * n * D, chips)
            hops += self.repeats * (2 * (group - 1) + gathers * (chips - 1))
        return Work("collectives", {}, 0, 0, sent, hops, less, group)

    def embedding(self) -> Work:
        """A row of each embedding table."""
        model, tables = self.model, self.model.outer.of("embedding")
        width = (self.given_w or model.stored(tables[0]).w).bytes
        row = sum(table.weights // table.parts for table in tables)
        # The first is held as the output matrix, if they share weights.
        held = width * sum(table.on(self.chips) for table in tables[model.tied :])
        return Work(NORMS, {HBM: width * row * self.n / self.chips}, held=held)

    def output(self) -> Iterator[Work]:
        """The output matrix, and the logits that are written."""
        rows, passes = (self.n, self.repeats) if self.logits == "all" else (self.sequences, 1)
        yield self.multiply("logits", self.model.outer.of("logits"), rows, passes)
        rows_of_chip = -(-self.model.vocabulary // self.chips)  # an odd vocabulary is padded
        written = self.read.bytes * rows * rows_of_chip
        yield Work("logits", {HBM: written}, written, held=0)
