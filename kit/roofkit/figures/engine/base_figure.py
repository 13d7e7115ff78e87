"""`BaseFigure`: controls, formulas and a scene that follows them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from roofkit.figures.engine.controls import Control, Number
from roofkit.figures.engine.expressions import (
    FUNCTIONS,
    Formula,
    doubles,
    evaluate,
    joined,
    used_formulas,
)
from roofkit.figures.engine.expressions import value as value_of
from roofkit.figures.engine.own_chip import START, with_own
from roofkit.figures.engine.scene import Mark, drawn
from roofkit.words import language, spoken
from rooflib.checks import one_of
from rooflib.quantities import text

if TYPE_CHECKING:
    from typing import Self

STATIC_WIDTH = 400
"""Pixels: the widest picture that a phone shrinks to its screen and that stays legible."""


@dataclass(frozen=True)
class Handle:
    """A point of the picture that a reader drags by mouse, finger or arrow keys.

    Attributes
    ----------
    name
        Its label for screen readers.
    x, y
        Formulas of its position.
    moves
        By the name of a control, or of a quantity of the reader's own chip: the formula of its
        number when the handle is dragged to `to_x`, `to_y`. A control takes its nearest option. A
        quantity selects the reader's own chip.
    value, least, most
        Formulas of the quantity that it moves from left to right, and of its ends.
    says
        The formula of the value's words, which screen readers announce.
    """

    name: str
    x: Formula
    y: Formula
    moves: Mapping[str, str]
    value: str
    least: Formula
    most: Formula
    says: str

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BaseFigure:
    """A figure that follows its controls; `Figure` adds how it is displayed.

    Attributes
    ----------
    name, title
        Its name in the page, and a sentence that says what it shows.
    controls
        What the reader moves, in order.
    given
        Numbers and tables that no control changes.
    formulas
        Expressions that Python and the browser read alike, by name; each may use those above it.
        If one is called "problem", it is empty or says why a setting makes no sense, with {name}
        for a control or a text.
    numbers
        The formulas whose values stand below the picture.
    says
        The description below the picture; {name} stands for a control, a formula or a number.
        A formula that chooses between sentences may have such names in them.
    marks
        Makes what is drawn, from the back to the front.
    height
        A formula: pixels, which may depend on `wide`.
    handles
        What a reader can drag.
    own
        For each table in `given` that has chips as its keys, the values of the reader's own chip:
        the name of a quantity in `own_chip.QUANTITIES`, or a table of names and numbers.
    ranking, lines
        The title of a list below the numbers, and the formulas of its lines: texts like `says`. A
        line is left out while it is empty.
    measures
        Whether a page's reader can press a button that measures their browser, and so sets what is
        given.
    reads
        The control and the table in `given` to which the reader's model is added, in a widget and
        in a page with Python.
    reader
        Makes JSON of a config file's content, its name and the rows that the figure has already:
        the model's name and row, or what is wrong with it. In a page this is `model_rows.answer`.
    folded, folded_title
        Names of controls that stand in a section which the reader unfolds, and its title.
    language
        The language of its words, such as "zh_CN".
    again
        Makes the figure again, in the language then in force.
    """

    name: str
    title: str
    controls: Sequence[Control]
    given: Mapping[str, Any]
    formulas: Mapping[str, str]
    numbers: Sequence[Number]
    says: str
    marks: Callable[[], Sequence[Mark]]
    height: Formula = 300
    handles: Sequence[Handle] = ()
    own: Mapping[str, Any] = field(default_factory=dict)
    ranking: str = ""
    lines: Sequence[str] = ()
    measures: bool = False
    reads: Sequence[str] = ()
    reader: Callable[[bytes, str, Mapping[str, Any]], str] | None = None
    folded: Sequence[str] = ()
    folded_title: str = ""
    language: str = field(default_factory=language)
    again: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.texts()['says']}>"

    @cached_property
    def scene(self) -> list[Mark]:
        with spoken(self.language):
            return list(self.marks())

    def svg(self, *, width: float = STATIC_WIDTH, **settings: Any) -> str:
        """Draw the picture at these settings, `width` pixels wide."""
        chosen = self.checked(settings)
        known = {**self.tables, **chosen, **self.values(**chosen)}
        svg = drawn(self.scene, known, width, self._height(known, width))
        return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)

    def height_at(self, width: float) -> float:
        """Return the picture's height in pixels, at the current settings."""
        return self._height({**self.tables, **self.settings, **self.values()}, width)

    def _height(self, known: Mapping[str, Any], width: float) -> float:
        names = {name: doubles(entry) for name, entry in known.items()} | {"wide": doubles(width)}
        return float(value_of(self.height, FUNCTIONS | names))

    def for_browser(self) -> dict[str, Any]:
        """Return the data from which the browser draws the picture.

        Controls and words are not included.
        """
        needed = {
            "marks": [mark.as_json() for mark in self.scene],
            "height": self.height,
            "given": dict(self.given),
            "formulas": dict(self.formulas),
            "units": {number.name: number.unit for number in self.numbers},
            "handles": [handle.as_json() for handle in self.handles],
        }
        return needed | {"table": used_formulas(_texts_in(needed))}

    @property
    def tables(self) -> dict[str, Any]:
        """The numbers and tables of `given`, with the reader's own chip and models.

        The reader's own values come from the widget.
        """
        given = with_own(self.given, self.own, self._own_chip())
        for table in self.reads[1:]:
            given[table] = {**given[table], **self._own_rows()}
        return given

    def with_own(self, **numbers: float) -> Self:
        """Return the figure with other numbers for the reader's own chip, in SI units."""
        added = with_own(self.given, self.own, START | numbers)
        again = self.again and partial(_with_own, self.again, numbers)
        return dataclasses.replace(self, given=added, own={}, again=again)

    @property
    def settings(self) -> dict[str, Any]:
        """Current values of the controls.

        Until the widget is shown, they have their initial values.
        """
        return {control.name: control.start for control in self.controls}

    def _own_chip(self) -> Mapping[str, float]:
        return START

    def _own_rows(self) -> Mapping[str, Any]:
        """Return the reader's models as rows of numbers, by name; only a widget has any."""
        return {}

    def options(self, control: Control) -> list[Any]:
        """Return the options of a control, including the reader's models."""
        added = self._own_rows() if control.name in self.reads[:1] else ()
        return [*control.options, *(name for name in added if name not in control.options)]

    def values(self, **settings: Any) -> dict[str, Any]:
        """Compute every formula at these settings.

        Other controls keep their current values.

        Raises
        ------
        ValueError
            If a control has no such position. The message lists the known ones.
        """
        return evaluate(self.formulas, {**self.tables, **self.checked(settings)})

    def texts(self, **settings: Any) -> dict[str, str]:
        """Return texts of numbers and list lines by name, and the description as "says"."""
        chosen = self.checked(settings)
        values = self.values(**chosen)
        words = {name: value for name, value in values.items() if isinstance(value, str)}
        for control in self.controls:
            words[control.name] = control.text(chosen[control.name])
        problem = joined(_filled(values.get("problem", ""), words))
        if problem:
            empty = dict.fromkeys(self.lines, "")
            return {n.name: "–" for n in self.numbers} | empty | {"says": problem}
        shown = {n.name: _as_text(values[n.name], _unit(n, values)) for n in self.numbers}
        known = words | shown
        listed = {line: joined(_filled(values[line], known)) for line in self.lines}
        return shown | listed | {"says": joined(_filled(self.says, known))}

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every control: from `settings`, or else its current value."""
        known = {control.name: control for control in self.controls}
        for name in settings:
            one_of("the control", name, known)
        chosen = {**self.settings, **settings}
        for name, value in chosen.items():
            if value not in (options := self.options(known[name])):
                allowed = ", ".join(map(str, options))
                raise ValueError(f"{name} must be one of {allowed}; got {value!r}")
        return chosen


def _with_own(make: Callable[[], Any], numbers: Mapping[str, float]) -> Any:
    return make().with_own(**numbers)


def _unit(number: Number, values: Mapping[str, Any]) -> str:
    return str(values[number.unit[1:]]) if number.unit.startswith("@") else number.unit


def _as_text(value: float, unit: str) -> str:
    return text(value, unit)


def _filled(sentence: str, words: Mapping[str, str]) -> str:
    """Replace every {name} in the sentence, and recursively in the replacements."""
    return re.sub(r"\{(\w+)\}", lambda name: _filled(words[name[1]], words), sentence)


def _texts_in(data: Any) -> Iterator[str]:
    """Yield the strings of nested tables and lists."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for inner in data.values():
            yield from _texts_in(inner)
    elif isinstance(data, list):
        for inner in data:
            yield from _texts_in(inner)
