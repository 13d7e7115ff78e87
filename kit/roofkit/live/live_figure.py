"""`LiveFigure`: controls, formulas and a chart, shown in a page or as a widget in JupyterLab."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from roofkit.live.expressions import evaluate, written
from rooflib._arguments import one_of
from rooflib.units import percent, text

if TYPE_CHECKING:
    import altair as alt
    import ipywidgets  # type: ignore[import-untyped]

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


@dataclass(frozen=True)
class Slider:
    """A control that steps through numbers, mostly of several decades.

    Its positions are listed and not computed, so that every number is the same in Python and in
    the browser, and a round one.
    """

    name: str
    label: str
    values: Sequence[float]
    start: float
    unit: str = ""

    @property
    def options(self) -> list[float]:
        return list(self.values)

    @property
    def texts(self) -> list[str]:
        """The values as the reader sees them."""
        return [text(value, self.unit) for value in self.values]


@dataclass(frozen=True)
class Choice:
    """A control that picks one of a few names."""

    name: str
    label: str
    values: Sequence[str]
    start: str

    @property
    def options(self) -> list[str]:
        return list(self.values)


@dataclass(frozen=True)
class Number:
    """A number that the figure states: the formula it comes from, its label and its unit.

    A unit like "@op" is the value of the formula `op`.
    """

    name: str
    label: str
    unit: str = ""


@dataclass(frozen=True, eq=False)
class LiveFigure:
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
        Vega expressions that are Python too, by name; each may use those above it. If one is
        called "problem", it is empty or says why a setting makes no sense.
    numbers
        The formulas whose values stand below the picture.
    says
        The description below the picture; {name} stands for a control, a formula or a number.
        A formula that chooses between sentences may have such names in them.
    draw
        Makes the chart. Its Vega-Lite parameters are the controls, what is given, the formulas,
        and the numbers as text, under their name with "_text" at the end.
    """

    name: str
    title: str
    controls: Sequence[Slider | Choice]
    given: Mapping[str, Any]
    formulas: Mapping[str, str]
    numbers: Sequence[Number]
    says: str
    draw: Callable[[LiveFigure], alt.LayerChart] = field(repr=False)

    @property
    def settings(self) -> dict[str, Any]:
        """What the controls of the widget stand at now; before it is shown, their start."""
        if "widget" not in self.__dict__:
            return {control.name: control.start for control in self.controls}
        return {name: control.value for name, control in self._inputs.items()}

    def values(self, **settings: Any) -> dict[str, Any]:
        """Every formula's value at these settings; what is not given stays as it stands now.

        Raises
        ------
        ValueError
            If a control has no such position. The message lists the known ones.
        """
        return evaluate(self.formulas, {**self.given, **self._checked(settings)})

    def texts(self, **settings: Any) -> dict[str, str]:
        """What the figure states at these settings: its numbers by name, and "says"."""
        chosen = self._checked(settings)
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

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, with the controls at their start."""
        import altair as alt

        params = [alt.param(name=c.name, value=c.start) for c in self.controls]
        params += [alt.param(name=name, value=value) for name, value in self.given.items()]
        params += [alt.param(name=name, expr=expr) for name, expr in self.formulas.items()]
        params += [
            alt.param(name=f"{n.name}_text", expr=written(n.name, n.unit)) for n in self.numbers
        ]
        chart = self.draw(self).add_params(*params)
        specification: dict[str, Any] = chart.to_dict()
        return specification

    def svg(self, **settings: Any) -> str:
        """The picture at these settings."""
        import vl_convert

        chosen = self._checked(settings)
        params = [
            p | {"value": chosen[p["name"]]} if p["name"] in chosen else p
            for p in self.spec["params"]
        ]
        svg: str = vl_convert.vegalite_to_svg(self.spec | {"params": params, "width": STATIC_WIDTH})
        return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)

    def html(self) -> str:
        """The figure for a static page: picture, controls, words, and what a script needs.

        Without a script the reader sees the picture and its text at the start of the controls.
        """
        needed = {
            "spec": self.spec,
            "controls": {c.name: c.options for c in self.controls},
            "texts": {c.name: c.texts for c in self.controls if isinstance(c, Slider)},
            "says": self.says,
        }
        script = json.dumps(needed, ensure_ascii=False, separators=(",", ":"))
        # "</script>" would end the element early, and "<!--<script>" keep it from ending.
        script = script.replace("<", "\\u003c")
        return (
            f'<figure class="live" data-figure="{self.name}" data-state="still" '
            f'aria-label="{escape(self.title)}">'
            f'<fieldset class="live-controls" disabled><legend>{escape(self.title)}</legend>'
            f"{''.join(map(_control, self.controls))}</fieldset>"
            f"{self._picture_and_words()}"
            f'<script type="application/json">{script}</script></figure>'
        )

    @cached_property
    def widget(self) -> ipywidgets.VBox:
        """The same figure as a widget; `settings` and `values()` follow its controls."""
        import ipywidgets

        picture = ipywidgets.HTML(self._style + self._picture_and_words())

        def redraw(_: object) -> None:
            picture.value = self._style + self._picture_and_words()

        for control in self._inputs.values():
            control.observe(redraw, "value")
        title = ipywidgets.HTML(f"<b>{escape(self.title)}</b>")
        return ipywidgets.VBox([title, *self._inputs.values(), picture])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle = {"text/plain": self.texts()["says"], "text/html": self.html()}
        if os.environ.get(PAGE) != "page":
            shown = self.widget._repr_mimebundle_()
            bundle |= {kind: data for kind, data in shown.items() if "widget" in kind}
        return bundle

    @cached_property
    def _inputs(self) -> dict[str, Any]:
        import ipywidgets

        made: dict[str, Any] = {}
        for control in self.controls:
            look: dict[str, Any] = {
                "description": control.label,
                "value": control.start,
                "style": {"description_width": "11em"},
                "layout": {"width": "32em", "max_width": "100%"},
            }
            if isinstance(control, Slider):
                options = list(zip(control.texts, control.options, strict=True))
                made[control.name] = ipywidgets.SelectionSlider(options=options, **look)
            else:
                made[control.name] = ipywidgets.Dropdown(options=control.options, **look)
        return made

    @property
    def _style(self) -> str:
        from roofkit.live.theme import LAB_STYLE

        return f"<style>{LAB_STYLE}</style>"

    def _picture_and_words(self) -> str:
        values, texts = self.values(), self.texts()
        numbers = "".join(
            f"<div><dt>{_label(n.label)}</dt><dd>"
            f'<data data-name="{n.name}" value="{values[n.name]}">{texts[n.name]}</data></dd></div>'
            for n in self.numbers
        )
        picture = self.svg()
        # As high as the picture that a script puts in its place, so that nothing jumps.
        height = re.search(r'height="([\d.]+)"', picture)
        room = f"--live-height: {height[1]}px" if height else ""
        return (
            f'<div class="live-picture" role="img" aria-label="{escape(self.title)}" '
            f'style="{room}">{picture}</div>'
            f'<p class="live-says" aria-live="polite">{escape(texts["says"])}</p>'
            f'<dl class="live-numbers">{numbers}</dl>'
        )

    def _checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
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


def _label(label: str) -> str:
    """T_math as T with an index, as the chapters write it."""
    letter, _, index = escape(label).partition("_")
    return f"{letter}<sub>{index}</sub>" if index else letter


def _control(control: Slider | Choice) -> str:
    name = f'name="{control.name}"'
    if isinstance(control, Choice):
        options = "".join(
            f"<option{' selected' if value == control.start else ''}>{escape(value)}</option>"
            for value in control.values
        )
        body, value = f"<select {name}>{options}</select>", ""
    else:
        at, texts = control.options.index(control.start), control.texts
        body = (
            f'<input type="range" {name} min="0" max="{len(texts) - 1}" value="{at}" '
            f'aria-valuetext="{texts[at]}">'
        )
        # A reader that speaks has the value from the slider itself.
        value = f'<span class="live-value" aria-hidden="true">{texts[at]}</span>'
    label = f"<span>{escape(control.label)}</span>"
    return f'<div class="live-control"><label>{label}{body}</label>{value}</div>'
