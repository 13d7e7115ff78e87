"""Formulas as text that Python and the browser read alike.

A formula is a Vega expression in the part of the language that is also Python: names, numbers,
strings, lists, + - * /, comparisons, subscripts and the functions in `FUNCTIONS`. A choice is a
list and a condition, `[a, b][1 * (x > y)]`, since the two languages write `if` differently.
Numbers are doubles on both sides, and a division by zero is infinite on both.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

FUNCTIONS: dict[str, Any] = {
    "max": max,
    "min": min,
    "pow": pow,
    "ceil": np.ceil,
    "floor": np.floor,
    "indexof": list.index,
}


def evaluate(formulas: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Compute every formula from the given values; a formula may use those above it.

    Returns
    -------
    dict
        The results by name: float or str.
    """
    known = FUNCTIONS | {name: doubles(value) for name, value in given.items()}
    results = {}
    with np.errstate(all="ignore"):
        for name, formula in formulas.items():
            value = eval(formula, {"__builtins__": {}}, known)
            known[name] = doubles(value)
            results[name] = value if isinstance(value, str) else float(value)
    return results


def inlined(name: str, formulas: Mapping[str, str], **replaced: str) -> str:
    """One formula written out in terms of what is given, with some names replaced.

    `inlined("t", {"n": "2 * B", "t": "n / 3"}, B="datum.B")` is "2 * datum.B / 3": the same
    formula along a curve instead of at a point.
    """

    class Substitution(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in replaced:
                return ast.parse(replaced[node.id], mode="eval").body
            if node.id in formulas:
                inner: ast.expr = self.visit(ast.parse(formulas[node.id], mode="eval").body)
                return inner
            return node

    return ast.unparse(Substitution().visit(ast.parse(formulas[name], mode="eval").body))


def written(name: str, unit: str) -> str:
    """A Vega expression that writes a number as `rooflib.units.text` and `percent` do.

    A unit like "@op" stands for a prefix that suits the size and the text of the signal `op`.
    """
    if unit == "%":
        # As many digits as it takes not to round a share below one up to 100%.
        more = f"max(2, 3 + floor(log(0.005 / (1 - {name})) / LN10))"
        return f"format(100 * {name}, '.' + ({name} < 1 ? {more} : 2) + '~r') + '%'"
    space, digits = "\N{NO-BREAK SPACE}", "([a-zA-Zµ]?)$"
    plain = f"({name} >= 999.5 ? format({name}, ',.0f') : format({name}, '.3~r'))"
    if unit == "s":
        small = f"replace(format({name}, '.3~s'), regexp('{digits}'), '{space}$1s')"
        shown = f"{name} >= 0.9995 ? {plain} + '{space}s' : {small}"
    elif unit.startswith("@"):
        shown = f"replace(format({name}, '.3~s'), regexp('{digits}'), '{space}$1' + {unit[1:]})"
    elif unit in ("FLOP", "FLOP/s", "OP", "OP/s", "B", "B/s"):
        shown = f"replace(format({name}, '.3~s'), regexp('{digits}'), '{space}$1{unit}')"
    else:
        shown = f"{plain} + '{space}{unit}'" if unit else plain
    return f"isFinite({name}) ? ({shown}) : '∞{space + unit if unit else ''}'"


def doubles(value: Any) -> Any:
    """The value with its numbers as doubles, also inside a table."""
    if isinstance(value, Mapping):
        return {key: doubles(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [doubles(inner) for inner in value]
    return np.float64(value) if isinstance(value, (int, float)) else value
