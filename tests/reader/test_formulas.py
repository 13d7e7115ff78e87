"""The formulas with which figures compute in a page give what rooflib gives."""

import functools
import itertools
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from repository import ROOT
from series import series

import rooflib as rl
from roofkit.figures.attention_figure import split_weights
from roofkit.figures.engine.expressions import TABLE, used_formulas
from roofkit.figures.model_rows import COUNTS, HOLDERS, REPLICAS, row
from rooflib.catalog import models
from rooflib.models import ROWS
from rooflib.sharding import sharded_matmul

SHORT, FULL = 12, 300  # random points per formula; a third of them for steps of models
TYPES = {2.0: "bf16", 4.0: "fp32", 1.0: "fp8", 0.5: "fp4"}
INTEGERS = {1.0: "int8", 2.0: "bf16"}
SPLITS = ("B", "D", "F")
LINK = "ICI"

Arguments = list[Any]
Oracle = Callable[["Draw"], tuple[Arguments, Any]]


class Draw(random.Random):
    """Generator of random arguments for rooflib's functions."""

    def rate(self) -> float:
        """Return a random rate, in FLOP/s or bytes/s."""
        return float(10 ** self.uniform(9, 16))

    def size(self) -> int:
        return round(10 ** self.uniform(0, 5))

    def chips(self) -> int:
        return self.choice((2, 3, 4, 8, 16))

    def chip(self) -> rl.Chip:
        link = rl.Link(LINK, self.rate(), topology="switch")
        return rl.Chip("chip", {"bf16": self.rate()}, self.rate(), 1e11, links=(link,))

    def matmul(self) -> tuple[list[float], rl.Operation]:
        """Return the sizes and bytes per element of a random matmul, and the operation."""
        sizes, widths = [self.size() for _ in "BDF"], [self.choice(list(TYPES)) for _ in "xwo"]
        x, w, out = (TYPES[width] for width in widths)
        return [*sizes, *widths], rl.matmul(*sizes, x, w=w, out=out, compute="bf16")

    def times(self) -> tuple[list[float], rl.Bounds]:
        """Return three random times, some of them equal or zero, and their bounds."""
        times = [float(10 ** self.uniform(-9, 1)) for _ in range(3)]
        times[2] *= self.random() < 0.8
        if self.random() < 0.3:
            times[self.randrange(3)] = times[self.randrange(2)]
        link = rl.Link(LINK, 1.0, topology="switch")
        chip = rl.Chip("chip", {"bf16": 1.0}, 1.0, 1.0, links=(link,))
        flops, moved, sent = times
        return times, rl.bound(rl.operation(flops, moved, sent={LINK: sent}), chip)

    def sharded(self) -> tuple[dict[str, Any], rl.Operation]:
        """Return the arguments of a random sharded matmul, and the operation."""
        N, split = self.chips(), self.choice(SPLITS)
        sizes = {name: N * self.size() for name in SPLITS}
        op = sharded_matmul(sizes["B"], sizes["D"], sizes["F"], N, split=split)
        return {**sizes, "N": N, "split": split}, op

    def decode(self) -> "Decode":
        return Decode(self)


class Decode:
    """A random decode step, with its weights and bytes."""

    def __init__(self, draw: Draw) -> None:
        self.model = m = draw.choice([model for model in models() if not model.kinds])
        self.w, self.kv = draw.choice(list(INTEGERS)), draw.choice(list(INTEGERS))
        self.B, self.S, self.chips = draw.size(), draw.size(), draw.choice((1, 2, 4, 8))
        kv = INTEGERS[self.kv]
        self.op = m.decode(self.B, self.S, self.chips, w=INTEGERS[self.w], kv=kv, compute="bf16")
        self.split_weights = split_weights(m)
        shared = self.split_weights + 2 * m.D * m.K * m.H
        self.matrices = m.layers * shared / self.chips
        self.last = m.vocabulary * m.D / self.chips
        self.gains = m.parameters - m.layers * shared - 2 * m.vocabulary * m.D
        self.position = m.kv_bytes_per_token(kv) / self.chips
        self.weights = self.op.held - self.position * self.B * self.S - self.w * self.last


def attainable(draw: Draw) -> tuple[Arguments, Any]:
    chip, intensity = draw.chip(), 10 ** draw.uniform(-2, 6)
    return [intensity, chip.peak(), chip.bandwidth], rl.attainable(intensity, chip)


def fraction_at(draw: Draw) -> tuple[Arguments, Any]:
    chip, intensity = draw.chip(), 10 ** draw.uniform(-2, 6)
    bound = rl.bound(rl.operation(flops=intensity * 1e9, bytes=1e9), chip)
    return [intensity, chip.ridge()], bound.fraction_of_peak


def of_times(name: str, draw: Draw) -> tuple[Arguments, Any]:
    """Draw arguments of the formula `lower`, `upper` or `binding`; add rooflib's result."""
    times, bound = draw.times()
    found = getattr(bound, name)
    return times, "the link" if found == LINK else found


def of_lower(name: str, draw: Draw) -> tuple[Arguments, Any]:
    """Draw arguments of the formula `fraction_of_peak` or `idle`, and its result."""
    times, bound = draw.times()
    return [times[0], bound.lower], getattr(bound, name)


def t_math(draw: Draw) -> tuple[Arguments, Any]:
    chip, flops = draw.chip(), draw.rate()
    return [flops, chip.peak()], rl.bound(rl.operation(flops=flops), chip).times["compute"]


def t_comms(draw: Draw) -> tuple[Arguments, Any]:
    chip, moved = draw.chip(), draw.rate()
    return [moved, chip.bandwidth], rl.bound(rl.operation(bytes=moved), chip).times["HBM"]


def matmul_count(name: str, draw: Draw) -> tuple[Arguments, Any]:
    arguments, op = draw.matmul()
    return (arguments[:3] if name == "flops" else arguments), getattr(op, name)


def dot(name: str, draw: Draw) -> tuple[Arguments, Any]:
    n, width = draw.size(), draw.choice(list(TYPES))
    op = rl.dot(n, TYPES[width])
    return ([n], op.flops) if name == "flops" else ([n, width], op.bytes)


def elementwise(name: str, draw: Draw) -> tuple[Arguments, Any]:
    n, inputs, each = draw.size(), draw.randint(1, 4), draw.randint(0, 9)
    width = draw.choice(list(TYPES))
    op = rl.elementwise(n, inputs, each, TYPES[width])
    return ([n, each], op.flops) if name == "flops" else ([n, inputs, width], op.bytes)


def critical_batch(draw: Draw) -> tuple[Arguments, Any]:
    chip, ((_, D, F, *widths), _) = draw.chip(), draw.matmul()
    x, w, out = (TYPES[width] for width in widths)
    found = rl.critical_batch(chip, D, F, x, w=w, out=out, compute="bf16")
    return [chip.ridge(), D, F, *widths], found


def critical_batch_limit(draw: Draw) -> tuple[Arguments, Any]:
    chip, width = draw.chip(), draw.choice(list(TYPES))
    return [chip.ridge(), width], rl.critical_batch_limit(chip, w=TYPES[width], compute="bf16")


def critical_depth(draw: Draw) -> tuple[Arguments, Any]:
    chip, N, split = draw.chip(), draw.chips(), draw.choice(SPLITS)
    width = draw.choice(list(TYPES))
    found = rl.critical_depth(chip, LINK, N, split=split, out=TYPES[width])
    return [split, N, width, chip.peak(), chip.links[0].to_one_peer], found


def first_whole(function: Callable[[float], float], draw: Draw) -> tuple[Arguments, Any]:
    number = 10 ** draw.uniform(-1, 6)
    number = draw.choice((number, float(round(number)), 0.0))
    return [number], function(number)


def collective(function: Callable[[float, float], float], draw: Draw) -> tuple[Arguments, Any]:
    size, N = draw.rate(), draw.chips()
    return [size, N], function(size, N)


def ring_steps(draw: Draw) -> tuple[Arguments, Any]:
    N, passes = draw.chips(), draw.choice((1, 2))
    return [N, passes], rl.collectives.ring_steps(N, passes)


def passes(draw: Draw) -> tuple[Arguments, Any]:
    """Draw a split, and its number of ring passes of N - 1 messages each."""
    given, op = draw.sharded()
    (hops,) = op.hops.values()
    return [given["split"]], hops / (given["N"] - 1)


def part(draw: Draw) -> tuple[Arguments, Any]:
    """Draw arguments of the formula `part`; add a dimension's size on each chip."""
    given, op = draw.sharded()
    dimension = draw.choice(SPLITS)
    others = [given[name] for name in SPLITS if name not in (dimension, given["split"])]
    if dimension == given["split"]:
        expected = op.flops / 2 / others[0] / others[1]
    else:
        expected = given[dimension]
    return [given[dimension], dimension, given["split"], given["N"]], expected


def sharded_sent(draw: Draw) -> tuple[Arguments, Any]:
    given, op = draw.sharded()
    (sent,) = op.sent.values()
    return [given["B"], given["F"], given["N"], given["split"], 2], sent


def decode(
    arguments: str, expected: Callable[[Decode], float], draw: Draw
) -> tuple[Arguments, Any]:
    """Draw arguments, named as in Decode or Model, and the expected result."""
    step = draw.decode()
    found = [getattr(step if hasattr(step, n) else step.model, n) for n in arguments.split()]
    return found, expected(step)


class Step:
    """A random step of a model: rooflib's counts, and arguments for the formulas.

    `k` is one of the model's kinds of layers; `only` is a step with only the layers of this kind.
    """

    def __init__(self, draw: Draw) -> None:
        # One model in twenty has latent attention: draw it more often.
        latent = [model for model in models() if any(kind.kv_rank for kind in model.every_kind)]
        self.model = draw.choice([*models(), *5 * latent])
        self.w = draw.choice((None, "bf16", "int8", "int4"))
        self.kv = draw.choice(("bf16", "fp8"))
        self.replicas = draw.choice(REPLICAS)
        self.B, self.S = self.replicas * draw.size(), draw.choice((1, 127, 128, 129, draw.size()))
        self.chunk = draw.choice((self.S, 1, 64, 128, 200, draw.size()))
        self.x = draw.choice(("bf16", "fp8"))
        self.prefill, self.whole = draw.random() < 0.5, draw.random() < 0.3
        dense = not any(kind.experts for kind in self.model.every_kind)
        self.whole = self.whole and not dense
        self.m = row(self.model)
        possible = self.m["splits_whole" if self.whole else "splits"]
        counts = [n for n, can in zip(COUNTS, possible, strict=True) if can]
        if self.whole:
            shared = dict(zip(HOLDERS, self.m["spreads"], strict=True))
            counts = [n for n in counts if shared[n * self.replicas]] or [1]
            self.replicas = self.replicas if shared[counts[0] * self.replicas] else 1
        self.chips = draw.choice(counts)
        self.kind = draw.choice(self.model.every_kind)
        self.D, self.tokens = self.model.D, draw.size()
        self.k = self.m["kinds"][self.model.every_kind.index(self.kind)]
        self.absorbed = draw.randint(0, 1)
        size = None if self.w is None else rl.dtypes.dtype(self.w).bytes
        self.s = {
            "B": self.B,
            "S": self.S,
            "chips": self.chips,
            "replicas": self.replicas,
            "chunk": self.chunk,
            "x": rl.dtypes.dtype(self.x).bytes,
            "prefill": 1 * self.prefill,
            "whole": 1 * self.whole,
            "w": self.m["stored"] if size is None else [size] * len(ROWS),
            "kv": rl.dtypes.dtype(self.kv).bytes,
        }
        self.op = self.count(self.model)

    @property
    def sequences(self) -> float:
        return self.B / self.replicas

    @property
    def passes(self) -> list[int]:
        """Return how many tokens of a sequence each pass over the weights processes."""
        return chunks(self.S, self.chunk) if self.prefill else [1]

    @property
    def T(self) -> int:
        return self.passes[-1]

    @property
    def together(self) -> float:
        """Return how many sequences share the experts that a chip holds."""
        return self.B if self.whole else self.sequences

    @property
    def only(self) -> rl.Operation:
        """Step of the model reduced to its layers of the kind `k`."""
        return self.count(replace(self.model, kinds=(self.kind,), layers=self.kind.count))

    @property
    def at_once(self) -> rl.Operation:
        """The operation `only`, but with each prompt read in a single chunk."""
        only = replace(self.model, kinds=(self.kind,), layers=self.kind.count)
        return self.count(only, **({"chunk": self.S} if self.prefill else {}))

    def count(self, model: rl.Model, **changed: Any) -> rl.Operation:
        types: dict[str, Any] = {"w": self.w, "kv": self.kv, "x": self.x, "compute": "bf16"}
        if self.prefill:
            types["chunk"] = self.chunk
        spread = self.whole and any(kind.experts for kind in model.every_kind)
        call = model.prefill if self.prefill else model.decode
        layout = {"replicas": self.replicas, "expert_parallel": spread}
        return call(self.B, self.S, self.chips, **layout, **(types | changed))

    def part(self, name: str, op: rl.Operation | None = None) -> rl.Operation:
        none = rl.operation(name=name)
        parts = (self.op if op is None else op).parts
        return next((part for part in parts if part.name == name), none)

    def weights(self, name: str) -> float:
        """Return how many weights of an operation a chip holds, in layers of kind `k`."""
        return self.part(name, self.only).held / self.s["w"][ROWS.index(name)]


def step(arguments: str, expected: Callable[[Step], Any], draw: Draw) -> tuple[Arguments, Any]:
    """Draw arguments, named as in Step, and the expected result."""
    drawn = Step(draw)
    found = expected(drawn)
    return [getattr(drawn, name) for name in arguments.split()], found


def lasts(drawn: Step) -> float:
    return drawn.model.vocabulary * drawn.D / drawn.chips


def travels(drawn: Step) -> float:
    """Return the bytes that a layer of experts sends after its first all-reduce."""
    drawn.kind = next((kind for kind in drawn.model.every_kind if kind.experts), drawn.kind)
    drawn.k = drawn.m["kinds"][drawn.model.every_kind.index(drawn.kind)]
    tokens, size = drawn.sequences * sum(drawn.passes), drawn.s["x"]
    holders = drawn.chips * (drawn.replicas if drawn.whole else 1)
    reach = drawn.k["reached"][HOLDERS.index(holders)]
    sent = 2 * size * tokens / drawn.chips * drawn.D * reach
    return sent + (0 if drawn.kind.F else rl.reduce_scatter(size * tokens * drawn.D, drawn.chips))


def positions_read(drawn: Step) -> int:
    """Return how many cached positions a prompt's chunks read in total."""
    ends = list(itertools.accumulate(chunks(drawn.S, drawn.chunk)))
    starts = [0, *ends[:-1]]
    window = drawn.kind.window or drawn.S
    return sum(end - max(0, start - window + 1) for start, end in zip(starts, ends, strict=True))


def windows_read(drawn: Step) -> int:
    """Return `positions_read`; without a window, set one as long as the prompt."""
    if not drawn.kind.window:
        drawn.k = drawn.k | {"window": drawn.S}
    return positions_read(drawn)


def chunks(S: int, chunk: int) -> list[int]:
    return [min(chunk, S - start) for start in range(0, S, chunk)]


def expanded(drawn: Step) -> float:
    """Return the FLOPs of projections that reading a prompt in chunks adds."""
    if not drawn.prefill:
        return 0
    projected = drawn.part("projections", drawn.only).flops
    whole = drawn.part("projections", drawn.at_once).flops
    return projected - whole


def touched(drawn: Step) -> float:
    """Return how many experts all passes load in total, in a layer of kind `k`."""
    if not drawn.kind.experts:
        return 0
    return sum(drawn.kind.touched(T * drawn.together, "expected") for T in drawn.passes)


def of_rows(count: str) -> Callable[[Step], list[float]]:
    return lambda drawn: [getattr(drawn.part(name), count) for name in ROWS]


of = functools.partial
ORACLES: dict[str, Oracle] = {
    "ridge": lambda draw: (lambda chip: ([chip.peak(), chip.bandwidth], chip.ridge()))(draw.chip()),
    "attainable": attainable,
    "t_math": t_math,
    "t_comms": t_comms,
    "lower": of(of_times, "lower"),
    "upper": of(of_times, "upper"),
    "binding": of(of_times, "binding"),
    "fraction_of_peak": of(of_lower, "fraction_of_peak"),
    "fraction_at": fraction_at,
    "idle": of(of_lower, "idle"),
    "dot_flops": of(dot, "flops"),
    "dot_bytes": of(dot, "bytes"),
    "elementwise_flops": of(elementwise, "flops"),
    "elementwise_bytes": of(elementwise, "bytes"),
    "matmul_flops": of(matmul_count, "flops"),
    "matmul_bytes": of(matmul_count, "bytes"),
    "critical_batch": critical_batch,
    "critical_batch_limit": critical_batch_limit,
    "critical_depth": critical_depth,
    "first_whole_from": of(first_whole, rl.first_whole_from),
    "first_whole_above": of(first_whole, rl.first_whole_above),
    "ring_steps": ring_steps,
    "reduce_scatter": of(collective, rl.reduce_scatter),
    "all_reduce": of(collective, rl.all_reduce),
    "passes": passes,
    "part": part,
    "sharded_sent": sharded_sent,
    "decode_matrices": of(decode, "layers split_weights D K H chips", lambda s: s.matrices),
    "decode_last": of(decode, "vocabulary D chips", lambda s: s.last),
    "decode_gains": of(decode, "layers D", lambda s: s.gains),
    "decode_weights": of(decode, "matrices last gains w", lambda s: s.weights),
    "decode_position": of(decode, "layers K H chips kv", lambda s: s.position),
    "decode_flops": of(decode, "B S layers N H chips matrices last", lambda s: s.op.flops),
    "decode_bytes": of(decode, "B S D vocabulary chips weights w position", lambda s: s.op.bytes),
    "decode_sent": of(decode, "B D layers chips", lambda s: sum(s.op.sent.values())),
    "decode_resting": of(decode, "weights last w", lambda s: s.op.held - s.position * s.B * s.S),
    "layer_expansion": of(step, "k chips", lambda d: d.kind.expansion(d.chips)),
    "layer_latent": of(
        step,
        "k D chips",
        lambda d: (
            d.kind.projections(d.D, d.chips)
            if d.kind.kv_rank
            # Figures use the formula only if kv_rank > 0; for 0, it returns the value below.
            else d.D * d.kind.N / d.chips * (d.kind.H + d.kind.value)
        ),
    ),
    "layer_projections": of(step, "k D chips", lambda d: d.kind.projections(d.D, d.chips)),
    "layer_cached": of(step, "k chips", lambda d: d.kind.cached(d.chips)),
    "layer_pair_flops": of(step, "k absorbed", lambda d: d.kind.pair_flops(d.absorbed == 1)),
    "layer_expert": of(step, "k D", lambda d: d.kind.expert(d.D)),
    "layer_visible": of(step, "k S", lambda d: d.kind.visible(d.S)),
    "layer_pairs": of(step, "k S", lambda d: d.kind.pairs(d.S)),
    "layer_reach": of(step, "k chunk", lambda d: d.chunk + d.kind.window - 1),
    "layer_growing": of(
        step, "k S chunk", lambda d: min(d.S // d.chunk, (d.chunk + d.kind.window - 1) // d.chunk)
    ),
    "layer_windows_read": of(step, "k S chunk", windows_read),
    "layer_positions_read": of(step, "k S chunk", positions_read),
    "layer_touched": of(
        step, "k tokens", lambda d: d.kind.touched(d.tokens, "expected") if d.kind.experts else 0
    ),
    "step_sequences": of(step, "s", lambda d: d.B / d.replicas),
    "step_tokens": of(step, "s", lambda d: d.B / d.replicas * sum(d.passes)),
    "step_rest": of(step, "s", lambda d: d.S % d.chunk if d.prefill else 0),
    "step_chunks": of(step, "s", lambda d: d.S // d.chunk if d.prefill else 1),
    "step_passes": of(step, "s", lambda d: len(d.passes)),
    "step_holders": of(step, "s", lambda d: d.chips * (d.replicas if d.whole else 1)),
    "step_read": of(step, "k s", lambda d: positions_read(d) if d.prefill else d.kind.visible(d.S)),
    "step_expanded": of(step, "k s", expanded),
    "step_routed": of(step, "T s", lambda d: d.T * d.together),
    "step_touched": of(step, "k s", touched),
    "step_projections": of(step, "k m s", lambda d: d.weights("projections")),
    "step_mlp": of(step, "k m s", lambda d: d.weights("MLP")),
    "step_router": of(step, "k m", lambda d: d.weights("router")),
    "step_taken": of(
        step,
        "k m s",
        lambda d: d.part("experts", d.only).flops / 2 / d.sequences / sum(d.passes),
    ),
    "step_experts": of(
        step, "k m s", lambda d: d.part("experts", d.only).loaded / d.s["w"][ROWS.index("experts")]
    ),
    "step_every_expert": of(step, "k m s", lambda d: d.weights("experts")),
    "step_gains": of(step, "k", lambda d: d.kind.count * d.kind.gains),
    "step_last": of(step, "m s", lasts),
    "step_position": of(step, "k s", lambda d: d.kind.count * d.kind.cached(d.chips) * d.s["kv"]),
    "step_attention": of(step, "k s", lambda d: d.part("attention", d.only).flops),
    "step_loaded_cache": of(step, "k s", lambda d: d.part("attention", d.only).loaded),
    "step_held_cache": of(step, "k s", lambda d: d.part("attention", d.only).held),
    "step_flops": of(step, "m s", of_rows("flops")),
    "step_bytes": of(step, "m s", of_rows("bytes")),
    "step_held": of(step, "m s", lambda d: d.op.held),
    "step_reduced": of(
        step,
        "m s",
        lambda d: rl.all_reduce(d.s["x"] * d.sequences * sum(d.passes) * d.D, d.chips),
    ),
    "step_travels": of(step, "k m s", travels),
    "step_sends": of(step, "k m s", lambda d: sum(d.part("collectives", d.only).sent.values())),
    "step_sent": of(step, "m s", lambda d: sum(d.op.sent.values())),
}


@functools.cache
def points(name: str, count: int) -> list[tuple[Arguments, Any]]:
    draw, oracle = Draw(name), ORACLES[name]
    of_models = getattr(oracle, "func", None) is step
    return [oracle(draw) for _ in range(count // 3 if of_models else count)]


def agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, str):
        return bool(found == expected)
    if isinstance(expected, list):
        return all(map(agree, found, expected))
    # A difference of nearly equal numbers, as in `idle`, is only as exact as its operands.
    return bool(found == pytest.approx(float(expected), rel=1e-9, abs=1e-12))


def test_every_formula_has_a_rooflib_counterpart() -> None:
    assert {re.match(r"\w+", head)[0] for head in TABLE} == set(ORACLES)  # type: ignore[index]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.add_script_tag(path=ROOT / "kit/roofkit/figures/engine/expressions.js")
    yield page
    page.close()


@pytest.mark.parametrize("name", ORACLES)
@series(SHORT, FULL)
def test_a_formula_of_the_figures_gives_what_rooflib_gives(
    page: Page, name: str, count: int
) -> None:
    drawn = points(name, count)
    table = used_formulas([f"rl.{name}"])
    call = "([table, name, all]) => all.map((given) => fromTable(table)[name](...given))"
    results = page.evaluate(call, [table, name, [arguments for arguments, _ in drawn]])
    for (arguments, expected), found in zip(drawn, results, strict=True):
        assert agree(found, expected), (arguments, found, expected)
