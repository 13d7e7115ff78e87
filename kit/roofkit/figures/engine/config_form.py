"""Field for the config file of the reader's model.

live.js shows the field on pages that have Python, which reads the file. It finds the field's parts
by `data-part`.
"""

from __future__ import annotations

from html import escape

from roofkit.words import _

FILE = "config.json"


def title() -> str:
    return _("Your own model")


def hint() -> str:
    return _(
        "Choose the config.json of your model, or drop it on the figure. Python reads it in this"
        " page: the first file fetches it, {megabytes} MB. The file does not leave your browser."
    )


def lab_hint() -> str:
    return _(
        "Choose the config.json of your model, or paste what is in it. The kernel of this notebook"
        " reads it; it is sent nowhere else."
    )


def pasted() -> str:
    return _("or its text")


def paste_hint() -> str:
    return _("Paste the text, then leave the field with Tab.")


def form() -> str:
    """Return the config file input as HTML, hidden until the page's Python is found."""
    return (
        f'<details class="live-config" hidden><summary>{escape(title())}</summary>'
        f"<label><span>{FILE}</span>"
        '<input type="file" accept=".json,application/json" data-part="config"></label>'
        f'<p data-part="read" role="status">{escape(hint())}</p></details>'
    )
