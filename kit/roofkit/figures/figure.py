"""`Figure`: a figure that a page's script or a notebook's widget shows."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from dataclasses import dataclass, field
from html import escape
from typing import Any

from roofkit import words
from roofkit.figures import bundle

PAGE = "ROOFKIT_LIVE"
"""If this environment variable is "page", figures show themselves as HTML for a page's script."""
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


@dataclass(frozen=True, repr=False)
class Figure:
    """A figure: a module of this folder, and what the cell gives it.

    Attributes
    ----------
    name
        The name of the module and of the function that it exports.
    given
        Values that JSON can hold.
    """

    name: str
    given: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<figure {self.name}>"

    def _repr_html_(self) -> str | None:
        """Return the element that the page's script fills; None where there is a widget."""
        if os.environ.get(PAGE) != "page" and sys.platform != "emscripten":
            return None
        told = json.dumps(self.given, ensure_ascii=False, separators=(",", ":"))
        told = escape(told, quote=False).replace("'", "&#39;")
        given = f" data-given='{told}'" if self.given else ""
        return f'<figure class="live" data-figure="{self.name}"{given}></figure>'

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if html := self._repr_html_():
            return {"text/plain": repr(self), "text/html": html}
        shown = widget_class()(name=self.name, given=self.given, words=messages(words.language()))
        return shown._repr_mimebundle_(**options)


@functools.cache
def messages(language: str) -> dict[str, str]:
    """Return the translations of the messages that the figures' script has."""
    if language == words.ORIGINAL:
        return {}
    texts = dict.fromkeys(json.loads(literal) for literal in STRING.findall(bundle.script()))
    known = words.translations(language)
    found = {text: known.gettext(text) for text in texts if text}
    return {text: translation for text, translation in found.items() if translation != text}


@functools.cache
def widget_class() -> type[Any]:
    """Return the class of a notebook's widgets, which needs anywidget."""
    import anywidget
    import traitlets

    from roofkit.figures.model_rows import answer

    class FigureWidget(anywidget.AnyWidget):
        _esm = bundle.for_notebooks()
        _css = bundle.style()
        name = traitlets.Unicode().tag(sync=True)
        given = traitlets.Dict().tag(sync=True)
        words = traitlets.Dict().tag(sync=True)

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.on_msg(self.read_config)

        def read_config(self, _widget: Any, asked: dict[str, Any], contents: list[Any]) -> None:
            """Answer with the row of a model that the reader gives as a config file."""
            self.send(json.loads(answer(bytes(contents[0]), asked["file"])))

    return FigureWidget
