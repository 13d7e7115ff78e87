"""The formulas with which figures compute in a page give what rooflib gives."""

import contextlib
import functools
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import quickjs
from repository import ROOT

import rooflib as rl
from roofkit.figures import bundle
from roofkit.figures.model_rows import COUNTS, in_bf16, row
from rooflib.llm.steps import ROWS

POINTS = 100  # random ones for each formula
TYPES = {2.0: "bf16", 4.0: "fp32", 1.0: "fp8", 0.5: "fp4"}
LINK = "ICI"
INFINITY = "infinity"  # which JSON can't hold

Arguments = list[Any]


class Draw(random.Random):
    """Generator of random arguments for rooflib's functions."""

    def rate(self) -> float:
        """Return a random rate, in FLOP/s or bytes/s."""
        return float(10 ** self.uniform(9, 16))

    def size(self) -> int:
        return round(10 ** self.uniform(0, 5))

    def width(self) -> float:
        """Return the bytes of an element."""
        return self.choice(list(TYPES))

    def chips(self) -> int:
        return self.choice((1, 2, 3, 4, 8, 16))

    def chip(self) -> rl.Chip:
        link = rl.Link(LINK, self.rate(), topology="switch")
        return rl.Chip("chip", {"bf16": self.rate(), "HBM": self.rate()}, 1e11, links=(link,))


def amounts(op: rl.Work, *names: str) -> dict[str, float]:
    return {name: getattr(op, name) for name in ("flops", "bytes", *names)}


def of_intensity(name: str, draw: Draw) -> tuple[Arguments, Any]:
    chip, intensity = draw.chip(), 10 ** draw.uniform(-2, 6)
    if name == "attainable":
        return [intensity, chip["bf16"], chip["HBM"]], chip.attainable(intensity)
    share = rl.work("work", intensity * 1e9, loaded=1e9).on(chip).share_of_peak
    return [intensity, chip.ridge()], share


def bound(draw: Draw) -> tuple[Arguments, Any]:
    """Draw amounts, some of them zero, on roofs of which some take the same time."""
    chip = draw.chip()
    roofs = [chip["bf16"], chip["HBM"], chip.links[0].to_one_peer]
    times = [10 ** draw.uniform(-9, 1) for _ in roofs]
    times[2] *= draw.random() < 0.8
    if draw.random() < 0.3:
        times[draw.randrange(3)] = times[draw.randrange(2)]
    flops, moved, sent = (time * roof for time, roof in zip(times, roofs, strict=True))
    found = rl.work("work", flops, loaded=moved, sent=sent).on(chip, chip.links[0])
    expected = {
        "math": found.times["compute"],
        "comms": found.times["HBM"],
        "net": found.times.get(LINK, 0),
        "lower": found.lower,
        "upper": found.upper,
        "binding": "the link" if found.roof == LINK else found.roof,
    }
    work = {"flops": flops, "bytes": moved, "sent": sent}
    return [work, dict(zip(("peak", "bandwidth", "link"), roofs, strict=True))], expected


def matmul(draw: Draw) -> tuple[Arguments, Any]:
    sizes, widths = [draw.size() for _ in "BDF"], [draw.width() for _ in "xwo"]
    x, w, out = (TYPES[width] for width in widths)
    op = rl.matmul(*sizes, x, w=w, out=out, compute="bf16")
    return [*sizes, *widths], amounts(op, "loaded", "written")


def dot(draw: Draw) -> tuple[Arguments, Any]:
    n, width = draw.size(), draw.width()
    return [n, width], amounts(rl.dot(n, TYPES[width]))


def elementwise(draw: Draw) -> tuple[Arguments, Any]:
    n, inputs, each, width = draw.size(), draw.randint(1, 4), draw.randint(0, 9), draw.width()
    return [n, inputs, each, width], amounts(rl.elementwise(n, inputs, each, TYPES[width]))


def critical_batch(draw: Draw) -> tuple[Arguments, Any]:
    chip, D, F, widths = draw.chip(), draw.size(), draw.size(), [draw.width() for _ in "xwo"]
    x, w, out = (TYPES[width] for width in widths)
    found = rl.critical_batch(chip, D, F, x, w=w, out=out, compute="bf16")
    return [chip.ridge(), D, F, *widths], found


def critical_batch_limit(draw: Draw) -> tuple[Arguments, Any]:
    chip, width = draw.chip(), draw.width()
    return [chip.ridge(), width], rl.critical_batch(chip, w=TYPES[width], compute="bf16")


def collective(function: Callable[[float, float], float], draw: Draw) -> tuple[Arguments, Any]:
    size, N = draw.rate(), draw.chips()
    return [size, N], function(size, N)


def all_reduce_over(draw: Draw) -> tuple[Arguments, Any]:
    size, N, adds = draw.rate(), draw.chips(), draw.choice((0, 1))
    return [size, N, adds], rl.all_reduce(size, N, in_switch=bool(adds))


def ring_steps(draw: Draw) -> tuple[Arguments, Any]:
    """Draw a number of chips; the steps are the messages of a matmul split along D."""
    N = draw.choice((2, 3, 4, 8, 16))
    hops = rl.split("D", N, 1, N, 1).hops
    return [N, 2], hops


def to_group(draw: Draw) -> tuple[Arguments, Any]:
    """Draw a link of a mesh, or of a switch, and a number of chips."""
    rate, N, lanes = draw.rate(), draw.chips(), draw.choice((0, 7))
    topology = "mesh" if lanes else "switch"
    link = rl.Link(LINK, rate, links_per_axis=max(1, lanes), topology=topology)
    return [rate, lanes, N], link.to_group(N)


of = functools.partial
ORACLES: dict[str, Callable[[Draw], tuple[Arguments, Any]]] = {
    "ridge": lambda draw: (lambda chip: ([chip["bf16"], chip["HBM"]], chip.ridge()))(draw.chip()),
    "attainable": of(of_intensity, "attainable"),
    "fractionAt": of(of_intensity, "share"),
    "bound": bound,
    "matmul": matmul,
    "dot": dot,
    "elementwise": elementwise,
    "criticalBatch": critical_batch,
    "criticalBatchLimit": critical_batch_limit,
    "ringSteps": ring_steps,
    "reduceScatter": of(collective, rl.reduce_scatter),
    "allReduce": of(collective, rl.all_reduce),
    "allReduceOver": all_reduce_over,
    "toGroup": to_group,
}


@functools.cache
def engine() -> Any:
    """Return a JavaScript engine that has the figures' script."""
    context = quickjs.Context()
    context.eval(f"{bundle.script()}const formulas = modules['lib/formulas.js'];")
    return context


def computed(name: str, arguments: Arguments) -> Any:
    call = (
        "(name, given) => JSON.stringify(formulas[name](...JSON.parse(given)), "
        f"(_, value) => value === Infinity ? '{INFINITY}' : value)"
    )
    return json.loads(engine().eval(call)(name, json.dumps(arguments)))


def agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, str):
        return bool(found == expected)
    if isinstance(expected, dict):
        return all(agree(found[name], value) for name, value in expected.items())
    return bool(float(found) == pytest.approx(float(expected), rel=1e-9))


def test_every_formula_is_compared() -> None:
    functions = "Object.keys(formulas).filter((name) => formulas[name] instanceof Function)"
    names = json.loads(engine().eval(f"JSON.stringify({functions})"))
    assert set(names) == {*ORACLES, "step"}


@pytest.mark.parametrize("name", ORACLES)
def test_a_formula_of_the_figures_gives_what_rooflib_gives(name: str) -> None:
    draw = Draw(name)
    for _ in range(POINTS):
        arguments, expected = ORACLES[name](draw)
        assert agree(computed(name, arguments), expected), arguments


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
        adds = draw.random() < 0.5  # whether the links' switch adds
        options: Any = {"chips": chips, "x": "bf16", "kv": "bf16"}
        with contextlib.suppress(ValueError):  # these chips can't split the model
            steps = (model.decode(B, S, **options), model.prefill(B, S, chunk=chunk, **options))
            for prefill, step in enumerate(steps):
                setting = {"B": B, "S": S, "chips": chips, "replicas": 1, "prefill": bool(prefill)}
                setting |= {"chunk": chunk, "whole": False, "kv": 2, "x": 2}
                setting |= {"adds": adds, "w": shapes["stored"][COUNTS.index(chips)]}
                found = computed("step", [shapes, setting])
                parts = {part.name: part for part in step.parts}
                for name in ("flops", "bytes"):
                    each = [float(getattr(parts.get(kind), name, 0)) for kind in ROWS]
                    assert found["rows"][name] == pytest.approx(each, rel=1e-9)
                    assert found[name] == pytest.approx(float(getattr(step, name)), rel=1e-9)
                assert found["held"] == pytest.approx(float(step.held), rel=1e-9)
                link = rl.Link("wire", 1.0, topology="switch", reduces=adds)
                sent = step.on("H100 SXM", link).times.get("wire", 0)
                assert found["sent"] == pytest.approx(float(sent), rel=1e-9)
