"""A figure as HTML for a static page, which live.js makes interactive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from roofkit.figures.engine import config_form, measure_form, own_chip
from roofkit.figures.engine.controls import Steps, as_html

if TYPE_CHECKING:
    from roofkit.figures.engine.base_figure import BaseFigure


DESK_WIDTH, PHONE_WIDTH = 650, 320
"""Pixels that a picture usually has in a page, in a window of 1280 and of 390 pixels."""


def figure_html(figure: BaseFigure) -> str:
    """Return the figure as HTML: picture, controls, words, and data for the script."""
    needed = figure.for_browser() | {
        "controls": {c.name: c.options for c in figure.controls},
        "texts": {c.name: c.texts for c in figure.controls if c.texts != c.options},
        "last": {c.name: c.last for c in figure.controls if isinstance(c, Steps)},
        "says": figure.says,
        "own": figure.own,
        "tables": {name: figure.given[name] for name in figure.own},
        "reads": list(figure.reads),
    }
    script = json.dumps(needed, ensure_ascii=False, separators=(",", ":"))
    # "</script>" would end the element early, and "<!--<script>" keep it from ending.
    script = script.replace("<", "\\u003c")
    inside = {name: as_html(c) for c in figure.controls if (name := c.name) in figure.folded}
    controls = "".join(as_html(c) for c in figure.controls if c.name not in inside)
    if inside:
        controls += (
            f'<details class="live-folded"><summary>{escape(figure.folded_title)}</summary>'
            f"<div>{''.join(inside.values())}</div></details>"
        )
    if figure.own:
        controls += own_chip.form()
    if figure.reads:
        controls += config_form.form()
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


def picture_and_words(figure: BaseFigure) -> str:
    """Return the picture at the current settings, its numbers, and the description."""
    values, texts = figure.values(), figure.texts()
    numbers = "".join(
        f"<div><dt>{_label(n.label)}</dt><dd>"
        f'<data data-name="{n.name}" value="{values[n.name]}">{texts[n.name]}</data></dd></div>'
        for n in figure.numbers
    )
    # Reserve space for the picture that the script draws, so that the layout doesn't shift.
    room = (
        f"--live-height: {figure.height_at(DESK_WIDTH):.0f}px; "
        f"--live-height-phone: {figure.height_at(PHONE_WIDTH):.0f}px"
    )
    return (
        f'<div class="live-picture" role="img" aria-label="{escape(figure.title)}" '
        f'style="{room}">{figure.svg()}</div>'
        # Numbers come first, so that they don't move when the description changes length.
        f'<dl class="live-numbers">{numbers}</dl>'
        f'<p class="live-says" aria-live="polite">{escape(texts["says"])}</p>'
        f"{_listed(figure, texts)}"
    )


def _listed(figure: BaseFigure, texts: Mapping[str, str]) -> str:
    if not figure.lines:
        return ""
    lines = "".join(
        f'<li data-name="{line}"{"" if texts[line] else " hidden"}>{escape(texts[line])}</li>'
        for line in figure.lines
    )
    title = escape(figure.ranking)
    return f'<p class="live-ranking">{title}</p><ol class="live-lines">{lines}</ol>'


def _label(label: str) -> str:
    """Write T_math as T with a subscript, as the chapters do."""
    letter, _, index = escape(label).partition("_")
    return f"{letter}<sub>{index}</sub>" if index else letter
