"""Formulas as text, evaluated alike in Python and in expressions.js.

A formula uses only syntax that is valid in both languages: names, numbers, strings, lists, tables
with strings as keys, + - * /, comparisons, subscripts and the functions in `FUNCTIONS`. The two
languages have different conditional expressions, so a choice is written as `either(x > y, a, b)`,
or as a list and an index: `[a, b][1 * (x <= y)]`.

Numbers are doubles in both languages, and a division by zero gives infinity. The formulas of
rooflib are in formulas.toml: `rl.ridge(peak, bandwidth)` calls the one of that name, and
`sum(each(rl.step_gains, kinds))` adds up its results for the entries of a list.
"""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

from rooflib.quantities import text

Formula = str | float
"""A number, or an expression as text."""

TABLE: Mapping[str, str] = tomllib.loads(
    Path(__file__).parents[1].joinpath("formulas.toml").read_text(encoding="utf-8")
)
"""rooflib's formulas: from "name(arguments)" to the expression."""

HEAD = re.compile(r"(\w+)\((.*)\)")
CALL = re.compile(r"\brl\.(\w+)")


def _chosen(options: Sequence[Any], place: float) -> Any:
    return options[int(place)]


def is_true(condition: Any) -> bool:
    """Return whether the condition is true in JavaScript, where nan is false."""
    return bool(condition) and condition == condition


def _either(condition: Any, yes: Any, no: Any) -> Any:
    return yes if is_true(condition) else no


def _largest(*numbers: float) -> float:
    """Return the maximum; as in JavaScript, nan if any number is nan."""
    return math.nan if any(number != number for number in numbers) else max(numbers)


def _smallest(*numbers: float) -> float:
    return math.nan if any(number != number for number in numbers) else min(numbers)


FUNCTIONS: dict[str, Any] = {
    "abs": abs,
    "at": _chosen,
    "ceil": np.ceil,
    "cos": np.cos,
    "each": lambda formula, entries, *others: [formula(entry, *others) for entry in entries],
    "either": _either,
    "exp10": lambda x: np.float64(10) ** x,
    "floor": np.floor,
    "indexof": list.index,
    "log10": np.log10,
    "max": _largest,
    "min": _smallest,
    "mod": np.mod,
    "percent": lambda share: text(share, "%"),
    "pi": np.float64(math.pi),
    "pow": pow,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sum": sum,
    "text": text,
}
"""Functions and constants that a formula may use, in addition to the figure's own names."""


def _from_table() -> SimpleNamespace:
    """Return the formulas of TABLE as functions."""
    found = SimpleNamespace()
    names = {"__builtins__": {}, **FUNCTIONS, "rl": found}
    for head, formula in TABLE.items():
        name, arguments = _parsed(head)
        setattr(found, name, eval(f"lambda {arguments}: ({formula})", names))
    return found


def _parsed(head: str) -> tuple[str, str]:
    match = HEAD.fullmatch(head)
    if match is None:
        raise ValueError(f"a formula's key must be name(arguments); got {head!r}")
    return match[1], match[2]


FUNCTIONS["rl"] = _from_table()


def used_formulas(texts: Iterable[str]) -> dict[str, str]:
    """Return the entries of TABLE that these formulas call, directly or indirectly."""
    by_name = {_parsed(head)[0]: (head, formula) for head, formula in TABLE.items()}
    found: dict[str, str] = {}
    waiting = list(texts)
    while waiting:
        for name in CALL.findall(waiting.pop()):
            head, formula = by_name[name]
            if head not in found:
                found[head] = formula
                waiting.append(formula)
    return found


def evaluate(formulas: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Compute every formula from the given values; a formula may use earlier ones.

    Returns
    -------
    dict
        The results by name: float, str, or a list or table of these.
    """
    known = FUNCTIONS | {name: doubles(entry) for name, entry in given.items()}
    results = {}
    with np.errstate(all="ignore"):
        for name, formula in formulas.items():
            found = value(formula, known)
            known[name] = doubles(found)
            results[name] = found if isinstance(found, (str, list, dict)) else float(found)
    return results


def value(formula: Formula, names: Mapping[str, Any]) -> Any:
    """Compute one formula; `names` includes FUNCTIONS."""
    if not isinstance(formula, str):
        return formula
    return eval(_compiled(formula), {"__builtins__": {}}, names)


HAN = "\u3400-\u9fff"
SPACE_IN_CHINESE = re.compile(
    f"(?<=[{HAN}]) (?=[{HAN}])|(?<=[，。；：？！（）、]) | (?=[，。；：？！（）、])"  # noqa: RUF001
)


def joined(words: str) -> str:
    """Remove the spaces between Chinese words that a sentence's placeholders left.

    A translation has a space on both sides of a placeholder, since a number or a name needs them.
    """
    return SPACE_IN_CHINESE.sub("", words)


def along(formulas: Mapping[str, str], *wanted: str, **replaced: str) -> dict[str, str]:
    """Return formulas that recompute the `wanted` ones with some names replaced.

    `along(formulas, "lower", B="pow(2, i)")`, used as a mark's `where`, sets B to 2ⁱ and recomputes
    all formulas between B and `lower`.
    """
    changed, affected = set(replaced), {}
    for name, formula in formulas.items():
        if _names(formula) & changed:
            changed.add(name)
            affected[name] = formula
    needed = set(wanted)
    for name in reversed(affected):
        if name in needed:
            needed |= _names(affected[name])
    return replaced | {name: formula for name, formula in affected.items() if name in needed}


def _names(formula: str) -> set[str]:
    nodes = ast.walk(ast.parse(formula.strip(), mode="eval"))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def doubles(entry: Any) -> Any:
    """Return the value with all its numbers as doubles, in tables and lists too."""
    if isinstance(entry, Mapping):
        return {key: doubles(inner) for key, inner in entry.items()}
    if isinstance(entry, list):
        return [doubles(inner) for inner in entry]
    return np.float64(entry) if isinstance(entry, (int, float)) else entry


@lru_cache(maxsize=4096)
def _compiled(formula: str) -> CodeType:
    return compile(formula.strip(), "<formula>", "eval")
