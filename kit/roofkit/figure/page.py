"""A live figure as HTML for a static page; `site/live_figures` brings it to life."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING

from roofkit.figure import measure_form, own_chip
from roofkit.figure.controls import Slider, Steps, as_html

if TYPE_CHECKING:
    from roofkit.figure.live_figure import LiveFigure


def figure_html(figure: LiveFigure) -> str:
    """Picture, controls, words, and what a script needs."""
    needed = figure.for_browser() | {
        "controls": {c.name: c.options for c in figure.controls},
        "texts": {c.name: c.texts for c in figure.controls if isinstance(c, Slider)},
        "last": {c.name: c.last for c in figure.controls if isinstance(c, Steps)},
        "says": figure.says,
        "own": figure.own,
        "tables": {name: figure.given[name] for name in figure.own},
    }
    script = json.dumps(needed, ensure_ascii=False, separators=(",", ":"))
    # "</script>" would end the element early, and "<!--<script>" keep it from ending.
    script = script.replace("<", "\\u003c")
    controls = "".join(map(as_html, figure.controls))
    if figure.own:
        controls += own_chip.form()
    if figure.measures:
        controls += measure_form.form()
    return (
        f'<figure class="live" data-figure="{figure.name}" data-state="still" '
        f'aria-label="{escape(figure.title)}">'
        f'<fieldset class="live-controls" disabled><legend>{escape(figure.title)}</legend>'
        f"{controls}</fieldset>"
        f"{picture_and_words(figure)}"
        f'<script type="application/json">{script}</script></figure>'
    )


def picture_and_words(figure: LiveFigure) -> str:
    """The picture as it stands now, its numbers, and what it says."""
    values, texts = figure.values(), figure.texts()
    numbers = "".join(
        f"<div><dt>{_label(n.label)}</dt><dd>"
        f'<data data-name="{n.name}" value="{values[n.name]}">{texts[n.name]}</data></dd></div>'
        for n in figure.numbers
    )
    picture = figure.svg()
    # As high as the picture that a script puts in its place, so that nothing jumps.
    height = re.search(r'height="([\d.]+)"', picture)
    room = f"--live-height: {height[1]}px" if height else ""
    return (
        f'<div class="live-picture" role="img" aria-label="{escape(figure.title)}" '
        f'style="{room}">{picture}</div>'
        # Numbers first: they stay in their place when the words grow or shrink.
        f'<dl class="live-numbers">{numbers}</dl>'
        f'<p class="live-says" aria-live="polite">{escape(texts["says"])}</p>'
    )


def _label(label: str) -> str:
    """T_math as T with an index, as the chapters write it."""
    letter, _, index = escape(label).partition("_")
    return f"{letter}<sub>{index}</sub>" if index else letter
