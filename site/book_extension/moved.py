"""Pages at addresses that pages had before, which lead to where these are now."""

import html
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir, relative_uri

# Old address → new one, without ".html".
MOVED = {
    f"exercises/{name}/{name}": f"exercises/{name}"
    for name in (
        "attention",
        "diagnose",
        "h100-spec-sheet",
        "int8-matmul",
        "int8-weights",
        "many-chips",
        "mixture-of-experts",
        "roofline-plot",
        "weight-per-example",
    )
}
# The script keeps the place on the page; the second line serves browsers without scripts.
PAGE = """\
<!doctype html>
<html lang="{language}"><meta charset="utf-8"><title>{title}</title>
<script>location.replace("{address}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={address}"></noscript>
<link rel="canonical" href="{address}"><a href="{address}">{title}</a></html>
"""


def write_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    for old, new in MOVED.items():
        if new not in app.env.found_docs:
            continue
        target = Path(app.outdir, f"{old}.html")
        ensuredir(target.parent)
        address = relative_uri(f"{old}.html", f"{new}.html")
        title = html.escape(app.env.titles[new].astext())
        language = str(app.config.language).replace("_", "-")
        text = PAGE.format(language=language, title=title, address=address)
        target.write_text(text, encoding="utf-8")
