"""A model on chips: whether it fits, how fast it is, how many chips it takes, what would help."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rooflib import catalog
from rooflib.checks import size
from rooflib.dtypes import Type, dtype
from rooflib.hardware import Chip, Link, roof_of
from rooflib.llm.catalog import model as model_of
from rooflib.llm.decoders import Model
from rooflib.llm.layers import GGUF
from rooflib.quantities import Quantity, text
from rooflib.table import Table, from_rows, markdown
from rooflib.work import Times, Work, added

MAX_POSITIONS = 2**30  # len() fails for longer ranges in a web page's 32-bit Python
RESERVE = 0.1
"""Share of memory that vLLM 0.11.2 leaves free by default: its `gpu_memory_utilization` is 0.9."""
CACHES = ("attention", "state")  # parts of a step that hold what grows with the sequences


@dataclass(frozen=True)
class Serving:
    """A model that serves sequences: what fits, how fast, and what would help.

    >>> served = Serving("Llama 3 8B", "H100 SXM", B=16, S=8192)
    >>> served.sequences, served.per_token.roof, served.changes[0][0]
    (56, 'HBM', 'twice the chips')

    All times are those of `Times`. Errors are those of `Model.decode` and `Work.on`.

    Attributes
    ----------
    model, chip
        A `Model` and a `Chip`, or their names in the catalog.
    B, S
        Sequences on all chips together, and positions of each; S is also the length of a prompt.
    chips, replicas, expert_parallel, experts, w, kv, x, compute
        As for `Step`, as single numbers. On a chip without the data type of the checkpoint's
        activations, these are in that of its plain weights.
    stages
        Groups of `chips` chips that hold an equal part of the layers each, one after another:
        pipeline parallelism. The B sequences pass them in as many groups.
    link, chunk, cached
        The link that carries what is sent, by default the first of the chip's links; and as for
        `Model.prefill`.
    reserve
        Share of the memory that is kept free for activations and the runtime.
    price
        Price of one chip for an hour, in any currency: the table then has that of a million tokens,
        prompts not included.
    """

    model: Any
    chip: Any
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
    stages: int = 1
    cached: int = 0
    reserve: float = RESERVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", model_of(self.model))
        object.__setattr__(self, "chip", catalog.chip(self.chip))
        for name in ("B", "S", "chips", "replicas", "stages"):
            count = size(name, getattr(self, name), single=True, whole=True)
            object.__setattr__(self, name, count)
        size("cached", self.cached, zero=True, single=True, whole=True)
        if self.chunk is not None:
            size("chunk", self.chunk, single=True, whole=True)
        if self.price is not None:
            size("price", self.price, single=True)
        size("reserve", self.reserve, zero=True, single=True, largest=1)
        if self.stages > 1 and self.B % (self.stages * self.replicas):
            given = f"B={self.B}, stages={self.stages}, replicas={self.replicas}"
            raise ValueError(f"stages times replicas must divide B; got {given}")
        if self.stages > self.model.layers:
            most = f"{self.model.layers}, the layers of {self.model.name}"
            raise ValueError(f"stages must be at most {most}; got {self.stages}")
        self.per_token, self.first_token  # noqa: B018  # Compute now: bad arguments must raise.

    @cached_property
    def per_token(self) -> Times:
        """Bounds of a decode step for all sequences: the time from one token to the next."""
        return self._on(self._decode(self.B, self.S))

    @cached_property
    def first_token(self) -> Times:
        """Bounds of the prefill of a prompt on each replica: the time to its first token.

        The prompt has S tokens and doesn't wait for others.
        """
        # The first chunk passes all stages, one after the other; the others follow it closely.
        chunks = -(-(self.S - self.cached) // (self.chunk or self.S))
        return self._on(self._prefill((chunks + self.stages - 1) / chunks))

    @property
    def room(self) -> Quantity:
        """Bytes of one chip's memory that weights and cache may take."""
        return Quantity(self.chip.memory * (1 - self.reserve), "B")

    @property
    def fits(self) -> bool:
        """Whether weights and cache of all sequences fit, with the reserve kept free."""
        return bool(self.per_token.work.held <= self.room)

    @property
    def tokens_per_second(self) -> float:
        """Tokens/s of all sequences and chips, at the lower bound; 0 if they don't fit."""
        return self.B / float(self.per_token.lower) if self.fits else 0.0

    @cached_property
    def sequences(self) -> int:
        """How many sequences of S positions fit into HBM, on all chips."""
        groups = self.replicas * self.stages
        one, two = (self._decode(n * groups, self.S).held for n in (1, 2))
        return max(0, int((self.room - one) / (two - one) + 1)) * groups

    @cached_property
    def positions(self) -> int:
        """How many positions each of B sequences may have so that all fit, up to 2³⁰."""
        counts = range(1, MAX_POSITIONS + 1)
        return bisect_right(
            counts, float(self.room), key=lambda S: float(self._decode(self.B, S).held)
        )

    def fewest(self, seconds: float | None = None) -> Serving:
        """Return the same on the fewest chips on which it fits, or is as fast as `seconds` a token.

        >>> Serving("Llama 3 70B", "H100 SXM", B=16).fewest().chips
        4

        Raises a ValueError if no number of chips is enough.
        """
        if seconds is not None:
            size("seconds", seconds, single=True)
        for chips in self.model.splits(self.expert_parallel):
            with suppress(ValueError):
                found = replace(self, chips=chips)
                if found.fits and (seconds is None or found.per_token.lower <= seconds):
                    return found
        wanted = "" if seconds is None else f" and a token takes at most {text(seconds, 's')}"
        raise ValueError(
            f"chips must be so many that {self.model.name} fits{wanted};"
            f" no number of {self.chip.name} is"
        )

    def guessed(self, guesses: int, rate: float, draft: Model | str | None = None) -> Times:
        """Return the bounds of one token if a step checks guesses, each right at a `rate`.

        A model `draft` on the same chips, or on as many of them as can split it, makes the guesses
        of each sequence; without one, layers that predict further tokens do, for nothing. A step
        yields 1 + rate + … + rate^guesses tokens on average: the guesses before the first wrong
        one, and one that it makes itself. Both models and their caches are held.
        Source: Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", 2023.
        """
        count = int(size("guesses", guesses, single=True, whole=True))
        size("rate", rate, zero=True, single=True, largest=1)
        accepted = sum(rate**i for i in range(count + 1))
        token = _repeated(self._decode(self.B, self.S + count, T=count + 1), 1 / accepted)
        if draft is not None:
            guess = model_of(draft)
            chips = max(each for each in guess.splits() if not self.chips % each)
            on = (self.chip, self.B, self.S, chips, self.replicas, self.link)
            alike = Serving(guess, *on, compute=self.compute)
            token += _repeated(alike.per_token.work, count / accepted)
        return self._on(token.named("a token"))

    def separate(self, tokens: int, other: Chip | str | None = None) -> Table:
        """Return a table of prefill on chips of its own, with answers of so many `tokens`.

        It says how many groups of chips for prefill (by default of the same chips), each replica of
        which reads one prompt after another, keep one group for decode busy, and how long a
        prompt's cache takes over the link between them.
        """
        ahead = self if other is None else replace(self, chip=other, link=None)
        answers = self.B / (size("tokens", tokens, single=True) * self.per_token.lower)  # a second
        # Prompts follow one another closely through the stages.
        prompts = self.replicas / ahead._on(ahead._prefill(1)).lower

        def cache(**split: Any) -> Any:
            parts = self.model.decode(self.replicas, self.S, **self._layout | split).parts
            return sum(part.held for part in parts if part.name in CACHES)

        rows = {
            "requests/s of decode, at most": text(answers),
            "requests/s of prefill, at most": text(prompts),
            "prefill for one of decode, at least": text(answers / prompts),
            "a prompt's cache": text(cache(chips=1, expert_parallel=False), "B"),
        }
        if self._link is not None:
            # A stage's chips send what they hold of it: a part of the layers.
            moved = Work("cache", held=0, sent=cache() / self.stages, hops=1)
            rows["its way from chip to chip, at least"] = f"{self._on(moved).lower}"
        return from_rows(("prefill and decode apart", ahead.chip.name), rows.items())

    @property
    def table(self) -> Table:
        """Table of memory, times and rates; for what doesn't fit, of the fewest chips instead."""
        first, each = self.first_token, self.per_token
        rows = {
            "fits": "yes" if self.fits else "DOES NOT FIT",
            "HBM needed": f"{each.work.held} of {self.room}",
            "kept free": f"{text(100 * self.reserve)}% of {each.chip.memory}",
            f"sequences of {self.S:,} that fit": f"{self.sequences:,}",
            f"positions of {self.B:,} sequences that fit": f"{self.positions:,}",
        }
        if not self.fits:
            with suppress(ValueError):
                rows["fewest chips on which it fits"] = str(self.fewest()._all_chips)
        else:
            rows |= {
                "time to the first token": f"{first.lower} to {first.upper}",
                "time per token": f"{each.lower} to {each.upper}",
                "tokens/s of a sequence, at most": text(1 / float(each.lower)),
                "tokens/s in all, at most": text(self.tokens_per_second),
                "prefill is bound by": str(first.roof),
                "decode is bound by": str(each.roof),
            }
        if self.price is not None and self.fits:
            million = 1e6 * self.price * self._all_chips / 3600 / self.B
            cost = (f"{million * bound:.3g}" for bound in (each.lower, each.upper))
            rows["cost of a million tokens"] = " to ".join(cost)
        chips = f"on {self._all_chips} × {self.chip.name}"
        return from_rows((self.model.name, chips), rows.items())

    @cached_property
    def changes(self) -> tuple[tuple[str, Serving], ...]:
        """What would help: single changes, most tokens/s at the lower bound first.

        Those that don't fit come last. Narrower weights keep the type of most of the arithmetic.
        The next chip is the maker's with the next higher bandwidth.
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
        rows = []
        for name, each in (("as it is", self), *self.changes):
            rate, t = each.tokens_per_second, each.per_token
            gain = text(rate / self.tokens_per_second) if self.fits else ""
            row = (f"{t.lower}", text(rate), gain, str(t.roof), "yes")
            rows.append((name, *(row if each.fits else ("", "", "", "", "no"))))
        return from_rows((*headings, "times as many", "bound by", "fits"), rows)

    def _possible(self) -> Iterator[tuple[str, dict[str, Any]]]:
        model, here, step = self.model, self.chip, self.per_token.work
        compute = step.types
        most = max(compute, key=lambda kind: step.amounts[kind])
        x: Type = self.x or model.w
        stored = [dtype(self.w, "w", GGUF)] if self.w else [of.w for of in model.formats]
        for kind in ("int8", "int4"):
            if dtype(kind).bits < int(min(each.bits for each in stored)):
                yield f"weights in {kind}", {"w": kind, "x": x, "compute": most}
        if dtype(model.cache_type(self.x, self.kv)).bits > dtype("fp8").bits:
            yield "cache in fp8", {"kv": "fp8"}
        yield "twice the batch", {"B": 2 * self.B}
        yield "twice the chips", {"chips": 2 * self.chips}
        if self._all_chips > 1 and not self.expert_parallel:
            yield "whole experts on each chip", {"expert_parallel": True}
        for chip in sorted(catalog.chips(hidden=True), key=lambda chip: chip["HBM"]):
            faster = chip.maker == here.maker and chip["HBM"] > here["HBM"]
            # A faster memory beside slower arithmetic, as of an H20, is another chip, no next one.
            if faster and all(kind in chip and chip[kind] >= here[kind] for kind in compute):
                yield f"the next chip, {chip.name}", {"chip": chip}
                break

    def _on(self, step: Work) -> Times:
        lacks = [kind for kind in step.types if kind not in self.chip]
        if lacks and self.compute is None:
            has = ", ".join(kind for kind in self.chip.rates if roof_of(kind) == "compute")
            given = f"w and x need {lacks[0]}"
            raise ValueError(f"compute must be one that {self.chip.name} has: {has}; {given}")
        return step.on(self.chip, self._link)

    def _decode(self, B: int, S: int, T: int = 1) -> Work:
        """One chip's share of a step for B sequences, of which each stage has a group at a time."""
        step: Work = self.model.decode(B // self.stages, S, T=T, **self._layout)
        return self._staged(step, self.stages, B * T, groups=self.stages)

    def _prefill(self, times: float) -> Work:
        """One stage's share of a prefill, that many times."""
        B, read = self.replicas, {"chunk": self.chunk, "cached": self.cached}
        prompt: Work = self.model.prefill(B, self.S, **read, **self._layout)
        return self._staged(prompt, times, B * (self.S - self.cached), groups=1)

    def _staged(self, step: Work, times: float, tokens: int, groups: int) -> Work:
        """Return a stage's share of a group's step, that many times, and the way to the next stage.

        A stage holds the weights of its layers, and their caches of all groups.
        """
        if self.stages == 1:
            return step
        share = []
        for part in step.parts:
            held = part.held * (groups if part.name in CACHES else 1) / self.stages
            share.append(replace(part * (times / self.stages), held=held))
        sent = tokens // self.replicas * self.model.D * dtype(self.x or self.model.w).bytes
        return added([*share, Work("stages", held=0, sent=sent, hops=self.stages)], step.name)

    @cached_property
    def _layout(self) -> dict[str, Any]:
        names = ("chips", "replicas", "expert_parallel", "experts", "w", "kv", "x", "compute")
        options = {name: getattr(self, name) for name in names}
        lacks = any(of.x and of.x not in self.chip for of in self.model.formats)
        if self.x is self.compute is self.w is None and lacks:
            options |= {"x": self.model.w, "kv": self.kv or self.model.kv}
        return options

    @property
    def _all_chips(self) -> int:
        return self.chips * self.replicas * self.stages

    @property
    def _link(self) -> str | Link | None:
        usual = self.chip.links[0] if self._all_chips > 1 and self.chip.links else None
        return usual if self.link is None else self.link

    _repr_markdown_ = markdown


def _repeated(step: Work, times: float) -> Work:
    """Return the work of so many steps, which hold as much as one."""
    return added((replace(part * times, held=part.held) for part in step.parts), step.name)


def mfu(step: Work, chip: Chip | str, seconds: float) -> Quantity:
    """Return the model FLOPs utilization of a step that takes `seconds`: a share of the peak.

    It is the time that the model's arithmetic would take at the chip's peak, over `seconds`; what
    is computed again to save memory doesn't count. Source: Chowdhery et al., "PaLM", 2022.
    """
    chip = catalog.chip(chip)
    parts = [part for part in step.parts or (step,) if part.name != "recomputation"]
    busy = sum(
        part.amounts.get(kind, 0) / float(chip[kind]) for part in parts for kind in step.types
    )
    return Quantity(busy / size("seconds", seconds, single=True), "%")
