"""A field for the config file of the reader's model, which the page's Python reads.

live.js shows it on pages that have Python, and finds its parts by `data-part`.
"""

HINT = (
    "Choose the config.json of your model, or drop it on the figure. Python reads it in this page:"
    " the first file fetches it, {megabytes} MB. The file does not leave your browser."
)


def form() -> str:
    """Return the field as HTML, hidden until the script knows where the page's Python is."""
    return (
        '<div class="live-config" hidden><label><span>your own model</span>'
        '<input type="file" accept=".json,application/json" data-part="config"></label>'
        f'<p data-part="read" role="status">{HINT}</p></div>'
    )
