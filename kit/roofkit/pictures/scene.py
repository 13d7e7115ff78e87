"""A scene: marks whose places and looks are formulas, drawn alike by Python and by the browser.

The language of the formulas is that of `roofkit.figure.expressions`, with a few functions more.
Besides the figure's own names a formula knows `wide`, the width of the picture in pixels, and in a
mark that is drawn several times `i`, which counts from 0. One unit of a scene is one pixel, so that
letters have their size on a phone, too.

`site/live_figures/scene.js` is the same in JavaScript; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from types import CodeType
from typing import Any, Literal

import numpy as np

from roofkit.figure.expressions import FUNCTIONS, doubles
from rooflib.units import percent, text

Formula = str | float
"""A number, or an expression as text."""

Shape = Literal["rect", "line", "arrow", "text", "circle", "path"]
HEAD = 7
"""Length of an arrow's head in pixels."""
FAR = 1e9
"""Pixels: what lies farther away, as infinity does, is drawn there."""


def _chosen(options: Sequence[Any], place: float) -> Any:
    return options[int(place)]


def _true(condition: Any) -> bool:
    """As in JavaScript a nan is false."""
    return bool(condition) and condition == condition


def _either(condition: Any, yes: Any, no: Any) -> Any:
    return yes if _true(condition) else no


def _largest(*numbers: float) -> float:
    """As in JavaScript a nan makes it a nan, wherever it stands."""
    return math.nan if any(number != number for number in numbers) else max(numbers)


def _smallest(*numbers: float) -> float:
    return math.nan if any(number != number for number in numbers) else min(numbers)


SCENE_FUNCTIONS: Mapping[str, Any] = FUNCTIONS | {
    "abs": abs,
    "at": _chosen,
    "ceil": np.ceil,
    "cos": np.cos,
    "either": _either,
    "exp10": lambda x: np.float64(10) ** x,
    "log10": np.log10,
    "max": _largest,
    "min": _smallest,
    "mod": np.mod,
    "percent": percent,
    "pi": np.float64(math.pi),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "text": text,
}


@dataclass(frozen=True)
class Mark:
    """A shape, drawn `each` times.

    Attributes
    ----------
    shape
        "rect", "line", "text", "circle" and "path" as in SVG; "arrow" is a line with a head.
    look
        A formula for each attribute of SVG, and for "text" the words. In a path, "d" is a
        formula, too.
    each
        How many times.
    where
        Formulas of the mark's own, in their order; each may use those above it, and `i`.
    shown
        Whether a time is drawn at all.
    name
        What a test finds it by.
    """

    shape: Shape
    look: Mapping[str, Formula]
    each: Formula = 1
    where: Mapping[str, Formula] = field(default_factory=dict)
    shown: Formula = 1
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        """What the browser needs, without what is as usual."""
        full = {
            "shape": self.shape,
            "look": dict(self.look),
            "each": self.each,
            "where": dict(self.where),
            "shown": self.shown,
            "name": self.name,
        }
        usual: dict[str, Any] = {"each": 1, "where": {}, "shown": 1, "name": ""}
        return {key: value for key, value in full.items() if usual.get(key) != value}


def drawn(marks: Sequence[Mark], known: Mapping[str, Any], wide: float, high: float) -> str:
    """The marks as SVG, with the names in `known`.

    Parameters
    ----------
    wide, high
        Pixels.
    """
    names = {**SCENE_FUNCTIONS, **{name: doubles(value) for name, value in known.items()}}
    names["wide"] = np.float64(wide)
    with np.errstate(all="ignore"):
        body = "".join(_group(mark, names) for mark in marks)
    size = f'width="{_short(wide)}" height="{_short(high)}"'
    box = f'viewBox="0 0 {_short(wide)} {_short(high)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>{body}</svg>'


def value(formula: Formula, names: Mapping[str, Any]) -> Any:
    """What a formula comes to."""
    if not isinstance(formula, str):
        return formula
    return eval(_compiled(formula), {"__builtins__": {}}, names)


def _group(mark: Mark, names: Mapping[str, Any]) -> str:
    shapes = []
    for i in range(int(value(mark.each, names))):
        own = {**names, "i": np.float64(i)}
        for name, formula in mark.where.items():
            own[name] = doubles(value(formula, own))
        if _true(value(mark.shown, own)):
            looks = {key: value(formula, own) for key, formula in mark.look.items()}
            shapes.append(_shape(mark.shape, looks))
    if not shapes:
        return ""
    label = f' data-mark="{mark.name}"' if mark.name else ""
    return f"<g{label}>{''.join(shapes)}</g>"


def _shape(shape: Shape, looks: dict[str, Any]) -> str:
    if shape == "arrow":
        return _arrow(looks)
    words = _written(looks.pop("text", ""))
    inner = f">{words}</{shape}>" if shape == "text" else "/>"
    return f"<{shape} {_attributes(looks)}{inner}"


def _arrow(looks: dict[str, Any]) -> str:
    x1, y1, x2, y2 = (float(looks.pop(name)) for name in ("x1", "y1", "x2", "y2"))
    length = math.hypot(x2 - x1, y2 - y1)
    if length == 0:
        return ""
    # The head is never longer than the arrow, and the line ends inside it.
    head = min(HEAD, length)
    along, up = (x2 - x1) / length, (y2 - y1) / length
    x, y = x2 - head * along, y2 - head * up
    side = 0.45 * head
    ends = (x - side * up, y + side * along, x2, y2, x + side * up, y - side * along)
    colour = looks.get("stroke", "currentColor")
    line = {"x1": x1, "y1": y1, "x2": x, "y2": y, **looks}
    tip = "M{} {}L{} {}L{} {}Z".format(*map(_short, ends))
    faded = {"opacity": looks["opacity"]} if "opacity" in looks else {}
    return f"<line {_attributes(line)}/><path {_attributes({'d': tip, 'fill': colour, **faded})}/>"


def _attributes(looks: Mapping[str, Any]) -> str:
    return " ".join(f'{key}="{_written(value)}"' for key, value in looks.items())


def _written(value: Any) -> str:
    return escape(value) if isinstance(value, str) else _short(float(value))


def _short(number: float) -> str:
    """To a hundredth of a pixel; SVG knows neither infinity nor nan."""
    shown = f"{min(FAR, max(-FAR, 0 if math.isnan(number) else number)):.2f}"
    shown = shown.rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


@lru_cache(maxsize=4096)
def _compiled(formula: str) -> CodeType:
    return compile(formula.strip(), "<formula>", "eval")
