"""From any value to plain data, and whether two of those are the same.

Plain data are whole numbers, floats, texts, and lists and dictionaries of them: nothing that could
run code, change, or compare itself with something else.
"""

import math
import numbers
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from decimal import Decimal
from typing import Any

import numpy as np

Plain = Any  # int | float | str | list[Plain] | dict[str, Plain]


class Unusable(Exception):
    """The value can't be made plain: (problem, detail)."""


def plain(value: object, kind: str) -> Plain:
    """The value as plain data of this kind."""
    if value is None:
        raise Unusable("nothing", "")
    if kind == "number":
        return _number(value)
    return _names(value) if kind == "names" else _numbers(value)


def describe(value: object) -> str:
    """The value's kind, in words."""
    known: dict[type, str] = {
        bool: "True or False",
        str: "a text",
        bytes: "a text",
        list: "a list",
        tuple: "a tuple",
        dict: "a dictionary",
        set: "a set",
        complex: "a complex number",
    }
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if _lazy(value):
        return f"a {type(value).__name__} object, which hands out its values one by one"
    for kind, words in known.items():
        if isinstance(value, kind):
            return words
    if callable(value):
        return "a function"
    return f"an object of type {type(value).__name__}"


def same(value: Plain, expected: Plain, tolerance: float) -> bool:
    """Equal in shape and, up to the relative tolerance, in every number."""
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(same(value[key], expected[key], tolerance) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(same(*pair, tolerance) for pair in zip(value, expected, strict=True))
        )
    if expected is None or isinstance(expected, str) or isinstance(value, str | list | dict):
        return bool(value == expected)
    return math.isclose(value, expected, rel_tol=tolerance, abs_tol=0.0)


def _number(value: object) -> int | float:
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
        raise Unusable("not-a-number", describe(value))
    try:
        result = float(value)
    except OverflowError:
        raise Unusable("too-large", "") from None
    if math.isnan(result):
        raise Unusable("nan", "")
    return int(value) if isinstance(value, numbers.Integral) else result


def _numbers(value: object) -> Plain:
    if isinstance(value, Mapping):
        return {str(key): _number(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, ValuesView):
        value = list(value)
    if not isinstance(value, list | tuple):
        raise Unusable("not-numbers", describe(value))
    return [_number(entry) for entry in value]


def _names(value: object) -> list[str]:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, ItemsView) or not isinstance(
        value, list | tuple | set | frozenset | Mapping | KeysView | ValuesView
    ):
        raise Unusable("not-names", describe(value))
    entries = list(value)
    for entry in entries:
        if not isinstance(entry, str):
            raise Unusable("not-names", f"a list in which there is {describe(entry)}")
    return sorted({str(entry) for entry in entries})


def _lazy(value: object) -> bool:
    return hasattr(value, "__next__")
