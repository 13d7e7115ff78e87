"""Checks that answers from a sandbox have the types that the probe sends.

A sandbox may send anything. Types are compared exactly, because libraries convert values: from a
hundred thousand short strings and a long one, numpy makes an array that pads all to that length.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from roofkit.check.answers import Answer
from roofkit.check.plain_data import MAX_ENTRIES

MAX_NAME_CHARACTERS = 1_000  # longest key or name
MAX_TEXT_CHARACTERS = 20_000  # longest text in a figure
MAX_FIGURE_ITEMS = 20_000  # most axes, curves, ticks or texts in a figure
MAX_INTEGER = int(sys.float_info.max)  # larger integers cannot be converted to float


def validated(answer: Answer, kind: str) -> Answer:
    """Return the answer; raise ValueError if its value is invalid for the kind."""
    if answer.problem:
        return answer
    value = answer.value
    if kind == "figure":
        _check_figure(value)
    elif kind == "number":
        _check_number(value)
    elif kind == "names":
        _check_each(value, _check_name)
    elif isinstance(value, dict):
        _check_each(list(value), _check_name)
        _check_each(list(value.values()), _check_number)
    else:
        _check_each(value, _check_number)
    return answer


def _check_figure(value: Any) -> None:
    """Check the dictionary that `roofkit.check.plot_reading.facts` makes."""
    types = {"curves": list, "legend": list, "axes": list, "xlabel": str, "ylabel": str}
    facts = _with_types(value, types)
    _check_texts(facts["legend"])
    for axes in _limited(facts["axes"]):
        for axis in _with_types(axes, {"x": dict, "y": dict}).values():
            _check_axis(axis)
    for curve in _limited(facts["curves"]):
        _check_curve(curve, len(facts["axes"]))


def _check_axis(value: Any) -> None:
    types = {"label": str, "limits": list, "scale": str, "ticks": list, "offset": str}
    axis = _with_types(value, types)
    if len(axis["limits"]) != 2 or len(axis["ticks"]) > MAX_FIGURE_ITEMS:
        raise ValueError("not an axis")
    _check_each(axis["limits"], _check_finite)
    for tick in axis["ticks"]:
        if not (isinstance(tick, list) and len(tick) == 2):
            raise ValueError("not a tick")
        _check_finite(tick[0])
        _check_text(tick[1])


def _check_curve(value: Any, axes: int) -> None:
    curve = _with_types(value, {"x": list, "y": list, "axes": int, "seen": bool, "names": list})
    _check_each(curve["x"], _check_finite)
    _check_each(curve["y"], _check_finite)
    if len(curve["x"]) != len(curve["y"]) or not 0 <= curve["axes"] < axes:
        raise ValueError("not a curve")
    _check_texts(curve["names"])


def _check_texts(values: Any) -> None:
    for text in _limited(values):
        _check_text(text)


def _with_types(value: Any, types: Mapping[str, type]) -> dict[str, Any]:
    """Return the value; raise ValueError unless it is a dictionary of these types."""
    if not isinstance(value, dict):
        raise ValueError("not a dictionary")
    for key, kind in types.items():
        if type(value.get(key)) is not kind:
            raise ValueError(f"{key} is missing, or of another type")
        if kind is str:
            _check_text(value[key])
    return value


def _check_each(values: Any, check: Callable[[Any], None]) -> None:
    if not isinstance(values, list) or len(values) > MAX_ENTRIES:
        raise ValueError("not a list of an answer's length")
    for value in values:
        check(value)


def _limited(values: Sequence[Any]) -> Sequence[Any]:
    if len(values) > MAX_FIGURE_ITEMS:
        raise ValueError("more than a figure has")
    return values


def _check_number(value: Any) -> None:
    """Raise ValueError unless this is a number.

    Infinity is accepted: it is the answer to some questions.
    """
    if type(value) is not float and not (type(value) is int and abs(value) <= MAX_INTEGER):
        raise ValueError("not a number")


def _check_finite(value: Any) -> None:
    _check_number(value)
    if not math.isfinite(value):
        raise ValueError("not a finite number")


def _check_text(value: Any) -> None:
    if type(value) is not str or len(value) > MAX_TEXT_CHARACTERS:
        raise ValueError("not a text of a figure's length")


def _check_name(value: Any) -> None:
    if type(value) is not str or len(value) > MAX_NAME_CHARACTERS:
        raise ValueError("not a name")
