"""Whether an answer has the form that the probe gives it: out of a sandbox anything may come.

Types are held one by one, since libraries convert: numpy makes of a hundred thousand short texts
and one long one an array in which each is as long.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from roofkit.check.answers import Answer
from roofkit.check.plain_data import MOST

NAME = 1_000  # characters of a key, and of a name
TEXT = 20_000  # characters of a text in a figure
TEXTS = 20_000  # texts in a figure
LARGEST = int(sys.float_info.max)  # whole numbers beyond are no float


def fit(answer: Answer, kind: str) -> Answer:
    """The answer, if its value is of this kind. ValueError if it is anything else."""
    if answer.problem:
        return answer
    value = answer.value
    if kind == "figure":
        _figure(value)
    elif kind == "number":
        _number(value)
    elif kind == "names":
        _all(value, _name)
    elif isinstance(value, dict):
        _all(list(value), _name)
        _all(list(value.values()), _number)
    else:
        _all(value, _number)
    return answer


def _figure(value: Any) -> None:
    """See `roofkit.check.plot_reading.figure_facts`."""
    facts = _has(
        value, {"curves": list, "legend": bool, "axes": list, "xlabel": str, "ylabel": str}
    )
    _whole(facts.get("entries", 0))
    for axes in _few(facts["axes"]):
        for axis in _has(axes, {"x": dict, "y": dict}).values():
            _axis(axis)
    for curve in _few(facts["curves"]):
        _curve(curve, len(facts["axes"]))


def _axis(value: Any) -> None:
    axis = _has(value, {"label": str, "limits": list, "scale": str, "ticks": list, "offset": str})
    if len(axis["limits"]) != 2 or len(axis["ticks"]) > TEXTS:
        raise ValueError("not an axis")
    _all(axis["limits"], _finite)
    for tick in axis["ticks"]:
        if not (isinstance(tick, list) and len(tick) == 2):
            raise ValueError("not a tick")
        _finite(tick[0])
        _text(tick[1])


def _curve(value: Any, axes: int) -> None:
    curve = _has(
        value,
        {
            **{"x": list, "y": list, "axes": int, "seen": bool, "same_look": bool},
            **{"legend": list, "texts": list, "between": list},
        },
    )
    _all(curve["x"], _finite)
    _all(curve["y"], _finite)
    if len(curve["x"]) != len(curve["y"]) or not 0 <= curve["axes"] < axes:
        raise ValueError("not a curve")
    for kind in ("legend", "texts", "between"):
        for text in _few(curve[kind]):
            _text(text)


def _has(value: Any, types: Mapping[str, type]) -> dict[str, Any]:
    """The value, a dictionary with these keys and types of values."""
    if not isinstance(value, dict):
        raise ValueError("not a dictionary")
    for key, kind in types.items():
        if type(value.get(key)) is not kind:
            raise ValueError(f"{key} is missing, or of another type")
        if kind is str:
            _text(value[key])
    return value


def _all(values: Any, check: Any) -> None:
    if not isinstance(values, list) or len(values) > MOST:
        raise ValueError("not a list of an answer's length")
    for value in values:
        check(value)


def _few(values: Sequence[Any]) -> Sequence[Any]:
    if len(values) > TEXTS:
        raise ValueError("more than a figure has")
    return values


def _number(value: Any) -> None:
    """Infinity is one: some questions ask for it."""
    if type(value) is not float and not (type(value) is int and abs(value) <= LARGEST):
        raise ValueError("not a number")


def _finite(value: Any) -> None:
    _number(value)
    if not math.isfinite(value):
        raise ValueError("not a place in a figure")


def _whole(value: Any) -> None:
    if type(value) is not int:
        raise ValueError("not a whole number")


def _text(value: Any) -> None:
    if type(value) is not str or len(value) > TEXT:
        raise ValueError("not a text of a figure's length")


def _name(value: Any) -> None:
    if type(value) is not str or len(value) > NAME:
        raise ValueError("not a name")
