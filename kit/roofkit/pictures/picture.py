"""`Picture`: a live figure that is drawn as a scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from roofkit.figure.expressions import doubles, evaluate
from roofkit.figure.live_figure import STATIC_WIDTH, LiveFigure
from roofkit.pictures.scene import SCENE_FUNCTIONS, Formula, Mark, drawn, value


@dataclass(frozen=True)
class Handle:
    """A place in the picture that a reader takes hold of, by mouse, finger or arrow keys.

    Attributes
    ----------
    name
        What it is called aloud.
    x, y
        Formulas of its place.
    moves
        For a control, or a quantity of the reader's own chip: a formula of the number that belongs
        to a place, which it knows as `to_x` and `to_y`. A control goes to its nearest position. A
        quantity makes the chip the reader's own.
    says
        The formula that is read aloud for its place.
    """

    name: str
    x: Formula
    y: Formula
    moves: Mapping[str, str]
    says: str

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "x": self.x,
            "y": self.y,
            "moves": dict(self.moves),
            "says": self.says,
        }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Picture(LiveFigure):
    """A live figure whose picture is a scene.

    Attributes
    ----------
    marks
        What is drawn, from the back to the front.
    height
        A formula: pixels, which may depend on `wide`.
    handles
        What a reader can take hold of.
    """

    marks: Callable[[], Sequence[Mark]]
    height: Formula = 300
    handles: Sequence[Handle] = ()

    @cached_property
    def scene(self) -> list[Mark]:
        return list(self.marks())

    def svg(self, *, width: float = STATIC_WIDTH, **settings: Any) -> str:
        """The picture at these settings, `width` pixels wide."""
        chosen = self.checked(settings)
        known = {**self.tables, **chosen, **self.values(**chosen)}
        names = {name: doubles(entry) for name, entry in known.items()} | {"wide": doubles(width)}
        high = value(self.height, {**SCENE_FUNCTIONS, **names})
        svg = drawn(self.scene, known, width, high)
        return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)

    def values(self, **settings: Any) -> dict[str, Any]:
        known = {**SCENE_FUNCTIONS, **self.tables, **self.checked(settings)}
        return evaluate(self.formulas, known)

    def for_browser(self) -> dict[str, Any]:
        return {
            "marks": [mark.as_json() for mark in self.scene],
            "height": self.height,
            "given": dict(self.given),
            "formulas": dict(self.formulas),
            "units": {number.name: number.unit for number in self.numbers},
            "handles": [handle.as_json() for handle in self.handles],
        }
