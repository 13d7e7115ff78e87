"""Sphinx extension that adds style sheet and script to pages with live figures.

Both belong to the figure engine, `kit/roofkit/figures/engine`. A cell that runs shows its figure in
all languages; a translated page has the one in its language instead of the original's.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

from book_extension.languages import current, is_translation
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import ensuredir

from browser import roof as browser_roof

ENGINE = Path(__file__).resolve().parents[3] / "kit" / "roofkit" / "figures" / "engine"
SCRIPT = "live.js"
STYLE = "live.css"
MARK = '<figure class="live"'
LANGUAGES = "ROOFLINE_LANGUAGES"  # environment variable: further languages of figures
TRANSLATED = re.compile(r"application/vnd\.roofline\.(?P<tag>[\w-]+)\+html")
FOLDER = "figures"  # folder of translated figures in the cache of cells' outputs
MEASURES = 'data-part="measure"'


def setup(app: Sphinx) -> None:
    # Kernels inherit this variable; figures then display HTML instead of a widget.
    os.environ["ROOFKIT_LIVE"] = "page"
    app.add_transform(TranslateFigures)
    app.connect("builder-inited", write_scripts)
    app.connect("html-page-context", add_to_page)


def keep_translated(page: NotebookNode, cache: Path) -> None:
    """Move translations of live figures from a page's outputs to files in the cache.

    A figure's file is named after its original, so that a page has only one language.
    """
    for output in (output for cell in page.cells for output in cell.get("outputs", ())):
        data = output.get("data", {})
        for kind in list(data):
            if found := TRANSLATED.fullmatch(kind):
                file = place(cache, found["tag"], data["text/html"])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(data.pop(kind), encoding="utf-8")


def place(cache: Path, tag: str, original: str) -> Path:
    """Return the cache file of a figure's translation, named by the original's hash."""
    digest = hashlib.sha256(original.encode()).hexdigest()[:24]
    return cache / FOLDER / tag / f"{digest}.html"


class TranslateFigures(SphinxTransform):
    """Replace the live figures of a translated page by those in its language."""

    default_priority = 25  # run before languages.MarkOriginals

    def apply(self, **_: Any) -> None:
        if not is_translation(self.app):
            return
        cache = Path(self.config.nb_execution_cache_path)
        for raw in self.document.findall(nodes.raw):
            if MARK in raw.astext():
                file = place(cache, current(self.config).tag, raw.astext())
                if file.exists():
                    raw.children[:] = [nodes.Text(file.read_text(encoding="utf-8"))]
                    raw["translated"] = True


def write_scripts(app: Sphinx) -> None:
    """Write the style sheet and the scripts into the site."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    ensuredir(static)
    (static / STYLE).write_text(source(STYLE), encoding="utf-8")
    (static / SCRIPT).write_text(figures(), encoding="utf-8")
    (static / browser_roof.SCRIPT).write_text(measuring(), encoding="utf-8")


def source(*names: str) -> str:
    return "".join((ENGINE / name).read_text(encoding="utf-8") for name in names)


def figures() -> str:
    """Return the script that makes figures interactive."""
    return in_function(source("expressions.js", "scene.js", "live.js"))


def measuring() -> str:
    """Return the script that measures the roof of the reader's browser.

    It has the figures' number format.
    """
    return in_function(browser_roof.script(source("expressions.js")))


def in_function(code: str) -> str:
    """Wrap a script in a function to keep its names from clashing with others."""
    return f"(() => {{\n{code}\n}})();\n"


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the style sheet and the script to a page with a live figure."""
    raw = [node.astext() for node in doctree.findall(nodes.raw)] if doctree else []
    if not any(MARK in text for text in raw):
        return
    attributes: dict[str, Any] = {}
    if any(MEASURES in text for text in raw):
        address = str(context["pathto"](f"_static/{browser_roof.SCRIPT}", resource=True))
        attributes["data-measure"] = f"{address}?v={browser_roof.digest(measuring())}"
    app.add_css_file(STYLE)
    app.add_js_file(SCRIPT, loading_method="defer", **attributes)
