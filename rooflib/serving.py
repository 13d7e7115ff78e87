"""A model on chips: whether it fits, how fast it is, and what would help."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rooflib._arguments import rate, scalar, whole
from rooflib.bounds import Bounds, bound, breakdown
from rooflib.catalog import as_chip, as_model
from rooflib.catalog import chips as cataloged
from rooflib.dtypes import Type, dtype
from rooflib.hardware import Chip, Link
from rooflib.models import Model
from rooflib.operations import Operation
from rooflib.table import Table, from_rows
from rooflib.units import text

MAX_POSITIONS = 2**30  # len() fails for longer ranges in a web page's 32-bit Python


@dataclass(frozen=True)
class Serving:
    """A model that serves sequences: what fits, how fast, and what would help.

    >>> served = Serving("Llama 3 8B", "H100 SXM", B=16, S=8192)
    >>> served.sequences, served.per_token.binding, served.changes[0][0]
    (64, 'HBM', 'twice the chips')

    All times are those of `Bounds`. Errors are those of `Model.decode` and `bound`.

    Attributes
    ----------
    model, chip
        A `Model` and a `Chip`, or their names in the catalog.
    B, S
        Sequences on all chips together, and positions of each; S is also the length of a prompt.
    chips, replicas, expert_parallel, experts, w, kv, x, compute
        As for `Model.decode`, with single whole numbers.
    link
        The link that carries what is sent; by default the first of the chip's links.
    chunk
        Tokens of a prompt that are read together, as for `Model.prefill`.
    price
        Price of one chip for an hour, in any currency; for the cost of a million tokens.
    """

    model: Model | str
    chip: Chip | str
    B: int = 1
    S: int = 8192
    chips: int = 1
    replicas: int = 1
    link: str | Link | None = None
    chunk: int | None = None
    expert_parallel: bool = False
    experts: str = "expected"
    w: Type | None = None
    kv: Type | None = None
    x: Type | None = None
    compute: Type | None = None
    price: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", as_model(self.model))
        object.__setattr__(self, "chip", as_chip(self.chip))
        for name in ("B", "S", "chips", "replicas"):
            object.__setattr__(self, name, whole(name, scalar(name, getattr(self, name))))
        if self.price is not None:
            rate("price", self.price)
        self.per_token, self.first_token  # noqa: B018  # Compute now: bad arguments must raise.

    @cached_property
    def decode(self) -> Operation:
        """One chip's share of a decode step for all sequences."""
        return self._decode(self.B, self.S)

    @cached_property
    def prefill(self) -> Operation:
        """One chip's share of a prefill of one prompt of S tokens on each replica."""
        model, B = as_model(self.model), self.replicas
        return model.prefill(B, self.S, chunk=self.chunk, **self._layout)

    @cached_property
    def per_token(self) -> Bounds:
        """Bounds of a decode step: the time from one token of a sequence to the next."""
        return bound(self.decode, self.chip, self._link)

    @cached_property
    def first_token(self) -> Bounds:
        """Bounds of the prefill: the time to the first token, if a prompt doesn't wait."""
        return bound(self.prefill, self.chip, self._link)

    @property
    def tokens_per_second(self) -> float:
        """Tokens/s of all sequences and chips, at the lower bound."""
        return self.B / self.per_token.lower

    @cached_property
    def sequences(self) -> int:
        """How many sequences of S positions fit into HBM, on all chips."""
        one, two = (self._decode(n * self.replicas, self.S).held for n in (1, 2))
        room = as_chip(self.chip).capacity - one
        return max(0, int(room / (two - one) + 1)) * self.replicas

    @cached_property
    def positions(self) -> int:
        """How many positions each of B sequences may have so that all fit, up to 2³⁰."""
        counts = range(1, MAX_POSITIONS + 1)
        room = as_chip(self.chip).capacity
        return bisect_right(counts, room, key=lambda S: self._decode(self.B, S).held)

    def cost(self, upper: bool = False) -> float:
        """Return the price of a million generated tokens at the lower or the upper bound.

        Prompts are not included. Raises a ValueError without a `price`.
        """
        if self.price is None:
            raise ValueError("price must be given for a cost: the price of one chip for an hour")
        step = self.per_token.upper if upper else self.per_token.lower
        return 1e6 * self.price * self.chips * self.replicas * step / 3600 / self.B

    @property
    def table(self) -> Table:
        """Table of memory, times and rates, and the cost if a price is given."""
        first, each = self.first_token, self.per_token
        rows = {
            "HBM needed": f"{text(each.held, 'B')} of {text(each.capacity, 'B')}",
            "fits": "yes" if each.fits else "no",
            f"sequences of {self.S:,} that fit": f"{self.sequences:,}",
            f"positions of {self.B:,} sequences that fit": f"{self.positions:,}",
            "time to the first token": f"{text(first.lower, 's')} to {text(first.upper, 's')}",
            "time per token": f"{text(each.lower, 's')} to {text(each.upper, 's')}",
            "tokens/s of a sequence, at most": text(1 / each.lower),
            "tokens/s in all, at most": text(self.tokens_per_second),
            "prefill is bound by": str(first.binding),
            "decode is bound by": str(each.binding),
        }
        if self.price is not None:
            rows["cost of a million tokens"] = f"{self.cost():.3g} to {self.cost(upper=True):.3g}"
        chips = f"on {self.chips * self.replicas} × {as_chip(self.chip).name}"
        return from_rows((as_model(self.model).name, chips), rows.items())

    @property
    def decode_table(self) -> Table:
        """Table of a decode step by kind of operation, as `breakdown` makes it."""
        return breakdown(self.decode, self.chip, self._link)

    @property
    def prefill_table(self) -> Table:
        """Table of a prefill by kind of operation, as `breakdown` makes it."""
        return breakdown(self.prefill, self.chip, self._link)

    @cached_property
    def changes(self) -> tuple[tuple[str, Serving], ...]:
        """What would help: single changes, most tokens/s at the lower bound first.

        Narrower weights and cache keep the type of the arithmetic. The next chip is the maker's
        with the next higher bandwidth. Changes that chip, links or layout don't allow are left out.
        """
        found = []
        for name, change in self._possible():
            with suppress(ValueError):
                found.append((name, replace(self, **change)))
        return tuple(sorted(found, key=lambda each: -each[1].tokens_per_second))

    @property
    def changes_table(self) -> Table:
        """Table of the bounds now and after each of the `changes`."""
        headings = ("what would help", "time per token, at least", "tokens/s in all, at most")
        rows = [
            (
                name,
                text(each.per_token.lower, "s"),
                text(each.tokens_per_second),
                text(each.tokens_per_second / self.tokens_per_second),
                str(each.per_token.binding),
                "yes" if each.per_token.fits else "no",
            )
            for name, each in (("as it is", self), *self.changes)
        ]
        return from_rows((*headings, "times as many", "bound by", "fits"), rows)

    def _possible(self) -> Iterator[tuple[str, dict[str, Any]]]:
        model, here, compute = as_model(self.model), as_chip(self.chip), self.decode.compute
        x: Type = model.w if self.x is None else self.x
        stored = [model.w, *model.quantized.values()] if self.w is None else [self.w]
        for kind in ("int8", "int4"):
            if dtype(kind).bits < min(dtype(each).bits for each in stored):
                yield f"weights in {kind}", {"w": kind, "x": x, "compute": compute}
        if dtype(x if self.kv is None else self.kv).bits > dtype("fp8").bits:
            yield "cache in fp8", {"kv": "fp8", "compute": compute}
        yield "twice the batch", {"B": 2 * self.B}
        yield "twice the chips", {"chips": 2 * self.chips}
        if self.chips * self.replicas > 1 and not self.expert_parallel:
            yield "whole experts on each chip", {"expert_parallel": True}
        for chip in sorted(cataloged(more=True), key=lambda chip: chip.bandwidth):
            alike = chip.maker == here.maker and compute.name in chip.peaks
            # A faster memory beside slower arithmetic, as of an H20, is another chip, no next one.
            faster = chip.bandwidth > here.bandwidth
            if alike and faster and chip.peaks[compute.name] >= here.peaks.get(compute.name, 0):
                yield f"the next chip, {chip.name}", {"chip": chip}
                break

    def _decode(self, B: int, S: int) -> Operation:
        return as_model(self.model).decode(B, S, **self._layout)

    @property
    def _layout(self) -> dict[str, Any]:
        names = ("chips", "replicas", "expert_parallel", "experts", "w", "kv", "x", "compute")
        return {name: getattr(self, name) for name in names}

    @property
    def _link(self) -> str | Link | None:
        links = as_chip(self.chip).links
        alone = self.chips * self.replicas == 1
        return self.link if self.link is not None or alone or not links else links[0]

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()
