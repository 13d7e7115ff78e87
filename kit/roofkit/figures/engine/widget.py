"""A figure as a widget in JupyterLab."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from roofkit.figures.engine import config_form, own_chip
from roofkit.figures.engine.controls import Control, Slider, Steps
from roofkit.figures.engine.own_chip import OWN, QUANTITIES, START
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
    rows
        Rows of models that the reader gave, by name.
    """

    box: ipywidgets.VBox
    inputs: Mapping[str, Any]
    own: dict[str, float]
    rows: dict[str, Any]


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
        if name not in figure.folded
    ]
    fields = _fields() if figure.own else {}
    words = {name: ipywidgets.HTML() for name in fields}
    typed = [each for name in fields for each in (fields[name], words[name])]
    folded = [_folded([inputs[name] for name in figure.folded], figure.folded_title)]
    asked = _ConfigFields() if figure.reader else None
    if asked:
        folded.append(_folded(asked.shown, config_form.title()))
    if fields:
        folded.append(_folded([ipywidgets.HTML(own_chip.lab_hint()), *typed], own_chip.title()))
    folded = folded if figure.folded else folded[1:]

    def redraw(_: object) -> None:
        values = figure.values()
        for control in figure.controls:
            if not isinstance(control, Steps):
                continue
            steps, last = inputs[control.name], int(values[control.last])
            last = min(last, len(control.options) - 1)
            # Buttons stop at the last step, and a slider beyond it moves back to it.
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

    def read(content: bytes, file: str) -> None:
        if asked is None or figure.reader is None:
            return
        control, table = figure.reads
        answer = json.loads(figure.reader(content, file, figure.given[table] | made.rows))
        asked.says.value = escape(answer.get("problem", answer.get("summary", "")))
        if "problem" in answer:
            return
        name = answer["name"]
        made.rows[name] = answer["row"]
        options = inputs[control].options
        if name not in options:
            inputs[control].options = (*options, name)
        inputs[control].value = name
        redraw(None)

    made = Made(ipywidgets.VBox([title, *rows, *folded, picture]), inputs, dict(START), {})
    # Set this before drawing the first picture, for which the figure reads its inputs.
    figure.__dict__["_widget"] = made
    redraw(None)
    for control in inputs.values():
        control.observe(redraw, "value")
    if asked:
        asked.observe(read)
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


class _ConfigFields:
    """Fields for a config file or its text, and the message about the last one."""

    def __init__(self) -> None:
        import ipywidgets

        self.file = ipywidgets.FileUpload(
            accept=".json", multiple=False, description=config_form.FILE, layout=LOOK["layout"]
        )
        self.text = ipywidgets.Textarea(
            placeholder=config_form.paste_hint(),
            continuous_update=False,
            **(LOOK | {"description": config_form.pasted()}),
        )
        self.says = ipywidgets.HTML(config_form.lab_hint())
        self.shown = [self.file, self.text, self.says]

    def observe(self, read: Callable[[bytes, str], None]) -> None:
        """Call `read` with content and name of each chosen file and each pasted text."""

        def chosen(change: dict[str, Any]) -> None:
            for file in change["new"]:
                read(bytes(file["content"]), file["name"])

        def pasted(change: dict[str, Any]) -> None:
            if change["new"].strip():
                read(change["new"].encode("utf-8", "surrogatepass"), config_form.FILE)

        self.file.observe(chosen, "value")
        self.text.observe(pasted, "value")


def _folded(fields: list[Any], title: str) -> Any:
    import ipywidgets

    return ipywidgets.Accordion([ipywidgets.VBox(fields)], titles=[title], selected_index=None)


def _input(control: Control) -> Any:
    import ipywidgets

    look = {"description": control.label, "value": control.start, **LOOK}
    if isinstance(control, Slider):
        options = list(zip(control.texts, control.options, strict=True))
        return ipywidgets.SelectionSlider(options=options, **look)
    if control.texts == control.options:
        return ipywidgets.Dropdown(options=control.options, **look)
    named = list(zip(control.texts, control.options, strict=True))
    return ipywidgets.Dropdown(options=named, **look)


def _player(steps: Any) -> Any:
    """Make buttons that play a slider's steps in the browser."""
    import ipywidgets

    play = ipywidgets.Play(min=0, max=len(steps.options) - 1, value=steps.index, interval=STEP_MS)
    ipywidgets.link((play, "value"), (steps, "index"))
    return play
