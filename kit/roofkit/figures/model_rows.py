"""Models as rows of numbers, from which formulas compute a step."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from roofkit.words import _
from rooflib.dtypes import DTYPES, dtype
from rooflib.llm import Layer, Model, model_from_config
from rooflib.llm.steps import ROWS
from rooflib.quantities import text

COUNTS = (1, 2, 4, 8, 16)
HOLDERS = (*COUNTS, 32, 64, 128)
"""Numbers of chips that formulas know, in a replica and in all: those to choose, and double."""
# Matches rooflib's error: the size that can't be divided, the chips, and the possible chips.
REFUSAL = re.compile(
    r"chips .*; got (?P<name>\w+)=(?P<size>\d+), chips.*=(?P<count>\d+);"
    r" .+ can be \w+ over (?P<fitting>.+)"
)
STORED = "as stored"
ACTIVATIONS = (STORED, "bf16", "fp8", "int8")
Refusal = dict[str, str] | None


def row(model: Model) -> dict[str, Any]:
    """Return a model's shapes, the bytes of its weights, and how chips can split it.

    What depends on a number of chips is a dict by that number, as text, since JSON has no others.
    `stored` has for each the mean bytes of a weight for each of `rooflib.llm.steps.ROWS`: some
    matrices are whole on each chip. `bits` has the fewest, and `computes` the types of the
    arithmetic for each of `ACTIVATIONS`.

    `refusals` has the parts of rooflib's error for those that can't split the model,
    `refusals_whole` for those that can't if each holds whole experts, and `refusals_spread` for
    those that can't share these.
    """
    # Where each chip holds whole experts, check two things separately: whether chips can split the
    # other weights, and whether they can share the experts.
    rest = replace(model, kinds=tuple(replace(k, X=0, experts=0, active=0) for k in model.kinds))
    routed = any(kind.experts for kind in model.kinds)
    return {
        "D": model.D,
        "vocabulary": model.vocabulary,
        "tied": 1 * model.tied,
        "routed": 1 * routed,
        "looked_up": sum(table.weights // table.parts for table in model.outer.of("embedding")),
        "tables": model.outer.weights("embedding") - model.vocabulary * model.D,
        "stored": _each(lambda count: [_stored(model, name, count) for name in ROWS]),
        "bits": int(min(of.w.bits for of in model.formats)),
        "computes": {x: _computes(model, x) for x in ACTIVATIONS},
        "kinds": [_kind(kind) for kind in (*model.kinds, model.outer)],
        "refusals": _each(lambda count: _refusal(model, count)),
        "refusals_whole": _each(lambda count: _refusal(rest, count)),
        "refusals_spread": _each(lambda N: _refusal(model, 1, N), HOLDERS if routed else ()),
    }


def _each(count: Callable[[int], Any], chips: Iterable[int] = COUNTS) -> dict[str, Any]:
    found = {str(number): count(number) for number in chips}
    return {number: value for number, value in found.items() if value is not None}


def in_bf16(model: Model) -> Model:
    """Return the reader's model with types and a name that the figure can show."""
    if dtype(model.w).name not in ("bf16", "fp16"):
        raise ValueError(f"w of the model must be bf16 or fp16; got {dtype(model.w).name}")
    if any(kind.pooled for kind in model.kinds):
        reason = "this figure can't show caches of pooled positions; rooflib.llm counts them"
        raise ValueError(f"{model.name} must be counted in Python: {reason}")
    # Braces mark placeholders in sentences, so a model's name must not contain any.
    return replace(model, w="bf16", name=model.name.replace("{", "(").replace("}", ")"))


def answer(content: bytes, file: str) -> str:
    """Return JSON: name, row and summary of a config file's model, or the file's problem.

    A model is named by its file, and one whose file has no name of its own by what it calls itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.json")
        path.write_bytes(content)
        try:
            model = in_bf16(model_from_config(path))
        except (TypeError, ValueError) as error:
            return json.dumps({"problem": str(error).replace(f"{folder}{os.sep}", "")})
    stem = Path(file.replace("{", "(").replace("}", ")")).stem
    name = model.name if stem in ("config", "") else stem
    found = row(replace(model, name=name))
    return json.dumps({"name": name, "row": found, "summary": summary(model)})


def summary(model: Model) -> str:
    """Return in a line what the model weighs, caches and is stored in."""
    words = _(
        "{weights} billion weights, {active} of them active for a token, {cache} of cache for each"
        " position, stored in {types}."
    ).format(
        weights=text(model.parameters / 1e9),
        active=text(model.active_parameters() / 1e9),
        cache=text(model.kv_bytes_per_token(), "B"),
        types=", ".join(dict.fromkeys(of.w.name for of in reversed(model.formats))),
    )
    if state := model.state_bytes():
        words += _(" Each sequence also has {state} of state at any length.").format(
            state=text(state, "B")
        )
    if model.towers:
        words += _(" Not counted in the figure: {towers}.").format(towers=model.named_towers)
    return words


def _kind(kind: Layer) -> dict[str, Any]:
    return {
        **{name: getattr(kind, name) for name in ("count", "N", "F", "experts", "active", "gains")},
        "matrices": len(kind.of("MLP")),
        "mixes": 1 * (kind.N + kind.state_heads > 0),
        "expert": kind.expert,
        "multiplied": kind.weights("experts"),
        "window": kind.window or kind.top,
        "holds": kind.window,
        "aligned": 1 * kind.aligned,
        "projections": _each(lambda count: kind.weights("projections", count)),
        "expansion": _each(lambda count: sum(each.on(count) for each in kind.expanding)),
        "cached": _each(kind.cached),
        "kept": _each(kind.kept),
        "pair_flops": [kind.pair_flops(absorbed) for absorbed in (False, True)],
        "index_flops": 2 * kind.index_N * kind.index_H,
        "index_width": kind.index_H,
        "state_width": kind.state_width,
        "recurrent": _each(lambda count: kind.state(count)[0]),
        "inputs": _each(lambda count: kind.state(count)[1]),
        "state_flops": _each(kind.recurrence_flops),
        # Each token goes to so many other chips; experts that can't be shared, to none.
        "reached": _each(
            lambda count: 0 if kind.experts % count else float(kind.chips_reached(count)), HOLDERS
        ),
    }


def _stored(model: Model, row: str, chips: int) -> float:
    """Return the mean bytes of a weight that a chip has of a kind of operation, as stored."""
    sizes, weights = 0.0, 0.0
    for kind in (*model.kinds, model.outer):
        own = [(matrix.on(chips), model.stored(matrix).w) for matrix in kind.of(row)]
        biases = kind.expert_biases if row == "experts" else 0
        for count, stored in [*own, (biases, model.w)]:
            each = kind.count * count * (kind.experts if row == "experts" else 1)
            sizes += each * dtype(stored).bytes
            weights += each
    return sizes / weights if weights else dtype(model.w).bytes


def _computes(model: Model, x: str) -> list[dict[str, float]] | None:
    """Return the share of each type in the arithmetic of each of ROWS, the weights as stored.

    x: the type of activations; STORED stands for what the checkpoint says. The result is None if
    activations and weights have no common type.
    """
    try:
        given = None if x == STORED else x
        parts = model.decode(1, 1, x=given, kv=given).parts
    except ValueError:
        return None
    shares = {}
    for part in parts:
        types = {kind: float(n) for kind, n in part.amounts.items() if kind in DTYPES and n}
        shares[part.name] = {kind: n / sum(types.values()) for kind, n in types.items()}
    return [shares.get(name, {}) for name in ROWS]


def _refusal(model: Model, chips: int, replicas: int = 1) -> Refusal:
    """Return why chips can't split the model, as parts of rooflib's error; None if they can.

    With replicas, the reason may be that they can't share whole experts.
    """
    given: dict[str, Any] = {"x": "bf16", "compute": "bf16", "expert_parallel": replicas > 1}
    try:
        model.decode(replicas, 1, chips, replicas=replicas, **given)
    except ValueError as error:
        found = REFUSAL.fullmatch(str(error))
        return found.groupdict() if found else {"said": str(error)}
    return None
