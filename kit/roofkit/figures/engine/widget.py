"""A figure as a widget in JupyterLab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from roofkit.figures.engine.controls import Control, Slider, Steps
from roofkit.figures.engine.own_chip import LAB_HINT, OWN, QUANTITIES, START
from roofkit.figures.engine.page import picture_and_words

if TYPE_CHECKING:
    import ipywidgets

    from roofkit.figures.engine.base_figure import BaseFigure

LOOK: dict[str, Any] = {
    "style": {"description_width": "11em"},
    "layout": {"width": "32em", "max_width": "100%"},
}
FIELD: dict[str, Any] = {
    "style": {"description_width": "17em"},
    "layout": {"width": "26em", "max_width": "100%"},
}
STEP_MS = 900


@dataclass(frozen=True)
class Made:
    """A figure's widget, and its inputs.

    Attributes
    ----------
    inputs
        The input widgets, by the name of their control.
    own
        The numbers of the reader's own chip, in SI units.
    """

    box: ipywidgets.VBox
    inputs: Mapping[str, Any]
    own: dict[str, float]


def made_for(figure: BaseFigure) -> Made:
    """Make the widget of a figure; from then on the figure follows it."""
    import ipywidgets

    from roofkit.figures.engine.colors import LAB_STYLE

    inputs = {control.name: _input(control) for control in figure.controls}
    players = {
        control.name: _player(inputs[control.name])
        for control in figure.controls
        if isinstance(control, Steps)
    }
    style = f"<style>{LAB_STYLE}</style>"
    picture = ipywidgets.HTML()
    title = ipywidgets.HTML(f"<b>{escape(figure.title)}</b>")
    rows = [
        ipywidgets.HBox([inputs[name], players[name]]) if name in players else inputs[name]
        for name in inputs
    ]
    fields = _fields() if figure.own else {}
    words = {name: ipywidgets.HTML() for name in fields}
    typed = [each for name in fields for each in (fields[name], words[name])]
    folded = [_folded(typed)] if fields else []

    def redraw(_: object) -> None:
        values = figure.values()
        for control in figure.controls:
            if not isinstance(control, Steps):
                continue
            steps, last = inputs[control.name], int(values[control.last])
            last = min(last, len(control.options) - 1)
            # Buttons stop at the last step, and the slider returns to it from beyond.
            players[control.name].max = last
            if steps.index > last:
                steps.index = last
                return
        picture.value = style + picture_and_words(figure)

    def take(name: str, number: float) -> None:
        quantity = QUANTITIES[name]
        problem = quantity.problem(number, made.own[name] / quantity.factor)
        words[name].value = escape(problem)
        if problem:
            return
        made.own[name] = number * quantity.factor
        for control in inputs.values():
            if OWN in control.options:
                control.value = OWN
        redraw(None)

    made = Made(ipywidgets.VBox([title, *rows, *folded, picture]), inputs, dict(START))
    # Set before the first picture, for which the figure reads its inputs.
    figure.__dict__["_widget"] = made
    redraw(None)
    for control in inputs.values():
        control.observe(redraw, "value")
    for name, field in fields.items():
        field.observe(lambda change, name=name: take(name, change["new"]), "value")
    return made


def _fields() -> dict[str, Any]:
    """Make a field for each number of the reader's own chip."""
    import ipywidgets

    return {
        name: ipywidgets.FloatText(
            value=quantity.start, description=f"{quantity.label} ({quantity.unit})", **FIELD
        )
        for name, quantity in QUANTITIES.items()
    }


def _folded(fields: list[Any]) -> Any:
    import ipywidgets

    inside = ipywidgets.VBox([ipywidgets.HTML(LAB_HINT), *fields])
    return ipywidgets.Accordion([inside], titles=[OWN.capitalize()], selected_index=None)


def _input(control: Control) -> Any:
    import ipywidgets

    look = {"description": control.label, "value": control.start, **LOOK}
    if isinstance(control, Slider):
        options = list(zip(control.texts, control.options, strict=True))
        return ipywidgets.SelectionSlider(options=options, **look)
    return ipywidgets.Dropdown(options=control.options, **look)


def _player(steps: Any) -> Any:
    """Make buttons that play a slider's steps in the browser."""
    import ipywidgets

    play = ipywidgets.Play(min=0, max=len(steps.options) - 1, value=steps.index, interval=STEP_MS)
    ipywidgets.link((play, "value"), (steps, "index"))
    return play
