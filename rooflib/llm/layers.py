"""Layers of a language model: lists of weight matrices, and what mixes positions.

Weights, their bytes, and the FLOPs of a step are sums over a layer's `matrices`. Cache, state and
the positions that a query sees are formulas of its shape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rooflib.checks import Number, larger
from rooflib.dtypes import DType

# Types of weights in GGUF files, with the scales of their blocks: llama.cpp, ggml-common.h.
GGUF = {
    name: DType("int4" if bits < 6 else "int8", bits)
    for name, bits in {
        "q2_k": 2.625, "q3_k": 3.4375, "q4_0": 4.5, "q4_1": 5, "q4_k": 4.5, "q5_0": 5.5, "q5_1": 6,
        "q5_k": 5.5, "q6_k": 6.5625, "q8_0": 8.5, "iq1_s": 1.5625, "iq1_m": 1.75, "iq2_xxs": 2.0625,
        "iq2_xs": 2.3125, "iq2_s": 2.5625, "iq3_xxs": 3.0625, "iq3_s": 3.4375, "iq4_nl": 4.5,
        "iq4_xs": 4.25, "tq1_0": 1.6875, "tq2_0": 2.0625, "mxfp4": 4.25,
    }.items()
}  # fmt: skip

EXPANDS = "self_attn.kv_b_proj"
"""Name of the matrix that turns latents into keys and values."""


class Format(NamedTuple):
    """A stored type, and that of the activations it is multiplied with; None: the usual one."""

    w: DType
    x: str | None = None


class Matrix(NamedTuple):
    """A weight matrix, or several of the same kind: D · F weights for [D, F].

    A matrix of routed experts stands for that of one of them. More chips than `parts` hold each
    part several times: of 1 part, each chip has the whole.
    """

    row: str  # the kind of operation that it is for, as in `Work.parts`
    name: str  # as in a checkpoint
    weights: int  # how many it has
    parts: int = 1  # into how many chips can split it
    of: Format | None = None  # how it is stored; None if as the model says

    def on(self, chips: Number) -> Number:
        """Return how many of the weights each of `chips` chips holds."""
        return self.weights if self.parts == 1 else self.weights // smaller(chips, self.parts)


def smaller(one: Number, other: Number) -> Number:
    """Return the smaller of two numbers, elementwise for arrays; Python ints stay exact."""
    either = isinstance(one, np.ndarray) or isinstance(other, np.ndarray)
    return np.minimum(one, other) if either else min(one, other)


def positions_read(S: Number, chunk: Number, start: Number = 0, window: int = 0) -> Number:
    """Return how many positions all chunks of a prompt of S read, after the first `start`.

    A query sees at most `window` positions (0: all).
    """
    full, rest = (S - start) // chunk, (S - start) % chunk
    reach = chunk + (window or S) - 1  # what a chunk reads once there are as many positions
    growing = smaller(full, larger((reach - start) // chunk, 0))
    last = smaller(S, rest + (window or S) - 1) * (rest > 0)
    sooner = growing * start + chunk * (growing * (growing + 1) // 2)
    return sooner + (full - growing) * reach + last


def _multiples(n: Number, m: Number, step: Number, start: Number) -> Number:
    """Return the sum of (start + i · step) // m for i < n, in as few turns as Euclid's."""
    total: Number = 0
    while np.any(n > 0):
        total = total + n * (n - 1) // 2 * (step // m) + n * (start // m)
        step, start = step % m, start % m
        (n, start), m, step = divmod(n * step + start, m), larger(step, 1), m
    return total


@dataclass(frozen=True)
class Layer:
    """A kind of layer of a decoder, and how many layers are of this kind.

    A layer mixes positions by attention, by a recurrence, or not at all; then an MLP or experts
    follow, or both, or nothing. What a layer doesn't have is 0.

    Beside a pooled cache, the last `window` positions are cached one by one; keys are values; and
    `top` counts entries.
    """

    count: int  #: number of layers of this kind
    matrices: tuple[Matrix, ...] = ()  #: all weight matrices of one layer
    gains: int = 0  #: weights of norms, biases, sinks and convolutions, which are no matrices
    expert_biases: int = 0  #: the same of one routed expert
    N: int = 0  #: query heads
    K: int = 0  #: key/value heads
    H: int = 0  #: width of a key
    V: int = 0  #: width of a value
    reuses: bool = False  #: whether attention reads keys and values of an earlier layer
    window: int = 0  #: how many positions a query sees at most, its own included; all if 0
    aligned: bool = False  #: whether these begin at a multiple of `window`
    q_rank: int = 0  #: rank of queries in latent attention
    kv_rank: int = 0  #: rank of keys and values
    rope: int = 0  #: rotary part of H, whose key all heads share
    index_N: int = 0  #: heads of an indexer, which compares a query with a key of every position
    index_H: int = 0  #: width of such a key
    top: int = 0  #: how many positions sparse attention then reads
    pooled: int = 0  #: how many positions one entry of the cache stands for; each is its own if 0
    state_heads: int = 0  #: heads of values of a recurrence
    state_groups: int = 0  #: heads of its keys and queries
    state_H: int = 0  #: width of a key
    state_V: int = 0  #: width of a value; a head's state spans both widths
    state_width: int = 0  #: bytes of an element of the state
    state_flops: int = 0  #: FLOPs per token and element of the state
    conv: int = 0  #: kernel of the convolution before it
    F: int = 0  #: width of the MLP that every token takes, dense or a shared expert
    experts: int = 0  #: routed experts
    active: int = 0  #: how many of them a token takes
    X: int = 0  #: width of one

    def of(self, row: str) -> list[Matrix]:
        """Return the matrices for a kind of operation."""
        return [matrix for matrix in self.matrices if matrix.row == row]

    def weights(self, row: str, chips: Number = 1) -> Number:
        """Return how many weights each of `chips` chips has in matrices for a kind of operation."""
        return sum(matrix.on(chips) for matrix in self.of(row))

    @property
    def expert(self) -> int:
        """How many weights one routed expert has."""
        return int(self.weights("experts")) + self.expert_biases

    @property
    def parameters(self) -> int:
        """How many weights one layer has."""
        used = sum(matrix.weights for matrix in self.matrices if matrix.row != "experts")
        return used + self.experts * self.expert + self.gains

    @property
    def expanding(self) -> list[Matrix]:
        """The matrices that turn latents into keys and values."""
        return [matrix for matrix in self.matrices if matrix.name == EXPANDS]

    def cached(self, chips: Number = 1) -> Number:
        """Return how many elements one chip reads per cached position that a query sees."""
        if self.kv_rank:
            return self.kv_rank + self.rope
        return larger(self.K // chips, 1) * (self.H + self.V) if self.N else 0

    def kept(self, chips: Number = 1) -> Number:
        """Return how many elements one chip adds to its cache per position."""
        own = 0 if self.reuses else self.cached(chips)
        return own + ((own + self.index_H) / self.pooled if self.pooled else self.index_H)

    def held(self, S: Number, chips: Number = 1) -> Number:
        """Return how many elements one chip caches of a sequence of S positions."""
        near = smaller(S, self.window) if self.window else S
        if self.pooled:
            return near * self.H + S // self.pooled * (self.H + self.index_H)
        return near * self.kept(chips)

    def state(self, chips: Number = 1) -> tuple[Number, Number]:
        """Return a sequence's elements of recurrent state, and of inputs of its convolution."""
        recurrent = self.state_heads * self.state_H * self.state_V // chips
        return recurrent, self.taken(chips) * larger(self.conv - 1, 0)

    def state_bytes(self, width: float, chips: Number = 1) -> Number:
        """Return the bytes of a sequence's state, if inputs have `width` bytes."""
        recurrent, inputs = self.state(chips)
        return self.state_width * recurrent + width * inputs

    def recurrence_flops(self, chips: Number = 1) -> Number:
        """Return the FLOPs per token of a recurrence and of the convolution before it."""
        recurrent, _ = self.state(chips)
        return self.state_flops * recurrent + 2 * self.conv * self.taken(chips)

    def taken(self, chips: Number = 1) -> Number:
        """Return how many numbers per token a recurrence takes in; a single group is on each."""
        values = self.state_heads * self.state_V // chips
        return values + larger(self.state_groups // chips, 1) * 2 * self.state_H

    def pair_flops(self, absorbed: bool) -> int:
        """Return the FLOPs of one head for one query and one position it sees.

        If absorbed, latent attention compares with the latent vectors themselves.
        """
        latent = self.kv_rank and absorbed
        return 2 * (2 * self.kv_rank + self.rope if latent else self.H + self.V)

    def activations(self, D: int) -> int:
        """Return how many elements a training step keeps per token.

        They are the residual stream and its norm before attention and before the MLP (4D); queries,
        keys, values, the heads' results and latent vectors; and the outputs and their product in
        the MLP and in each expert that the token takes.
        """
        latents = self.q_rank + self.kv_rank + self.rope + int(self.taken())
        widths = len(self.of("MLP")) * self.F + len(self.of("experts")) * self.active * self.X
        return 4 * D + (self.N + self.K) * (self.H + self.V) + latents + widths + self.experts

    def positions_read(self, S: Number, chunk: Number, start: Number = 0) -> Number:
        """Return how many cached positions all chunks of a prompt of S read in total.

        A chunk reads what its first query sees before it, and its own positions; with chunks of one
        token, these are the pairs of a query and a position that it sees. Sparse attention
        reads no less than if its queries saw the last positions.
        """
        if self.aligned:  # what is before the multiple at which a chunk's first query begins, isn't
            before = _multiples(-(-(S - start) // chunk), self.window, chunk, start)
            return positions_read(S, chunk, start) - self.window * before
        if not self.pooled:
            return positions_read(S, chunk, start, self.window or self.top)
        near = positions_read(S, chunk, start, self.window) if self.window else 0
        return near + positions_read(S, chunk, start, self.top * self.pooled) / self.pooled

    def touched(self, tokens: Number, routing: str) -> Number:
        """Return to how many distinct experts of a layer `tokens` tokens are routed.

        `routing` is `experts` of `Step`.
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
