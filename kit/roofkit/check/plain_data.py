"""Conversion of any value to plain data, and comparison of plain data.

Plain data are integers, floats, texts, and lists and dictionaries of them: nothing that can run
code, change, or override comparison.
"""

import inspect
import math
import numbers
import operator
from collections.abc import Callable, ItemsView, Iterable, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np

from roofkit.words import _

Plain = Any  # int | float | str | list[Plain] | dict[str, Plain]

MAX_ENTRIES = 100_000  # more than any question asks for; stops endless iterators


class Unusable(Exception):
    """A value that can't be converted to plain data; its args are (problem, detail)."""


def plain(value: object, kind: str) -> Plain:
    """Return the value as plain data of the kind "number", "numbers" or "names".

    Numbers of any library are accepted. Raise Unusable for anything else, and for objects whose
    conversion fails.
    """
    if value is None:
        raise Unusable("nothing", "")
    convert, problem = KINDS[kind]
    try:
        return convert(value)
    except Unusable:
        raise
    except Exception:  # the object's own code may raise anything
        raise Unusable(problem, describe(value)) from None


def describe(value: object) -> str:
    """Describe the value's kind in words, even if the value's own code raises errors."""
    try:
        return _described(value)
    except Exception:
        return _("an object that can't be looked at")


def same(value: Plain, expected: Plain, tolerance: float) -> bool:
    """Return whether two values have the same shape, and agree within the tolerance."""
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


def has_names(value: Plain) -> bool:
    """Return whether this is a list of names; an empty list counts as one."""
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _described(value: object) -> str:
    known: dict[type | tuple[type, ...], str] = {
        type(None): "None",
        (bool, np.bool_): _("True or False"),
        (str, bytes): _("a text"),
        list: _("a list"),
        tuple: _("a tuple"),
        dict: _("a dictionary"),
        (set, frozenset): _("a set"),
        (complex, np.complexfloating): _("a complex number"),
        (numbers.Real, Decimal): _("a number"),
    }
    if shape := _shape(value):
        return _("an array of shape {shape}").format(shape=shape)
    if type(value) is tuple and len(value) == 1:
        return _("a tuple with one entry, as a comma behind a value makes it")
    if hasattr(value, "__next__"):
        said = _("a {kind} object, which hands out its values one by one")
        return said.format(kind=type(value).__name__)
    if inspect.iscoroutine(value):
        return _("what an `async def` returns: write `def`")
    for kind, words in known.items():
        if isinstance(value, kind):
            return words
    if callable(value):
        return _("a function")
    return _("an object of type {kind}").format(kind=type(value).__name__)


def _number(value: object) -> int | float:
    """Return one real number: int, float, fraction, or zero-dimensional array.

    Any object with `item` or `__float__` is accepted, except arrays with entries (even with one),
    texts, Booleans and complex numbers.
    """
    if not _shape(value) and _has(value, "item") and callable(getattr(value, "item", None)):
        value = value.item()  # type: ignore[attr-defined]
    refused = isinstance(value, bool | np.bool_ | complex | np.complexfloating | str | bytes)
    real = isinstance(value, numbers.Real | Decimal)
    if refused or _shape(value) or not (real or _has(value, "__float__", "__index__")):
        raise Unusable("not-a-number", describe(value))
    try:
        result = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise Unusable("too-large", "") from None
    if math.isnan(result):
        raise Unusable("nan", "")
    if isinstance(value, numbers.Integral) and not math.isinf(result):
        return operator.index(value)
    return result


def _has(value: object, *names: str) -> bool:
    """Return whether the value's type has one of these attributes.

    Instances aren't asked, because `__getattr__` may fake any attribute.
    """
    return any(hasattr(type(value), name) for name in names)


def _shape(value: object) -> tuple[int, ...]:
    """Return the shape of an array of any library, () for everything else."""
    shape = getattr(value, "shape", ())
    return tuple(map(int, shape)) if isinstance(shape, tuple) else ()


def _numbers(value: object) -> Plain:
    if isinstance(value, Mapping):
        pairs = _entries(value.items(), value)
        return {str(key): _entry(number, value) for key, number in pairs}
    return [_entry(entry, value) for entry in _listed(value, "not-numbers", ValuesView)]


def _entry(entry: object, whole: object) -> int | float:
    try:
        return _number(entry)
    except Unusable as unusable:
        problem, detail = unusable.args
        if problem != "not-a-number":
            raise
        within = _within(describe(whole), detail)
        raise Unusable("not-numbers", within) from None


def _within(whole: str, entry: str) -> str:
    return _("{whole} in which there is {entry}").format(whole=whole, entry=entry)


def _names(value: object) -> list[str]:
    if isinstance(value, Mapping):
        if any(isinstance(entry, bool | np.bool_) for entry in _entries(value.values(), value)):
            said = _("a dictionary that says True or False for each name")
            raise Unusable("not-names", said)
        value = value.keys()
    entries = _listed(value, "not-names", set | frozenset | KeysView | ValuesView)
    for entry in entries:
        if not isinstance(entry, str):
            within = _within(describe(value), describe(entry))
            raise Unusable("not-names", within)
    return sorted({str(entry) for entry in entries})


def _listed(value: object, problem: str, others: Any) -> list[Any]:
    """Return the entries of a sequence, a 1-D array, or a value of type `others`."""
    text = isinstance(value, str | bytes | bytearray | ItemsView)
    if not text and len(_shape(value)) == 1 and _has(value, "tolist"):
        value = value.tolist()  # type: ignore[attr-defined]
    elif not text and isinstance(value, others):
        value = _entries(value, value)
    if text or not isinstance(value, list | tuple | Sequence):
        raise Unusable(problem, describe(value))
    return _entries(value, value)


def _entries(values: Iterable[Any], whole: object) -> list[Any]:
    """Return all entries; raise Unusable if there are more than MAX_ENTRIES."""
    entries = list(islice(iter(values), MAX_ENTRIES + 1))
    if len(entries) > MAX_ENTRIES:
        raise Unusable("too-many", describe(whole))
    return entries


KINDS: dict[str, tuple[Callable[[object], Plain], str]] = {
    "number": (_number, "not-a-number"),
    "numbers": (_numbers, "not-numbers"),
    "names": (_names, "not-names"),
}
