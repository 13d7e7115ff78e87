"""Steps of a model as sums of work: what one chip does for one layer of a kind, and beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rooflib.checks import Number
from rooflib.dtypes import DType, Type, common_type, dtype
from rooflib.hardware import HBM
from rooflib.llm.layers import Format, Layer, positions_read
from rooflib.operations import all_gather, all_reduce, spared
from rooflib.work import LINK, Work, type_name

ROWS = (
    "embedding, norms", "projections", "attention", "state", "router", "experts", "MLP", "logits",
    "collectives",
)  # fmt: skip
"""Kinds of operations of a step, in the order of `Work.parts`."""


@dataclass(frozen=True)
class Step:
    """One chip's share of a step: new tokens of B sequences pass the layers, in chunks.

    Attributes
    ----------
    model, B, S, start
        The model; sequences of one replica; positions of each, with the new ones; and how many of
        them are cached before.
    chunk
        New tokens of a sequence that pass the layers together.
    every
        Whether there are logits of all tokens, not only of the last of each sequence.
    chips, replicas, spread
        As for `Model.decode`; `spread` is its `expert_parallel`.
    absorbed, routing
        Whether latent attention compares with the latent vectors; and as `experts` for `decode`.
    x, kv, w, compute, given_x
        Data types; `w` and `compute` are None for those of the model. `given_x` says whether
        products are with activations in `x` even where the checkpoint has others.
    """

    model: Any  # a Model, whose module imports this one
    B: Number
    S: Number
    start: Number
    chunk: Number
    every: bool
    chips: Number
    replicas: Number
    spread: bool
    absorbed: bool
    routing: str
    x: DType
    kv: DType
    w: DType | None
    compute: Type | None
    given_x: bool

    @property
    def n(self) -> Number:
        """New tokens of one replica."""
        return self.B * (self.S - self.start)

    @property
    def passes(self) -> tuple[tuple[Number, Number], ...]:
        """Pairs of a number of chunks and their tokens; the last chunk may be shorter."""
        new = self.S - self.start
        return (new // self.chunk, self.chunk), (new % self.chunk > 0, new % self.chunk)

    @property
    def repeats(self) -> Number:
        """How often the weights are loaded: once for each chunk."""
        return sum(number for number, _ in self.passes)

    def total(self) -> Work:
        """Return the sum of all layers, what is looked up before them, and the logits."""
        layers = (kind.count * self.layer(kind) for kind in self.model.every_kind)
        step = sum(layers, start=self.embedding()) + self.logits()
        if self.model.more:  # matrices outside of the layers
            step += self.weights(None, "projections", self.model.more)
        parts = {part.name: part for part in step.parts}
        rows = [parts[row] for row in ROWS if row in parts]
        return replace(step, parts=tuple(row for row in rows if np.any(row.bytes) or row.hops))

    def layer(self, kind: Layer) -> Work:
        """Return one layer of a kind: what mixes positions, and an MLP, experts, both or none."""
        D, chips = self.model.D, self.chips
        layer = self.weights(kind, "embedding, norms", kind.gains, n=0) + self.projections(kind)
        if kind.N:
            layer += self.attention(kind)
        if kind.state_heads:
            layer += self.recurrence(kind)
        if kind.F:
            layer += self.weights(kind, "MLP", kind.weights("MLP", D, chips))
        if kind.experts:
            layer += self.weights(kind, "router", kind.weights("router", D)) + self.experts(kind)
        return layer + self.exchanges(kind)

    def weights(
        self, kind: Layer | None, row: str, weights: Number, n: Number = None, passes: Number = None
    ) -> Work:
        """Return the multiplication of n tokens with matrices, which every pass loads."""
        n, passes = self.n if n is None else n, self.repeats if passes is None else passes
        held = sum(share * dtype(of.w).bytes for of, share in self.formats(kind, row)) * weights
        return _work(row, self.by_type(kind, row, 2 * n * weights), held * passes, held=held)

    def formats(self, kind: Layer | None, row: str) -> tuple[tuple[Format, float], ...]:
        """Return pairs of a format and the share of the row's weights that has it."""
        if self.w is not None:
            return ((Format(self.w), 1.0),)
        found = kind.stored.get(row) if kind else None
        return found or ((self.model.format_of(row), 1.0),)

    def by_type(self, kind: Layer | None, row: str, flops: Number) -> dict[str, Number]:
        """Return FLOPs by the data type of the arithmetic, for products with weights of a row."""
        found: dict[str, Number] = {}
        for of, share in self.formats(kind, row):
            x = self.x if self.given_x or of.x is None else dtype(of.x)
            name = self._compute(x, dtype(of.w))
            found[name] = found.get(name, 0) + (flops if share == 1 else share * flops)
        return found

    def own_type(self) -> str:
        """Return the data type of products without weights: that of activations and plain weights.

        A checkpoint with narrower floats as activations allows attention in fp8, as in
        FlashAttention-3 (Shah et al., 2024).
        """
        narrow = {"fp8", "fp4"} & self.model.activation_types
        if narrow and self.w is None and not (self.given_x or self.compute):
            return "fp8"
        return self._compute(self.x, self.w or dtype(self.model.w))

    def _compute(self, x: DType, w: DType) -> str:
        if self.compute:
            return type_name(self.compute, "compute")
        return x.name if x.name == w.name else common_type(x, w).name

    def projections(self, kind: Layer) -> Work:
        """Queries, keys, values and their output; what enters the cache is written."""
        multiplied = self.weights(
            kind, "projections", kind.weights("projections", self.model.D, self.chips)
        )
        again = (
            0 if self.absorbed else kind.expansion(self.chips) * (self.B * self.read(kind) - self.n)
        )
        written = self.kv.bytes * kind.kept(self.chips) * self.n
        made = self.by_type(kind, "projections", 2 * again)
        return (multiplied + _work("projections", made, written=written)).named("projections")

    def attention(self, kind: Layer) -> Work:
        """Scores and values of the pairs of a query and a position that it sees."""
        width, heads = self.kv.bytes * self.B, kind.N // self.chips
        flops = kind.pair_flops(self.absorbed) * heads * self.B * kind.pairs(self.S, self.start)
        loaded = width * kind.cached(self.chips) * self.read(kind)
        held = width * kind.held(self.S, self.chips)
        if kind.index_N:  # each query is compared with one key of every position
            compared, keys = (positions_read(self.S, each, self.start) for each in (1, self.chunk))
            every = kind.pooled or 1
            flops += 2 * kind.index_N * kind.index_H * self.B * (compared // every)
            loaded += width * kind.index_H * (keys // every)
        return _work("attention", {self.own_type(): flops}, loaded, held=held)

    def read(self, kind: Layer) -> Number:
        """Return how many cached positions of each sequence all passes read."""
        return kind.positions_read(self.S, self.chunk, self.start)

    def recurrence(self, kind: Layer) -> Work:
        """A recurrent state: every token changes it; every pass loads and writes it once."""
        recurrent, inputs = kind.state(self.chips)
        flops = self.n * (
            kind.state_flops * recurrent + 2 * kind.conv * kind.channels // self.chips
        )
        size = self.B * (kind.state_width * recurrent + self.x.bytes * inputs)
        loaded = size * (self.repeats - (self.start == 0))  # a prompt's first chunk starts at zero
        return _work("state", {self.own_type(): flops}, loaded, size * self.repeats, held=size)

    def experts(self, kind: Layer) -> Work:
        """The experts that at least one token takes; each chip holds its part of all."""
        D, groups = self.model.D, self.replicas if self.spread else 1
        taken = sum(k * kind.touched(self.B * T * groups, self.routing) for k, T in self.passes)
        flops = 2 * kind.active * self.n * kind.weights("experts", D) / self.chips
        width = sum(share * dtype(of.w).bytes for of, share in self.formats(kind, "experts"))
        biases = kind.expert(D) - kind.weights("experts", D)
        one = width * kind.weights("experts", D) + dtype(self.w or self.model.w).bytes * biases
        one = one / (self.chips * groups)
        return _work(
            "experts", self.by_type(kind, "experts", flops), one * taken, held=one * kind.experts
        )

    def exchanges(self, kind: Layer) -> Work:
        """An all-reduce after attention and one after the MLP, or the ways to experts and back."""
        n, D, chips, x = self.n, self.model.D, self.chips, self.x.bytes
        travels = self.spread and kind.experts > 0
        mixes, computes = kind.N + kind.state_heads > 0, kind.F + kind.experts > 0
        reductions = mixes + (computes and (not travels or kind.F > 0))
        summed = x * n * D
        sent, less = reductions * all_reduce(summed, chips), reductions * spared(summed, chips)
        hops = reductions * self.repeats * 2 * (chips - 1)
        if travels:
            holders, gathers = chips * self.replicas, kind.F == 0
            sent = sent + 2 * x * (n / chips) * D * kind.chips_reached(holders)
            sent += gathers * all_gather(x * n * D, chips)
            hops += self.repeats * (2 * (holders - 1) + gathers * (chips - 1))
        ways = {LINK: hops} if np.any(hops) else {}
        if not ways:
            return Work("collectives", held=0)
        group, less = chips * self.replicas, {LINK: less}
        return Work("collectives", {LINK: sent}, 0, 0, ways, spared=less, chips=group)

    def embedding(self) -> Work:
        """Rows of the embedding table, and the norm after the last layer."""
        model = self.model
        width = dtype(self.w or model.format_of("embedding").w).bytes
        norms = self.weights(None, "embedding, norms", model.outer_gains, n=0)
        table = 0 if model.tied else width * model.D * (model.vocabulary // self.chips)
        held = table + width * model.looked_up / self.chips
        looked_up = width * (model.D + model.looked_up_each) * self.n / self.chips
        rows = _work("embedding, norms", {}, looked_up, held=held)
        return (norms + rows).named("embedding, norms")

    def logits(self) -> Work:
        """The output matrix, and the logits that are written."""
        last = self.model.vocabulary // self.chips
        rows, passes = (self.n, self.repeats) if self.every else (self.B, 1)
        product = self.weights(None, "logits", last * self.model.D, rows, passes)
        written = _work("logits", {}, written=self.x.bytes * rows * last)
        return (product + written).named("logits")


def _work(
    name: str,
    flops: Mapping[str, Number],
    loaded: Number = 0,
    written: Number = 0,
    held: Number = 0,
) -> Work:
    return Work(name, {**flops, HBM: loaded + written}, written, held)
