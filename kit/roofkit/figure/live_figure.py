"""`LiveFigure`: controls, formulas and a picture that follows them; what all kinds share."""

from __future__ import annotations

import dataclasses
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from roofkit.figure.controls import Control, Number, Slider
from roofkit.figure.expressions import evaluate
from roofkit.figure.own_chip import START, with_own
from rooflib._arguments import one_of
from rooflib.units import percent, text

if TYPE_CHECKING:
    from typing import Self

    import ipywidgets

    from roofkit.figure.widget import Made

PAGE = "ROOFKIT_LIVE"
"""Set this environment variable to "page" and figures show themselves as HTML for a static page."""

BETWEEN_BOUNDS = (
    "['The whole takes between {lower} and {upper}.',"
    " 'The two bounds are nearly equal: the whole takes about {lower}.']"
    "[1 * (upper < 1.01 * lower)]"
)
"""The formula of a sentence. From one hundredth on, three digits show that the bounds differ."""

STATIC_WIDTH = 400
"""Pixels: as wide as a picture can be that a phone shrinks to its screen and stays legible."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LiveFigure(ABC):
    """A figure that follows its controls.

    Attributes
    ----------
    name, title
        What it is called in the page, and what it shows, in a sentence.
    controls
        What the reader moves, in their order.
    given
        Numbers and tables that no control changes.
    formulas
        Expressions that Python and the browser read alike, by name; each may use those above it.
        If one is called "problem", it is empty or says why a setting makes no sense.
    numbers
        The formulas whose values stand below the picture.
    says
        The description below the picture; {name} stands for a control, a formula or a number.
        A formula that chooses between sentences may have such names in them.
    own
        For each table in `given` that has chips as its keys, what the reader's own chip has there:
        the name of a quantity in `roofkit.figure.own_chip`, or a table of names and numbers.
    measures
        Whether a page's reader can press a button that measures their browser, and so sets what is
        given.
    """

    name: str
    title: str
    controls: Sequence[Control]
    given: Mapping[str, Any]
    formulas: Mapping[str, str]
    numbers: Sequence[Number]
    says: str
    own: Mapping[str, Any] = field(default_factory=dict)
    measures: bool = False

    def __repr__(self) -> str:
        return f"<{self.name}: {self.texts()['says']}>"

    @abstractmethod
    def svg(self, **settings: Any) -> str:
        """The picture at these settings, as wide as STATIC_WIDTH."""

    @abstractmethod
    def for_browser(self) -> dict[str, Any]:
        """What the browser draws the picture from, besides the controls and the words."""

    @property
    def tables(self) -> dict[str, Any]:
        """What is given, with the reader's own chip: as typed into the widget, or as at first."""
        made = self.__dict__.get("_widget")
        return with_own(self.given, self.own, made.own if made else START)

    def with_own(self, **numbers: float) -> Self:
        """The same figure with other numbers for the reader's own chip, in SI units."""
        added = with_own(self.given, self.own, START | numbers)
        return dataclasses.replace(self, given=added, own={})

    @property
    def settings(self) -> dict[str, Any]:
        """What the controls of the widget stand at now; before it is shown, their start."""
        if "_widget" not in self.__dict__:
            return {control.name: control.start for control in self.controls}
        return {name: control.value for name, control in self._widget.inputs.items()}

    def values(self, **settings: Any) -> dict[str, Any]:
        """Every formula's value at these settings; what is not given stays as it stands now.

        Raises
        ------
        ValueError
            If a control has no such position. The message lists the known ones.
        """
        return evaluate(self.formulas, {**self.tables, **self.checked(settings)})

    def texts(self, **settings: Any) -> dict[str, str]:
        """What the figure states at these settings: its numbers by name, and "says"."""
        chosen = self.checked(settings)
        values = self.values(**chosen)
        problem = values.get("problem", "")
        if problem:
            return {n.name: "–" for n in self.numbers} | {"says": problem}
        shown = {n.name: _as_text(values[n.name], _unit(n, values)) for n in self.numbers}
        words = {name: value for name, value in values.items() if isinstance(value, str)}
        for control in self.controls:
            at = chosen[control.name]
            words[control.name] = text(at, control.unit) if isinstance(control, Slider) else at
        return shown | {"says": _filled(self.says, words | shown)}

    def html(self) -> str:
        """The figure for a static page: picture, controls, words, and what a script needs.

        Without a script the reader sees the picture and its text at the start of the controls.
        """
        from roofkit.figure.page import figure_html

        return figure_html(self)

    @property
    def widget(self) -> ipywidgets.VBox:
        """The same figure as a widget; `settings` and `values()` follow its controls."""
        return self._widget.box

    @cached_property
    def _widget(self) -> Made:
        from roofkit.figure.widget import made_for

        return made_for(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle = {"text/plain": self.texts()["says"], "text/html": self.html()}
        if os.environ.get(PAGE) != "page":
            shown = self.widget._repr_mimebundle_()
            bundle |= {kind: data for kind, data in shown.items() if "widget" in kind}
        return bundle

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """A value for every control: from `settings`, or else where it stands."""
        known = {control.name: control for control in self.controls}
        for name in settings:
            one_of("the control", name, known)
        chosen = {**self.settings, **settings}
        for name, value in chosen.items():
            if value not in known[name].options:
                allowed = ", ".join(map(str, known[name].options))
                raise ValueError(f"{name} must be one of {allowed}; got {value!r}")
        return chosen


def _unit(number: Number, values: Mapping[str, Any]) -> str:
    return str(values[number.unit[1:]]) if number.unit.startswith("@") else number.unit


def _as_text(value: float, unit: str) -> str:
    return percent(value) if unit == "%" else text(value, unit)


def _filled(sentence: str, words: Mapping[str, str]) -> str:
    """The sentence with every {name} replaced, also those in the words that replace one."""
    return re.sub(r"\{(\w+)\}", lambda name: _filled(words[name[1]], words), sentence)
