"""Scenes: marks with formulas as attributes, drawn as SVG here and in scene.js.

A formula may use the figure's names; `wide`, the width of the picture in pixels; and `i`, which
counts the copies of a mark from 0. One unit of a scene is one pixel, so that text keeps its size on
a phone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

import numpy as np

from roofkit.figures.engine.expressions import FUNCTIONS, Formula, doubles, is_true, joined, value

Shape = Literal["rect", "line", "arrow", "text", "circle", "path", "curve"]
HEAD_LENGTH = 7
"""Length of an arrow's head in pixels."""
MAX_PIXELS = 1e9
"""Limit to which larger coordinates, including infinity, are clamped."""


@dataclass(frozen=True)
class Mark:
    """A shape that is drawn `each` times, or a curve through `each` points.

    Attributes
    ----------
    shape
        "rect", "line", "text", "circle" and "path" as in SVG; "arrow" is a line with a head, and
        "curve" one path through the points (x, y), of which there are `each`.
    look
        A formula for each SVG attribute; "text" is the content of a text. All attributes of a
        curve except "x" and "y" are evaluated at its first point.
    each
        The number of copies, or of points of a curve.
    where
        Formulas local to the mark, in order; each may use `i` and earlier ones.
    shown
        Whether to draw a copy, or a point of a curve.
    clip
        x, y, width and height of the clipping box.
    name
        A name by which tests find the mark.
    """

    shape: Shape
    look: Mapping[str, Formula]
    each: Formula = 1
    where: Mapping[str, Formula] = field(default_factory=dict)
    shown: Formula = 1
    clip: Sequence[Formula] = ()
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields for the browser, without those that have default values."""
        full = {
            "shape": self.shape,
            "look": dict(self.look),
            "each": self.each,
            "where": dict(self.where),
            "shown": self.shown,
            "clip": list(self.clip),
            "name": self.name,
        }
        defaults: dict[str, Any] = {"each": 1, "where": {}, "shown": 1, "clip": [], "name": ""}
        return {key: value for key, value in full.items() if defaults.get(key) != value}


def drawn(marks: Sequence[Mark], known: Mapping[str, Any], wide: float, high: float) -> str:
    """Draw the marks as SVG; their formulas may use the names in `known`.

    Parameters
    ----------
    wide, high
        Pixels.
    """
    names = {**FUNCTIONS, **{name: doubles(value) for name, value in known.items()}}
    names["wide"] = np.float64(wide)
    with np.errstate(all="ignore"):
        body = "".join(_group(mark, names) for mark in marks)
    size = f'width="{_short(wide)}" height="{_short(high)}"'
    box = f'viewBox="0 0 {_short(wide)} {_short(high)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>{body}</svg>'


def _group(mark: Mark, names: Mapping[str, Any]) -> str:
    looks = []
    for i in range(int(value(mark.each, names))):
        own = {**names, "i": np.float64(i)}
        for name, formula in mark.where.items():
            own[name] = doubles(value(formula, own))
        if is_true(value(mark.shown, own)):
            looks.append({key: value(formula, own) for key, formula in mark.look.items()})
    if not looks:
        return ""
    if mark.shape == "curve":
        shapes = _curve(looks)
    else:
        shapes = "".join(_shape(mark.shape, look) for look in looks)
    if mark.clip:
        shapes = _clipped(shapes, [_short(float(value(side, names))) for side in mark.clip])
    label = f' data-mark="{mark.name}"' if mark.name else ""
    return f"<g{label}>{shapes}</g>"


def _clipped(shapes: str, box: Sequence[str]) -> str:
    """Clip shapes with an inner SVG; unlike a clipping path, it needs no unique id."""
    x, y, width, height = box
    place = f'x="{x}" y="{y}" width="{width}" height="{height}"'
    return f'<svg {place} viewBox="{" ".join(box)}" overflow="hidden">{shapes}</svg>'


def _curve(points: Sequence[Mapping[str, Any]]) -> str:
    d = "M" + "L".join(f"{_short(float(p['x']))} {_short(float(p['y']))}" for p in points)
    look = {key: value for key, value in points[0].items() if key not in ("x", "y")}
    return f"<path {_attributes({'d': d, 'fill': 'none', **look})}/>"


def _shape(shape: Shape, look: dict[str, Any]) -> str:
    if shape == "arrow":
        return _arrow(look)
    words = look.pop("text", "")
    words = _written(joined(words) if isinstance(words, str) else words)
    inner = f">{words}</{shape}>" if shape == "text" else "/>"
    return f"<{shape} {_attributes(look)}{inner}"


def _arrow(look: dict[str, Any]) -> str:
    x1, y1, x2, y2 = (float(look.pop(name)) for name in ("x1", "y1", "x2", "y2"))
    length = math.hypot(x2 - x1, y2 - y1)
    if length == 0:
        return ""
    # The head is at most as long as the arrow, and the line ends at its base.
    head = min(HEAD_LENGTH, length)
    along, up = (x2 - x1) / length, (y2 - y1) / length
    x, y = x2 - head * along, y2 - head * up
    side = 0.45 * head
    ends = (x - side * up, y + side * along, x2, y2, x + side * up, y - side * along)
    color = look.get("stroke", "currentColor")
    line = {"x1": x1, "y1": y1, "x2": x, "y2": y, **look}
    tip = "M{} {}L{} {}L{} {}Z".format(*map(_short, ends))
    opacity = {"opacity": look["opacity"]} if "opacity" in look else {}
    return f"<line {_attributes(line)}/><path {_attributes({'d': tip, 'fill': color, **opacity})}/>"


def _attributes(look: Mapping[str, Any]) -> str:
    return " ".join(f'{key}="{_written(value)}"' for key, value in look.items())


def _written(value: Any) -> str:
    return escape(value) if isinstance(value, str) else _short(float(value))


def _short(number: float) -> str:
    """Format a coordinate with two decimals; SVG has no infinity and no nan."""
    near = min(MAX_PIXELS, max(-MAX_PIXELS, 0 if math.isnan(number) else number))
    shown = f"{near:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown
