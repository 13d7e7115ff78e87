"""Buttons and progress bar of the figure that measures the reader's browser.

The scripts in `site/browser/roof` make them work, and find them by `data-part`.
"""

from __future__ import annotations

from html import escape

from roofkit.words import _


def buttons() -> dict[str, str]:
    """Return the labels of the buttons, by the `data-part` that scripts look for."""
    return {
        "measure": _("Measure this browser"),
        "stop": _("Stop"),
        "own": _("Make it my own chip"),
    }


def form() -> str:
    """Return buttons and bar as HTML; buttons that need a measurement are hidden."""
    pressed = "".join(
        f'<button type="button" data-part="{part}"{"" if part == "measure" else " hidden"}>'
        f"{escape(words)}</button>"
        for part, words in buttons().items()
    )
    progress = escape(_("Progress of the measurement"))
    return (
        f'<div class="live-control live-measure">{pressed}'
        f'<progress data-part="bar" max="1" value="0" aria-label="{progress}" '
        'hidden></progress><p data-part="told" role="status"></p></div>'
    )
