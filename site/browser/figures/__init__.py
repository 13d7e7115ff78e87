"""Sphinx extension that gives pages with figures the style sheet and the script of figures.

Both belong to the figure engine, `kit/roofkit/figures/engine`.
"""

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from browser import roof as browser_roof

ENGINE = Path(__file__).resolve().parents[3] / "kit" / "roofkit" / "figures" / "engine"
SCRIPT = "live.js"
STYLE = "live.css"
MARK = '<figure class="live"'
MEASURES = 'data-part="measure"'


def setup(app: Sphinx) -> dict[str, object]:
    # Kernels inherit this variable; figures then display HTML instead of a widget.
    os.environ["ROOFKIT_LIVE"] = "page"
    app.connect("builder-inited", write_scripts)
    app.connect("html-page-context", add_to_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write_scripts(app: Sphinx) -> None:
    """Write the style sheet and the scripts into the site."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    (static / STYLE).write_text(source(STYLE), encoding="utf-8")
    (static / SCRIPT).write_text(figures(), encoding="utf-8")
    (static / browser_roof.SCRIPT).write_text(measuring(), encoding="utf-8")


def source(*names: str) -> str:
    return "".join((ENGINE / name).read_text(encoding="utf-8") for name in names)


def figures() -> str:
    """Return the script that makes figures interactive."""
    return in_function(source("expressions.js", "scene.js", "live.js"))


def measuring() -> str:
    """Return the script that measures the reader's browser, with the figures' number format."""
    return in_function(browser_roof.script(source("expressions.js")))


def in_function(code: str) -> str:
    """Wrap a script in a function, so that its short names don't clash with other scripts'."""
    return f"(() => {{\n{code}\n}})();\n"


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the style sheet and the script to a page with a figure."""
    raw = [node.astext() for node in doctree.findall(nodes.raw)] if doctree else []
    if not any(MARK in text for text in raw):
        return
    attributes: dict[str, Any] = {}
    if any(MEASURES in text for text in raw):
        address = str(context["pathto"](f"_static/{browser_roof.SCRIPT}", resource=True))
        attributes["data-measure"] = f"{address}?v={browser_roof.digest(measuring())}"
    app.add_css_file(STYLE)
    app.add_js_file(SCRIPT, loading_method="defer", **attributes)
