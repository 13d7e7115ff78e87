"""Layers of a language model: weights, cache, state, and the positions a query sees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from rooflib.checks import Number, instance, size
from rooflib.dtypes import DType, Type, dtype

# Bits of a weight in GGUF files with the scales of its block: llama.cpp, ggml-common.h.
GGUF = {
    "q2_k": 2.625, "q3_k": 3.4375, "q4_0": 4.5, "q4_1": 5, "q4_k": 4.5, "q5_0": 5.5, "q5_1": 6,
    "q5_k": 5.5, "q6_k": 6.5625, "q8_0": 8.5, "iq1_s": 1.5625, "iq1_m": 1.75, "iq2_xxs": 2.0625,
    "iq2_xs": 2.3125, "iq2_s": 2.5625, "iq3_xxs": 3.0625, "iq3_s": 3.4375, "iq4_nl": 4.5,
    "iq4_xs": 4.25, "tq1_0": 1.6875, "tq2_0": 2.0625, "mxfp4": 4.25,
}  # fmt: skip


class Format(NamedTuple):
    """A stored type, and the type of the activations that it is multiplied with.

    None stands for the activations of the model.
    """

    w: Type
    x: Type | None = None


def weight_type(name: Type) -> DType:
    """Return a data type of weights by name, also by that of a GGUF file: "q4_k".

    >>> weight_type("q4_k").bytes * 8
    4.5
    """
    bits = GGUF.get(name.lower()) if isinstance(name, str) else None
    if bits is None:
        return dtype(name, "w")
    whole = int(bits)
    kind = "int4" if bits < 6 else "int8"
    return DType(kind, whole, scale_bits=round((bits - whole) * 256), group=256)


def smaller(a: Number, b: Number) -> Number:
    """Return the smaller of two numbers, by element for arrays; Python ints stay exact."""
    return np.minimum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else min(a, b)


def larger(a: Number, b: Number) -> Number:
    """Return the larger of two numbers, as `smaller` does."""
    return np.maximum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else max(a, b)


def positions_read(S: Number, chunk: Number, start: Number = 0, window: int = 0) -> Number:
    """Return how many positions all chunks of a prompt of S read, after the first `start`.

    A query sees at most `window` positions (0: all).
    """
    full, rest = (S - start) // chunk, (S - start) % chunk
    reach = chunk + (window or S) - 1  # what a chunk reads once there are as many positions
    growing = smaller(full, larger((reach - start) // chunk, 0))
    last = smaller(S, rest + (window or S) - 1) * (rest > 0)
    return (
        growing * start + chunk * (growing * (growing + 1) // 2) + (full - growing) * reach + last
    )


@dataclass(frozen=True)
class Layer:
    """A kind of layer of a decoder, and how many layers are of this kind.

    A layer mixes positions by attention, by a recurrence, or not at all; then an MLP or experts
    follow, or both, or nothing. Raises a ValueError for a size that can't be.

    Attributes
    ----------
    count
        Number of layers of this kind.
    N, K, H, V
        Query heads (0: no attention), key/value heads, and the widths of a key and of a value (0:
        as wide as a key).
    gates
        How many gates of the heads' results are made beside the queries.
    keys
        Matrices that make keys and values: 2; 1, where keys serve as values; or 0, where those of
        an earlier layer are read.
    window
        Positions that a query sees at most, its own included (0: all).
    q_rank, kv_rank, rope
        Latent attention: ranks of queries (0: not compressed) and of keys and values (0: ordinary
        attention), and the rotary part of H, whose key all heads share.
    out_rank, out_groups
        Rank of the output projection, and groups of heads that have their own (0: one matrix).
    index_N, index_H, top
        Sparse attention: heads and width of an indexer, which compares each query with a cached key
        of every position (0 heads: none), and how many positions the attention then reads.
    pooled, pool_width
        How many positions one entry of the cache stands for (0: each is its own), and the width of
        what makes it. Beside these entries, the last `window` positions are cached one by one; keys
        are values; and `top` counts entries.
    state_heads, state_groups, state_keys, state_values, conv, controls, state_width
        A recurrence: heads, heads of its keys and queries, their width, the width of values, the
        kernel of the convolution before it, numbers per head that control its decay, and the bytes
        of a number of its state.
    F, gated
        Width of the MLP that every token takes, dense or a shared expert (0: none); and whether
        MLPs have three matrices (gate, up, down) instead of two.
    experts, active, X, expert_D
        Routed experts (0: none), how many of them a token takes, the width of one, and of its input
        (0: the model's).
    more
        Weights of other matrices that every token meets.
    gains, expert_biases
        Weights outside of matrices: gains of norms, biases, sinks and convolutions of a layer; and
        whether the matrices of routed experts have biases.
    stored
        By kind of operation, pairs of a stored type and the share of the weights it has; kinds that
        are missing have the model's type.
    """

    count: int
    N: int = 0
    K: int = 0
    H: int = 0
    V: int = 0
    F: int = 0
    gated: bool = True
    experts: int = 0
    active: int = 0
    X: int = 0
    expert_D: int = 0
    window: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    rope: int = 0
    gates: int = 0
    keys: int = 2
    out_rank: int = 0
    out_groups: int = 0
    index_N: int = 0
    index_H: int = 0
    top: int = 0
    pooled: int = 0
    pool_width: int = 0
    state_heads: int = 0
    state_groups: int = 0
    state_keys: int = 0
    state_values: int = 0
    conv: int = 0
    controls: int = 0
    state_width: int = 4
    more: int = 0
    gains: int = 0
    expert_biases: bool = False
    stored: Mapping[str, tuple[tuple[Format, float], ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type == "bool":
                instance(each.name, value, bool, "True or False")
            elif each.type == "int":
                needed = {
                    "count",
                    *(("K", "H") if self.N else ()),
                    *(("X",) if self.experts else ()),
                }
                size(each.name, value, zero=each.name not in needed, whole=True, single=True)
        if self.N and self.N % self.K:
            raise ValueError(f"N must be a multiple of K; got N={self.N}, K={self.K}")
        if self.experts and not 0 < self.active <= self.experts:
            given = f"active={self.active}, experts={self.experts}"
            raise ValueError(f"active must be at most experts; got {given}")
        if self.rope >= self.H > 0:
            raise ValueError(f"rope must be less than H; got rope={self.rope}, H={self.H}")

    @property
    def value(self) -> int:
        """Width of one head's values."""
        return self.V or self.H

    @property
    def channels(self) -> int:
        """Numbers per token that a recurrence takes in: queries, keys and values."""
        return 2 * self.state_groups * self.state_keys + self.state_heads * self.state_values

    @property
    def matrices(self) -> int:
        """Number of weight matrices of an MLP or expert: 3 if gated, else 2."""
        return 3 if self.gated else 2

    def modules(self, D: int, chips: Number = 1) -> Iterator[tuple[str, str, Number]]:
        """Return the matrices of one chip: kind of operation, name in a checkpoint, weights.

        The heads are split over `chips` chips. Matrices of one routed expert stand for all.
        """
        N, K, H, own = self.N // chips, larger(self.K // chips, 1), self.H, "self_attn."
        if self.N:
            if self.q_rank:
                yield "projections", own + "q_a_proj", D * self.q_rank
            queries = own + ("q_b_proj" if self.q_rank else "q_proj")
            yield "projections", queries, (self.q_rank or D) * (N * H + self.gates // chips)
            if self.pooled:
                yield "projections", own + "kv_proj", D * H
                yield "projections", own + "compressor", 2 * D * self.pool_width
            elif self.kv_rank:
                yield "projections", own + "kv_a_proj_with_mqa", D * (self.kv_rank + self.rope)
                yield "projections", own + "kv_b_proj", self.expansion(chips)
            else:
                for name, width in (("k_proj", H), ("v_proj", self.value))[: self.keys]:
                    yield "projections", own + name, D * K * width
            if self.out_rank:
                yield "projections", own + "o_a_proj", N * self.value * self.out_rank
            out = self.out_rank * self.out_groups or self.N * self.value
            yield "projections", own + ("o_b_proj" if self.out_rank else "o_proj"), out // chips * D
        if self.index_N:
            keys = 4 if self.pooled else 1  # of a pool and its neighbor, and their gates
            yield "projections", own + "indexer.wq_b", self.q_rank * self.index_N * self.index_H
            yield "projections", own + "indexer.wk", keys * D * self.index_H
            yield "projections", own + "indexer.weights_proj", D * self.index_N
        if self.state_heads:
            width = self.state_heads * self.state_values
            if self.controls > 1:
                yield "projections", "linear_attn.in_proj_qkv", D * self.channels // chips
                yield "projections", "linear_attn.in_proj_z", D * width // chips
                yield (
                    "projections",
                    "linear_attn.in_proj_ba",
                    D * self.controls * self.state_heads // chips,
                )
            else:
                made = self.channels + width + self.state_heads
                yield "projections", "linear_attn.in_proj", D * made // chips
            yield "projections", "linear_attn.out_proj", width // chips * D
        if self.more:
            yield "projections", "more", self.more
        if self.experts:
            yield "router", "mlp.gate", D * self.experts
            for name in ("gate_proj", "up_proj", "down_proj")[-self.matrices :]:
                yield "experts", f"mlp.experts.*.{name}", (self.expert_D or D) * self.X
        if self.F:
            for name in ("gate_proj", "up_proj", "down_proj")[-self.matrices :]:
                path = f"mlp.shared_experts.{name}" if self.experts else f"mlp.{name}"
                yield "MLP", path, D * (self.F // chips)

    def weights(self, row: str, D: int, chips: Number = 1) -> Number:
        """Return the weights of one kind of operation, in matrices of one chip."""
        return sum(size for kind, _, size in self.modules(D, chips) if kind == row)

    def expansion(self, chips: Number = 1) -> Number:
        """Return how many weights of one chip turn latents into keys and values."""
        return self.kv_rank * (self.N // chips) * (self.H - self.rope + self.value)

    def cached(self, chips: Number = 1) -> Number:
        """Return how many elements one chip reads per cached position that a query sees.

        They are keys and values, or a latent vector, or both in one.
        """
        if self.pooled:
            return self.H
        if self.kv_rank:
            return self.kv_rank + self.rope
        return larger(self.K // chips, 1) * (self.H + self.value) if self.N else 0

    def kept(self, chips: Number = 1) -> Number:
        """Return how many elements one chip adds to its cache per position.

        They are those that it reads, except where these are an earlier layer's, and an indexer's
        keys. Of pooled positions there is one for all.
        """
        if self.pooled:
            return (self.H + self.index_H) / self.pooled
        return (self.cached(chips) if self.keys else 0) + self.index_H

    def held(self, S: Number, chips: Number = 1) -> Number:
        """Return how many elements one chip caches of a sequence of S positions."""
        if self.pooled:
            entries = S // self.pooled
            return smaller(S, self.window) * self.H + entries * (self.H + self.index_H)
        return (smaller(S, self.window) if self.window else S) * self.kept(chips)

    def state(self, chips: Number = 1) -> tuple[Number, Number]:
        """Return the elements of a sequence that don't grow with its length, on one chip.

        These are the state of a recurrence, and the last inputs of its convolution.
        """
        recurrent = self.state_heads * self.state_keys * self.state_values
        return recurrent // chips, self.channels * larger(self.conv - 1, 0) // chips

    @property
    def state_flops(self) -> int:
        """FLOPs per token and element of a recurrent state.

        A state decays (1), takes in a product of a key and a value (2), and is multiplied with a
        query (2). A gated delta network first multiplies it with the key (2), too. Sources: Dao &
        Gu, "Transformers are SSMs", 2024; Yang et al., "Gated Delta Networks", 2024. Chunked
        kernels compute more, to multiply matrices.
        """
        return 7 if self.controls > 1 else 5

    def pair_flops(self, absorbed: bool) -> int:
        """Return the FLOPs of one head for one query and one position it sees.

        If absorbed, latent attention compares with the latent vectors themselves.
        """
        if self.kv_rank and absorbed:
            return 2 * (2 * self.kv_rank + self.rope)
        return 2 * (self.H + self.value)

    def expert(self, D: int) -> int:
        """Return how many weights one routed expert has."""
        biases = (self.matrices - 1) * self.X + D if self.expert_biases else 0
        return self.matrices * (self.expert_D or D) * self.X + biases

    def parameters(self, D: int, active: bool = False) -> int:
        """Return how many weights one layer has, or how many of them one token uses."""
        routed = (self.active if active else self.experts) * self.expert(D)
        each = sum(self.weights(row, D) for row in ("projections", "router", "MLP"))
        return int(each) + routed + self.gains

    def activations(self, D: int) -> int:
        """Return how many elements a training step keeps per token; see `Model.train`."""
        latents = self.q_rank + self.kv_rank + self.rope + self.channels
        widths = self.matrices * (self.F + self.active * self.X) + self.experts
        return 4 * D + (self.N + self.K) * (self.H + self.value) + latents + widths

    def visible(self, S: Number) -> Number:
        """Return how many of S positions a query at the last position sees."""
        return self.pairs(S, S - 1)

    def pairs(self, S: Number, start: Number = 0) -> Number:
        """Return the exact number of pairs (query, position it sees) in a prompt of S.

        The first `start` positions are cached and have no query.
        """
        return self.positions_read(S, 1, start)

    def positions_read(self, S: Number, chunk: Number, start: Number = 0) -> Number:
        """Return how many cached positions all chunks of a prompt of S read in total.

        A chunk reads what its first query sees before it, and its own positions. Sparse attention
        reads no less than if its queries saw the last positions.
        """
        if not self.pooled:
            return positions_read(S, chunk, start, self.window or self.top)
        near = positions_read(S, chunk, start, self.window) if self.window else 0
        return near + positions_read(S, chunk, start, self.top * self.pooled) / self.pooled

    def touched(self, tokens: Number, routing: str) -> Number:
        """Return to how many distinct experts of a layer `tokens` tokens are routed.

        "expected": under uniform routing, E · (1 - (1 - k/E)^tokens). "fewest": all tokens take
        the same k experts. "most": experts repeat only once all E are taken.
        """
        most = smaller(self.experts, self.active * tokens)
        if routing != "expected":
            return self.active if routing == "fewest" else most
        mean = self.experts * (1 - (1 - self.active / self.experts) ** tokens)
        return smaller(larger(mean, self.active), most)

    def chips_reached(self, chips: Number) -> Number:
        """Return the average number of other chips that a token is sent to.

        Each chip has E/chips experts. A token takes `active` distinct experts at random and goes to
        each chip at most once.
        """
        away = self.experts - self.experts / chips
        missed = math.prod((away - i) / (self.experts - i) for i in range(self.active))
        return (chips - 1) * (1 - missed)
