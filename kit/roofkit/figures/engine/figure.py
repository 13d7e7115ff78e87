"""`Figure`: a figure that displays itself in a notebook and on a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from roofkit.figures.engine.base_figure import BaseFigure
from roofkit.figures.engine.page import figure_html
from roofkit.figures.engine.widget import Made, made_for

if TYPE_CHECKING:
    import ipywidgets

PAGE = "ROOFKIT_LIVE"
"""Set this environment variable to "page" and figures show themselves as HTML for a static page."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Figure(BaseFigure):
    """A figure that follows its controls; `BaseFigure` lists its attributes."""

    def html(self) -> str:
        """Return the figure for a static page: picture, controls, words, and data for the script.

        Without a script the reader sees the picture and its text at the start of the controls.
        """
        return figure_html(self)

    @property
    def settings(self) -> dict[str, Any]:
        """The current values of the controls; their initial values until the widget is shown."""
        if "_widget" not in self.__dict__:
            return super().settings
        return {name: control.value for name, control in self._widget.inputs.items()}

    def _own_chip(self) -> Mapping[str, float]:
        return self._widget.own if "_widget" in self.__dict__ else super()._own_chip()

    def _own_rows(self) -> Mapping[str, Any]:
        return self._widget.rows if "_widget" in self.__dict__ else super()._own_rows()

    @property
    def widget(self) -> ipywidgets.VBox:
        """The same figure as a widget; `settings` and `values()` follow its controls."""
        return self._widget.box

    @cached_property
    def _widget(self) -> Made:
        return made_for(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle = {"text/plain": self.texts()["says"], "text/html": self.html()}
        if os.environ.get(PAGE) != "page":
            shown = self.widget._repr_mimebundle_()
            bundle |= {kind: data for kind, data in shown.items() if "widget" in kind}
        return bundle
