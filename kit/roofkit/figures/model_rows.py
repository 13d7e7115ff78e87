"""Models as rows of numbers, from which formulas compute a step."""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from roofkit.words import _
from rooflib.dtypes import DTYPES, dtype
from rooflib.llm import Layer, Model, model_from_config
from rooflib.llm.steps import ROWS
from rooflib.quantities import text

CHIPS = (1, 2, 4, 8)
"""Numbers of chips of a replica, and of replicas, to choose."""
COUNTS = (*CHIPS, 16)
HOLDERS = (1, 2, 4, 8, 16, 32, 64, 128)
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

    `stored` has, for each of `COUNTS` of chips, the mean bytes of a weight for each of
    `rooflib.llm.steps.ROWS`: some matrices are whole on each chip. `bits` has the fewest,
    and `computes` the types of the arithmetic for each of `ACTIVATIONS`.

    `splits` says for each of `COUNTS` whether chips can split the model, and `splits_whole` whether
    they can if each holds whole experts. `spreads` says for each of `HOLDERS` whether so many can
    share whole experts. Three lists of refusals say why not, for the numbers to choose: None, or
    the parts of rooflib's error.
    """
    # Where each chip holds whole experts, check two things separately: whether chips can split the
    # other weights, and whether they can share the experts.
    rest = replace(model, kinds=tuple(replace(k, X=0, experts=0, active=0) for k in model.kinds))
    routed = any(kind.experts for kind in model.kinds)
    split = {count: _refusal(model, count) for count in COUNTS}
    split_whole = {count: _refusal(rest, count) for count in COUNTS}
    spread = {count: _refusal(model, 1, count) if routed else None for count in HOLDERS}
    return {
        "D": model.D,
        "vocabulary": model.vocabulary,
        "tied": 1 * model.tied,
        "routed": 1 * routed,
        "more": model.outer.weights("projections"),
        "gains": model.outer.gains,
        "looked_up": sum(table.weights // table.parts for table in model.outer.of("embedding")),
        "tables": model.outer.weights("embedding") - model.vocabulary * model.D,
        "stored": [[_stored(model, name, count) for name in ROWS] for count in COUNTS],
        "bits": min(kind.bits for kind in model.stored_types()),
        "computes": {x: _computes(model, x) for x in ACTIVATIONS},
        "kinds": [_kind(kind) for kind in model.kinds],
        "splits": [1 * (split[count] is None) for count in COUNTS],
        "splits_whole": [1 * (split_whole[count] is None) for count in COUNTS],
        "spreads": [1 * (routed and spread[count] is None) for count in HOLDERS],
        "refusals": [split[count] for count in CHIPS],
        "refusals_whole": [split_whole[count] for count in CHIPS],
        "refusals_spread": [spread[count] for count in HOLDERS],
    }


def in_bf16(model: Model) -> Model:
    """Return the reader's model with types and a name that the figure can show."""
    if dtype(model.w).name not in ("bf16", "fp16"):
        raise ValueError(f"w of the model must be bf16 or fp16; got {dtype(model.w).name}")
    if any(kind.pooled for kind in model.kinds):
        reason = "this figure can't show caches of pooled positions; rooflib.llm counts them"
        raise ValueError(f"{model.name} must be counted in Python: {reason}")
    # Braces mark placeholders in sentences, so a model's name must not contain any.
    return replace(model, w="bf16", name=model.name.replace("{", "(").replace("}", ")"))


def answer(content: bytes, file: str, rows: Mapping[str, Any]) -> str:
    """Return JSON: name, row and summary of a config file's model, or the file's problem.

    A model is named by its file, and one whose file has no name of its own by what it calls itself.
    `rows` are those that the figure has already, by name: another of the same name gets a number.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.json")
        path.write_bytes(content)
        try:
            model = in_bf16(model_from_config(path))
        except (TypeError, ValueError) as error:
            return json.dumps({"problem": str(error).replace(f"{folder}{os.sep}", "")})
    stem = Path(file.replace("{", "(").replace("}", ")")).stem
    for name in _names(model.name if stem in ("config", "") else stem):
        found = row(replace(model, name=name))
        if rows.get(name, found) == found:
            return json.dumps({"name": name, "row": found, "summary": summary(model)})
    raise AssertionError  # there is always another name


def summary(model: Model) -> str:
    """Return in a line what the model weighs, caches and is stored in."""
    words = _(
        "{weights} billion weights, {active} of them active for a token, {cache} of cache for each"
        " position, stored in {types}."
    ).format(
        weights=text(model.parameters / 1e9),
        active=text(model.active_parameters() / 1e9),
        cache=text(model.kv_bytes_per_token(), "B"),
        types=", ".join(dict.fromkeys(kind.name for kind in reversed(model.stored_types()))),
    )
    if state := model.state_bytes():
        words += _(" Each sequence also has {state} of state at any length.").format(
            state=text(state, "B")
        )
    if model.towers:
        words += _(" Not counted in the figure: {towers}.").format(towers=model.named_towers)
    return words


def _names(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in itertools.count(2))


def _kind(kind: Layer) -> dict[str, Any]:
    state = [kind.state(count) for count in COUNTS]
    return {
        **{name: getattr(kind, name) for name in ("count", "N", "F", "experts", "active", "gains")},
        "matrices": len(kind.of("MLP")),
        "mixes": 1 * (kind.N + kind.state_heads > 0),
        "expert": kind.expert,
        "multiplied": kind.weights("experts"),
        "window": kind.window or kind.top,
        "holds": kind.window,
        "aligned": 1 * kind.aligned,
        "projections": [kind.weights("projections", count) for count in COUNTS],
        "expansion": [sum(each.on(count) for each in kind.expanding) for count in COUNTS],
        "cached": [kind.cached(count) for count in COUNTS],
        "kept": [kind.kept(count) for count in COUNTS],
        "pair_flops": [kind.pair_flops(absorbed) for absorbed in (False, True)],
        "index_flops": 2 * kind.index_N * kind.index_H,
        "index_width": kind.index_H,
        "state_width": kind.state_width,
        "recurrent": [recurrent for recurrent, _inputs in state],
        "inputs": [each for _recurrent, each in state],
        "state_flops": [
            kind.state_flops * recurrent + 2 * kind.conv * kind.taken(count)
            for count, (recurrent, _inputs) in zip(COUNTS, state, strict=True)
        ],
        "reached": [_reached(kind, count) for count in HOLDERS],
    }


def _stored(model: Model, row: str, chips: int) -> float:
    """Return the mean bytes of a weight that a chip has of a kind of operation, as stored."""
    sizes, weights = 0.0, 0.0
    for kind in [model.outer] if row == "logits" else model.kinds:
        times, biases = kind.count, 0
        if row == "experts":
            times, biases = kind.count * kind.experts, kind.expert_biases
        own = [(matrix.on(chips), model.stored(matrix).w) for matrix in kind.of(row)]
        for count, stored in [*own, (biases, model.w)]:
            sizes += times * count * dtype(stored).bytes
            weights += times * count
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
    types = {
        part.name: {name: float(amount) for name, amount in part.amounts.items() if name in DTYPES}
        for part in parts
    }
    totals = {name: sum(amounts.values()) for name, amounts in types.items()}
    return [
        {kind: amount / totals[name] for kind, amount in types[name].items() if amount}
        if totals.get(name)
        else {}
        for name in ROWS
    ]


def _reached(kind: Layer, count: int) -> float:
    """Return how many other chips each token is sent to if `count` share the experts.

    It is 0 if `count` chips can't share the experts.
    """
    spread = kind.experts and kind.experts % count == 0
    return float(kind.chips_reached(count)) if spread else 0


def _refusal(model: Model, chips: int, replicas: int = 1) -> Refusal:
    """Return why chips can't split the model, as parts of rooflib's error; None if they can.

    With replicas, the reason may be that they can't share whole experts.
    """
    try:
        spread = replicas > 1
        types = {"x": "bf16", "compute": "bf16"}
        model.decode(replicas, 1, chips, replicas=replicas, expert_parallel=spread, **types)
    except ValueError as error:
        found = REFUSAL.fullmatch(str(error))
        return found.groupdict() if found else {"said": str(error)}
    return None
