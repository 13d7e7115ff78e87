"""Layers of a language model: weights, cache, and the positions a query sees."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, fields

from rooflib.checks import Number, instance, larger, size
from rooflib.operations import check_heads


def smaller(one: Number, other: Number) -> Number:
    return -larger(-one, -other)


@dataclass(frozen=True)
class Layer:
    """A kind of layer of a decoder, and how many layers are of this kind.

    Raises a ValueError for a size that can't be.

    Attributes
    ----------
    count
        Number of layers of this kind.
    N, K, H, V
        Query heads, key/value heads, and the widths of a key and of a value (0: as wide as a key).
    F, gated
        Width of the MLP that every token takes, dense or a shared expert (0: none); and whether
        MLPs have three matrices (gate, up, down) instead of two.
    experts, active, X
        Routed experts (0: none), how many of them a token takes, and the width of one.
    window
        Positions that a query sees at most, its own included (0: all).
    q_rank, kv_rank, rope
        Latent attention: ranks of queries (0: not compressed) and of keys and values (0: ordinary
        attention), and the rotary part of H, whose key all heads share.
    gains, expert_biases
        Weights outside of matrices: gains of norms, biases and sinks of a layer; and whether the
        matrices of routed experts have biases.
    """

    count: int
    N: int
    K: int
    H: int
    V: int = 0
    F: int = 0
    gated: bool = True
    experts: int = 0
    active: int = 0
    X: int = 0
    window: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    rope: int = 0
    gains: int = 0
    expert_biases: bool = False

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type == "bool":
                instance(each.name, value, bool, "True or False")
            elif each.default == MISSING or size(each.name, value, zero=True):
                size(each.name, value, whole=True)
        check_heads(self.N, self.K)
        if self.experts:
            size("X", self.X, whole=True)
            if size("active", self.active, whole=True) > self.experts:
                given = f"active={self.active}, experts={self.experts}"
                raise ValueError(f"active must be at most experts; got {given}")
        if self.rope >= self.H:
            raise ValueError(f"rope must be less than H; got rope={self.rope}, H={self.H}")

    @property
    def value(self) -> int:
        """Width of one head's values."""
        return self.V or self.H

    def projections(self, D: int, chips: Number = 1) -> Number:
        """Return how many weights the attention's matrices have on one chip.

        The heads are split over `chips` chips.
        """
        N = self.N // chips
        if not self.kv_rank:
            return D * (self.H + self.value) * (N + larger(self.K // chips, 1))
        queries = self.q_rank * (D + N * self.H) if self.q_rank else D * N * self.H
        shared = D * (self.kv_rank + self.rope)
        return queries + shared + self.expansion(chips) + N * self.value * D

    def expansion(self, chips: Number = 1) -> Number:
        """Return how many weights of one chip turn latents into keys and values."""
        return self.kv_rank * (self.N // chips) * (self.H - self.rope + self.value)

    def cached(self, chips: Number = 1) -> Number:
        """Return how many elements one chip caches per position.

        They are keys and values, or a latent vector.
        """
        if self.kv_rank:
            return self.kv_rank + self.rope
        return larger(self.K // chips, 1) * (self.H + self.value)

    def pair_flops(self, absorbed: bool) -> int:
        """Return the FLOPs of one head for one query and one position it sees.

        If absorbed, latent attention compares with the latent vectors themselves.
        """
        if self.kv_rank and absorbed:
            return 2 * (2 * self.kv_rank + self.rope)
        return 2 * (self.H + self.value)

    @property
    def matrices(self) -> int:
        """Number of weight matrices of an MLP or expert: 3 if gated, else 2."""
        return 3 if self.gated else 2

    def expert(self, D: int) -> int:
        """Return how many weights one routed expert has."""
        biases = (self.matrices - 1) * self.X + D if self.expert_biases else 0
        return self.matrices * D * self.X + biases

    def parameters(self, D: int, active: bool = False) -> int:
        """Return how many weights one layer has, or how many of them one token uses."""
        routed = (self.active if active else self.experts) * self.expert(D)
        shared = self.matrices * D * self.F + D * self.experts + self.gains
        return int(self.projections(D)) + shared + routed

    def activations(self, D: int) -> int:
        """Return how many elements a training step keeps per token; see `Model.train`."""
        latents = self.q_rank + self.kv_rank + self.rope
        widths = self.matrices * (self.F + self.active * self.X) + self.experts
        return 4 * D + (self.N + self.K) * (self.H + self.value) + latents + widths

    def visible(self, S: Number) -> Number:
        """Return how many of S positions a query at the last position sees."""
        return smaller(S, self.window) if self.window else S

    def pairs(self, S: Number) -> Number:
        """Return the exact number of pairs (query, position it sees) in a prompt of S."""
        return self.positions_read(S, chunk=1)

    def positions_read(self, S: Number, chunk: Number) -> Number:
        """Return how many cached positions all chunks of a prompt of S read in total.

        A chunk reads what its first query sees before it, and its own positions.
        """
        full, rest, window = S // chunk, S % chunk, self.window or S
        reach = chunk + window - 1
        growing = smaller(full, reach // chunk)
        last = smaller(S, rest + window - 1) * (rest > 0)
        return chunk * (growing * (growing + 1) // 2) + (full - growing) * reach + last

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
