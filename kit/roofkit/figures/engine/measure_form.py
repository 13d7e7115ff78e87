"""Buttons and progress bar of the figure that measures the reader's browser.

The scripts in `site/browser/roof` make them work, and find them by `data-part`.
"""

BUTTONS = {
    "measure": "Measure this browser",
    "stop": "Stop",
    "own": "Make it my own chip",
}


def form() -> str:
    """Return buttons and bar as HTML; buttons that need a measurement are hidden."""
    buttons = "".join(
        f'<button type="button" data-part="{part}"{"" if part == "measure" else " hidden"}>'
        f"{words}</button>"
        for part, words in BUTTONS.items()
    )
    return (
        f'<div class="live-control live-measure">{buttons}'
        '<progress data-part="bar" max="1" value="0" aria-label="Progress of the measurement" '
        'hidden></progress><p data-part="told" role="status"></p></div>'
    )
