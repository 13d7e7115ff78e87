"""From what a learner's function returns to plain data that can be compared, sent and stored.

Plain data are whole numbers, floats, texts, and lists and dictionaries of them: nothing that could
run code, change, or compare itself with something else.
"""

import inspect
import math
import numbers
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from .plot_reading import facts

Plain = Any  # int | float | str | list[Plain] | dict[str, Plain]


@dataclass(frozen=True)
class Answer:
    """What came of one call: a plain value, or the problem that stood in the way.

    `detail` may quote what the function was given or said, so it is for the learner's own eyes.
    """

    value: Plain = None
    problem: str = ""
    detail: str = ""


class _Unusable(Exception):
    """The value can't be made plain: (problem, detail)."""


def ask(function: Callable[..., object], case: Mapping[str, Any], kind: str) -> Answer:
    """Call `function` with a copy of the keyword arguments `case` and take its value out."""
    case = deepcopy(dict(case))
    if not callable(function):
        return Answer(problem="not-a-function", detail=describe(function))
    if not _accepts(function, case, figure=kind == "figure"):
        return Answer(problem="arguments", detail=", ".join(case))
    try:
        if kind == "figure":
            return Answer(value=facts(function, case))
        return Answer(value=plain(function(**case), kind))
    except _Unusable as unusable:
        problem, detail = unusable.args
        return Answer(problem=problem, detail=detail)
    except NotImplementedError:
        return Answer(problem="unwritten")
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        return Answer(problem="raised", detail=text + _line(error))


def plain(value: object, kind: str) -> Plain:
    """The value as plain data of this kind."""
    if value is None:
        raise _Unusable("nothing", "")
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


def _number(value: object) -> int | float:
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
        raise _Unusable("not-a-number", describe(value))
    try:
        result = float(value)
    except OverflowError:
        raise _Unusable("too-large", "") from None
    if math.isnan(result):
        raise _Unusable("nan", "")
    return int(value) if isinstance(value, numbers.Integral) else result


def _numbers(value: object) -> Plain:
    if isinstance(value, Mapping):
        return {str(key): _number(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, ValuesView):
        value = list(value)
    if not isinstance(value, list | tuple):
        raise _Unusable("not-numbers", describe(value))
    return [_number(entry) for entry in value]


def _names(value: object) -> list[str]:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, ItemsView) or not isinstance(
        value, list | tuple | set | frozenset | Mapping | KeysView | ValuesView
    ):
        raise _Unusable("not-names", describe(value))
    entries = list(value)
    for entry in entries:
        if not isinstance(entry, str):
            raise _Unusable("not-names", f"a list in which there is {describe(entry)}")
    return sorted({str(entry) for entry in entries})


def _lazy(value: object) -> bool:
    return hasattr(value, "__next__")


def _accepts(function: Callable[..., object], case: Mapping[str, Any], figure: bool) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True  # no signature to be had: the call itself will tell
    try:
        signature.bind(*([None] if figure else []), **case)
    except TypeError:
        return False
    return True


def _line(error: BaseException) -> str:
    """Where in the learner's own cell it happened: the last line that isn't in a file."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "ipykernel" in code.co_filename or code.co_filename.startswith("<ipython"):
            where = f" (line {trace.tb_lineno} of the cell with {code.co_name})"
        trace = trace.tb_next
    return where
