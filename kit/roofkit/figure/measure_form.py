"""The buttons of a figure that measures the reader's own browser, and where it says how far it is.

`site/browser_roof` brings them to life, and finds them by `data-part`.
"""

BUTTONS = {
    "measure": "Measure this browser",
    "stop": "Stop",
    "own": "Make it my own chip",
}


def form() -> str:
    """For a static page. Before the press there is nothing to stop and nothing to keep."""
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
