"""`Figure`: a figure that displays itself in a notebook and on a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from roofkit import words
from roofkit.figures.engine.base_figure import BaseFigure
from roofkit.figures.engine.page import figure_html
from roofkit.figures.engine.widget import Made, made_for

if TYPE_CHECKING:
    import ipywidgets

PAGE = "ROOFKIT_LIVE"
"""Set this environment variable to "page" and figures show themselves as HTML for a static page."""
LANGUAGES = "ROOFLINE_LANGUAGES"
"""Languages besides the one in force, such as "zh_CN", in which figures show themselves, too."""
TRANSLATED = "application/vnd.roofline.{tag}+html"
"""MIME type of a figure in one of these languages."""

P = ParamSpec("P")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Figure(BaseFigure):
    """A figure that follows its controls; `BaseFigure` lists its attributes."""

    def html(self) -> str:
        """Return the figure for a static page.

        It includes the picture, controls, words, and data for the script. Without a script the
        reader sees the picture and its text at the start of the controls.
        """
        with words.spoken(self.language):
            return figure_html(self)

    @property
    def settings(self) -> dict[str, Any]:
        """Current values of the controls.

        Until the widget is shown, they have their initial values.
        """
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
        with words.spoken(self.language):
            return made_for(self)

    def _translated(self) -> dict[str, str]:
        """Return the figure's HTML by MIME type, in each language that LANGUAGES lists."""
        found: dict[str, str] = {}
        if self.again is None:
            return found
        for code in os.environ.get(LANGUAGES, "").split():
            with words.spoken(code):
                found[TRANSLATED.format(tag=code.replace("_", "-"))] = self.again().html()
        return found

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle = {"text/plain": self.texts()["says"], "text/html": self.html()}
        bundle |= self._translated()
        if os.environ.get(PAGE) != "page":
            shown = self.widget._repr_mimebundle_()
            bundle |= {kind: data for kind, data in shown.items() if "widget" in kind}
        return bundle


def in_languages(make: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function so that its figures can be made again in another language."""

    @wraps(make)
    def made(*args: P.args, **options: P.kwargs) -> Figure:
        return replace(make(*args, **options), again=partial(make, *args, **options))

    return made
