"""The formulas with which figures compute in a page give what rooflib gives."""

import contextlib
import functools
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from repository import ROOT
from series import series

import rooflib as rl
from roofkit.figures.engine.expressions import TABLE, evaluate, used_formulas
from roofkit.figures.model_rows import COUNTS, in_bf16, row
from rooflib.llm.steps import ROWS

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
        return rl.Chip("chip", {"bf16": self.rate(), "HBM": self.rate()}, 1e11, links=(link,))

    def matmul(self) -> tuple[list[float], rl.Work]:
        """Return the sizes and bytes per element of a random matmul, and the operation."""
        sizes, widths = [self.size() for _ in "BDF"], [self.choice(list(TYPES)) for _ in "xwo"]
        x, w, out = (TYPES[width] for width in widths)
        return [*sizes, *widths], rl.matmul(*sizes, x, w=w, out=out, compute="bf16")

    def times(self) -> tuple[list[float], rl.Times]:
        """Return three random times, some of them equal or zero, and their bounds."""
        times = [float(10 ** self.uniform(-9, 1)) for _ in range(3)]
        times[2] *= self.random() < 0.8
        if self.random() < 0.3:
            times[self.randrange(3)] = times[self.randrange(2)]
        link = rl.Link(LINK, 1.0, topology="switch")
        chip = rl.Chip("chip", {"bf16": 1.0, "HBM": 1.0}, 1.0, links=(link,))
        flops, moved, sent = times
        return times, rl.work("work", flops, loaded=moved, sent=sent).on(chip, link)

    def sharded(self) -> tuple[dict[str, Any], rl.Work]:
        """Return the arguments of a random sharded matmul, and the operation."""
        N, split = self.chips(), self.choice(SPLITS)
        sizes = {name: N * self.size() for name in SPLITS}
        op = rl.split(split, N, sizes["B"], sizes["D"], sizes["F"])
        return {**sizes, "N": N, "split": split}, op


def attainable(draw: Draw) -> tuple[Arguments, Any]:
    chip, intensity = draw.chip(), 10 ** draw.uniform(-2, 6)
    return [intensity, chip["bf16"], chip["HBM"]], chip.attainable(intensity)


def fraction_at(draw: Draw) -> tuple[Arguments, Any]:
    chip, intensity = draw.chip(), 10 ** draw.uniform(-2, 6)
    bound = rl.work("work", intensity * 1e9, loaded=1e9).on(chip)
    return [intensity, chip.ridge()], bound.share_of_peak


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
    return [flops, chip["bf16"]], rl.work("work", flops).on(chip).times["compute"]


def t_comms(draw: Draw) -> tuple[Arguments, Any]:
    chip, moved = draw.chip(), draw.rate()
    return [moved, chip["HBM"]], rl.work("work", loaded=moved).on(chip).times["HBM"]


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
    return [chip.ridge(), width], rl.critical_batch(chip, w=TYPES[width], compute="bf16")


def critical_depth(draw: Draw) -> tuple[Arguments, Any]:
    chip, N, split = draw.chip(), draw.chips(), draw.choice(SPLITS)
    width = draw.choice(list(TYPES))
    found = rl.critical_depth(chip, LINK, N, split=split, out=TYPES[width])
    return [split, N, width, chip["bf16"], chip.links[0].to_one_peer], found


def first_whole(function: Callable[[float], float], draw: Draw) -> tuple[Arguments, Any]:
    number = 10 ** draw.uniform(-1, 6)
    number = draw.choice((number, float(round(number)), 0.0))
    return [number], function(number)


def collective(function: Callable[[float, float], float], draw: Draw) -> tuple[Arguments, Any]:
    size, N = draw.rate(), draw.chips()
    return [size, N], function(size, N)


def all_reduce_over(draw: Draw) -> tuple[Arguments, Any]:
    size, N, adds = draw.rate(), draw.choice((1, draw.chips())), draw.choice((0, 1))
    return [size, N, adds], rl.all_reduce(size, N, in_switch=bool(adds))


def to_group(draw: Draw) -> tuple[Arguments, Any]:
    """Draw a link of a mesh, or of a switch, and a number of chips."""
    rate, N, lanes = draw.rate(), draw.choice((1, draw.chips())), draw.choice((0, 7))
    topology = "mesh" if lanes else "switch"
    link = rl.Link(LINK, rate, links_per_axis=max(1, lanes), topology=topology)
    return [rate, lanes, N], link.to_group(N)


def ring_steps(draw: Draw) -> tuple[Arguments, Any]:
    N, passes = draw.chips(), draw.choice((1, 2))
    return [N, passes], passes * rl.split("D", N, 1, N, 1).hops // 2


def passes(draw: Draw) -> tuple[Arguments, Any]:
    """Draw a split, and its number of ring passes of N - 1 messages each."""
    given, op = draw.sharded()
    return [given["split"]], op.hops / (given["N"] - 1)


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
    return [given["B"], given["F"], given["N"], given["split"], 2], op.sent


of = functools.partial
ORACLES: dict[str, Oracle] = {
    "ridge": lambda draw: (lambda chip: ([chip["bf16"], chip["HBM"]], chip.ridge()))(draw.chip()),
    "attainable": attainable,
    "t_math": t_math,
    "t_comms": t_comms,
    "lower": of(of_times, "lower"),
    "upper": of(of_times, "upper"),
    "binding": of(of_times, "roof"),
    "fraction_of_peak": of(of_lower, "share_of_peak"),
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
    "first_whole_from": of(first_whole, math.ceil),
    "first_whole_above": of(first_whole, lambda number: math.floor(number) + 1),
    "ring_steps": ring_steps,
    "reduce_scatter": of(collective, rl.reduce_scatter),
    "all_reduce": of(collective, rl.all_reduce),
    "all_reduce_over": all_reduce_over,
    "to_group": to_group,
    "passes": passes,
    "part": part,
    "sharded_sent": sharded_sent,
}


@functools.cache
def points(name: str, count: int) -> list[tuple[Arguments, Any]]:
    draw = Draw(name)
    return [ORACLES[name](draw) for _ in range(count)]


def agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, str):
        return bool(found == expected)
    if isinstance(expected, list):
        return all(map(agree, found, expected))
    # A difference of nearly equal numbers, as in `idle`, is only as exact as its operands.
    return bool(found == pytest.approx(float(expected), rel=1e-9, abs=1e-12))


def test_every_formula_has_a_counterpart_in_rooflib() -> None:
    """Those of language models are tested with the numbers of their figures."""
    heads = {re.match(r"\w+", head)[0] for head in TABLE}  # type: ignore[index]
    assert {
        head for head in heads if not head.startswith(("decode_", "layer_", "step_", "split"))
    } == set(ORACLES)


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


CONFIGS = [
    json.loads(line)["config"]
    for line in (ROOT / "tests/tables/configs.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("index", range(len(CONFIGS)))
def test_the_formulas_of_a_step_give_what_rooflib_gives_for_any_kind_of_layer(index: int) -> None:
    model, draw = in_bf16(rl.model_from_config(CONFIGS[index])), Draw(index)
    shapes = row(model)
    for _ in range(5):
        B, S = draw.choice((1, 4, 16)), draw.choice((128, 1000, 30_000))
        chips, chunk = draw.choice((1, 1, 2, 4)), draw.choice((S, 100))
        adds = draw.choice((0, 1))  # whether the links' switch adds
        options = {"chips": chips, "x": "bf16", "kv": "bf16"}
        with contextlib.suppress(ValueError):  # these chips can't split the model
            steps = (model.decode(B, S, **options), model.prefill(B, S, chunk=chunk, **options))
            for prefill, step in enumerate(steps):
                setting = {"B": B, "S": S, "chips": chips, "replicas": 1, "prefill": prefill}
                setting |= {"chunk": chunk, "whole": 0, "kv": 2, "x": 2}
                setting |= {"adds": adds, "w": shapes["stored"][COUNTS.index(chips)]}
                names = ("flops", "bytes", "held", "sent")
                formulas = {name: f"rl.step_{name}(m, s)" for name in names}
                found = evaluate(formulas, {"m": shapes, "s": setting})
                parts = {part.name: part for part in step.parts}
                for name in ("flops", "bytes"):
                    each = [float(getattr(parts.get(kind), name, 0)) for kind in ROWS]
                    assert found[name] == pytest.approx(each, rel=1e-9)
                assert found["held"] == pytest.approx(float(step.held), rel=1e-9)
                link = rl.Link("wire", 1.0, topology="switch", reduces=bool(adds))
                sent = step.on("H100 SXM", link).times.get("wire", 0)
                assert found["sent"] == pytest.approx(float(sent), rel=1e-9)
