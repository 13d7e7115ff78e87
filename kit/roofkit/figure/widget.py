"""A live figure as a widget in JupyterLab."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from roofkit.figure.controls import Control, Slider, Steps
from roofkit.figure.page import picture_and_words

if TYPE_CHECKING:
    import ipywidgets

    from roofkit.figure.live_figure import LiveFigure

LOOK: dict[str, Any] = {
    "style": {"description_width": "11em"},
    "layout": {"width": "32em", "max_width": "100%"},
}
PACE = 900  # ms from one step to the next


def made_for(figure: LiveFigure) -> tuple[ipywidgets.VBox, dict[str, Any]]:
    """The widget, and the inputs in it by the name of their control."""
    import ipywidgets

    from roofkit.figure.colours import LAB_STYLE

    inputs = {control.name: _input(control) for control in figure.controls}
    style = f"<style>{LAB_STYLE}</style>"
    picture = ipywidgets.HTML()
    title = ipywidgets.HTML(f"<b>{escape(figure.title)}</b>")
    rows = [
        ipywidgets.HBox([inputs[control.name], _player(inputs[control.name])])
        if isinstance(control, Steps)
        else inputs[control.name]
        for control in figure.controls
    ]

    def redraw(_: object) -> None:
        picture.value = style + picture_and_words(figure)

    made = ipywidgets.VBox([title, *rows, picture]), inputs
    # The picture asks the figure, which asks its inputs: they have to be its own by then.
    figure.__dict__["_widget"] = made
    redraw(None)
    for control in inputs.values():
        control.observe(redraw, "value")
    return made


def _input(control: Control) -> Any:
    import ipywidgets

    look = {"description": control.label, "value": control.start, **LOOK}
    if isinstance(control, Slider):
        options = list(zip(control.texts, control.options, strict=True))
        return ipywidgets.SelectionSlider(options=options, **look)
    return ipywidgets.Dropdown(options=control.options, **look)


def _player(steps: Any) -> Any:
    """Buttons that play a slider's steps, in the browser."""
    import ipywidgets

    play = ipywidgets.Play(min=0, max=len(steps.options) - 1, value=steps.index, interval=PACE)
    ipywidgets.link((play, "value"), (steps, "index"))
    return play
