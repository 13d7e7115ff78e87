"""Live figures in pages: what every page with one shares, beside what a cell's output brings.

That is a style sheet, a small script with the pictures (scene.js) and all that follows a control
(live.js), and a large bundle of Vega, made at build, which only charts ask for.
"""

import hashlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import browser_roof
import vl_convert
from docutils import nodes
from sphinx.application import Sphinx

HERE = Path(__file__).parent
BUNDLE = "live-charts.js"
SCRIPT = "live.js"
MARK = '<figure class="live"'
MEASURES = 'data-part="measure"'


def setup(app: Sphinx) -> dict[str, object]:
    # The kernels inherit it: a page shows figures as HTML, and no widget is made.
    os.environ["ROOFKIT_LIVE"] = "page"
    app.connect("builder-inited", write_scripts)
    app.connect("html-page-context", add_to_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def digest() -> str:
    """Changes with anything that the bundle is made of."""
    made_of = (HERE / "chart.js").read_bytes() + version("vl-convert-python").encode()
    return hashlib.sha256(made_of).hexdigest()[:8]


def write_scripts(app: Sphinx) -> None:
    """Put our scripts into the site, and Vega with them, unless they are there."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    (static / "live.css").write_bytes((HERE / "live.css").read_bytes())
    (static / SCRIPT).write_text(alone(source("scene.js") + source("live.js")), encoding="utf-8")
    (static / browser_roof.SCRIPT).write_text(measuring(), encoding="utf-8")
    head = f"/* {digest()} */\n"
    target = static / BUNDLE
    if target.exists() and target.read_text(encoding="utf-8").startswith(head):
        return
    code = vl_convert.javascript_bundle((HERE / "chart.js").read_text(encoding="utf-8"))
    target.write_text(head + alone(code), encoding="utf-8")


def source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def measuring() -> str:
    """The script that measures the reader's browser; it writes numbers as scenes do."""
    return alone(browser_roof.script(source("scene.js")))


def alone(code: str) -> str:
    """In a function of its own, since a page has other scripts with names as short."""
    return f"(() => {{\n{code}\n}})();\n"


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Have pages with a live figure load the style sheet and the script, and no other page."""
    raw = [node.astext() for node in doctree.findall(nodes.raw)] if doctree else []
    if not any(MARK in text for text in raw):
        return

    def place(script: str, version: str) -> str:
        return str(context["pathto"](f"_static/{script}", resource=True)) + f"?v={version}"

    places: dict[str, Any] = {"data-bundle": place(BUNDLE, digest())}
    if any(MEASURES in text for text in raw):
        places["data-measure"] = place(browser_roof.SCRIPT, browser_roof.digest(measuring()))
    app.add_css_file("live.css")
    app.add_js_file(SCRIPT, loading_method="defer", **places)
