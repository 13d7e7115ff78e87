"""Live figures in pages: a bundle of Vega made at build, loaded when a figure comes near.

A cell's output brings everything that is the figure's own (roofkit.live). This adds what every
page with such a figure shares: a style sheet, a loader, and the bundle.
"""

import hashlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert
from docutils import nodes
from sphinx.application import Sphinx

HERE = Path(__file__).parent
BUNDLE = "live-bundle.js"
MARK = '<figure class="live"'


def setup(app: Sphinx) -> dict[str, object]:
    # The kernels inherit it: a page shows figures as HTML, and no widget is made.
    os.environ["ROOFKIT_LIVE"] = "page"
    app.connect("builder-inited", write_bundle)
    app.connect("html-page-context", add_to_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def digest() -> str:
    """Changes with anything that the bundle is made of."""
    made_of = (HERE / "figure.js").read_bytes() + version("vl-convert-python").encode()
    return hashlib.sha256(made_of).hexdigest()[:8]


def write_bundle(app: Sphinx) -> None:
    """Put our scripts into the site, and Vega with them, unless they are there."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    for name in ("live.css", "live-loader.js"):
        (static / name).write_bytes((HERE / name).read_bytes())
    head = f"/* {digest()} */\n"
    target = static / BUNDLE
    if target.exists() and target.read_text(encoding="utf-8").startswith(head):
        return
    code = vl_convert.javascript_bundle((HERE / "figure.js").read_text(encoding="utf-8"))
    # In a function of its own, since a page has other scripts with names as short.
    target.write_text(f"{head}(() => {{\n{code}\n}})();\n", encoding="utf-8")


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Have pages with a live figure load the style sheet and the loader, and no other page."""
    if doctree is None or not any(MARK in raw.astext() for raw in doctree.findall(nodes.raw)):
        return
    app.add_css_file("live.css")
    address = context["pathto"](f"_static/{BUNDLE}", resource=True) + f"?v={digest()}"
    app.add_js_file("live-loader.js", loading_method="defer", **{"data-bundle": address})
