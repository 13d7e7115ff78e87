"""Sphinx extension of the figures: their script, style sheet, and a still form of each.

A cell shows an element with the figure's name and what the cell gives. Here it gets the drawing,
numbers and words at the start of its controls, in the language of the page, for print and for
readers without scripts; the page's script takes it from there.
"""

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import quickjs
from book_extension.languages import code_words, is_translation, page_words
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import ensuredir

from browser import roof as browser_roof

SCRIPT, STYLE = "figures.js", "figures.css"
MAKE = """import json
from roofkit.figures import bundle
print(json.dumps({**bundle.for_pages(), "": bundle.for_build()}))"""
STYLE_SOURCE = Path("kit/roofkit/figures", STYLE)
MARK = '<figure class="live"'
FIGURE = re.compile(
    r'<figure class="live" data-figure="(?P<name>\w+)"'
    r"(?: data-given='(?P<given>[^']*)')?></figure>"
)
OWN = 'class="live-own"'
# Strings go in and out as JSON: the engine's Python side can't read strings that were just joined.
IN_JSON = """((inside) => (name, given, words, own) =>
  JSON.stringify(inside(name, JSON.parse(given), JSON.parse(words), own)))"""
MEASURES = 'data-part="measure"'


def setup(app: Sphinx) -> None:
    # Kernels inherit this variable; figures then display HTML instead of a widget.
    os.environ["ROOFKIT_LIVE"] = "page"
    fill(app)
    app.connect("builder-inited", write_scripts)
    app.connect("html-page-context", add_to_page)


def fill(app: Sphinx) -> None:
    """Fill the figures of pages, which are read again when what is inside may have changed."""
    app.add_config_value("figures_digest", "", "env")
    app.connect("config-inited", set_digest)
    app.add_transform(FillFigures)


def set_digest(app: Sphinx, config: Config) -> None:
    words = "".join(map("=".join, sorted(translations(app).items())))
    inside = scripts(app.srcdir)[""] + words
    config.figures_digest = hashlib.sha256(inside.encode()).hexdigest()


@cache
def scripts(book: Path) -> dict[str, str]:
    """Return the scripts of a book's figures by path, and "", the expression for `engine`.

    The book's own packages make them.
    """
    paths = [str(book), str(book / "kit"), os.environ.get("PYTHONPATH")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    made = subprocess.run(
        [sys.executable, "-c", MAKE], env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, str] = json.loads(made.stdout)
    return found


class FillFigures(SphinxTransform):
    """Put the still form into the figures of a page."""

    default_priority = 25  # run before languages.MarkOriginals

    def apply(self, **_: Any) -> None:
        if self.app.builder.format != "html":
            return
        words = translations(self.app)
        offered = False  # a chip of the reader's own, in the first figure that has it
        for raw in self.document.findall(nodes.raw):
            if MARK in raw.astext():
                code = scripts(self.app.srcdir)[""]
                shown = filled(raw.astext(), code, words, own=not offered)
                offered |= OWN in shown
                raw.children[:] = [nodes.Text(shown)]
                raw["translated"] = True


@cache
def engine(code: str) -> Any:
    """Return the function of the figures' script that gives what is inside a figure."""
    return quickjs.Context().eval(f"{IN_JSON}({code})")


def filled(text: str, code: str, words: dict[str, str], own: bool) -> str:
    """Return HTML with the still form of its figures in them, in the language of `words`.

    own: whether the reader may type a chip there.
    """

    def with_inside(found: re.Match[str]) -> str:
        given = html.unescape(found["given"] or "{}")
        told = json.dumps(words, ensure_ascii=False)
        inside = json.loads(engine(code)(found["name"], given, told, own))
        return found[0].replace("></figure>", f' data-state="still">{inside}</figure>')

    return FIGURE.sub(with_inside, text)


@cache
def translations(app: Sphinx) -> dict[str, str]:
    """Return the messages of scripts in the language of the site; none in the original."""
    if not is_translation(app):
        return {}
    return page_words.translated(code_words.of_javascript(app.srcdir))


def write_scripts(app: Sphinx) -> None:
    """Write the style sheet and the scripts into the site."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    ensuredir(static)
    shutil.copyfile(Path(app.srcdir, STYLE_SOURCE), static / STYLE)
    for name, code in scripts(app.srcdir).items():
        if name:
            ensuredir((static / name).parent)
            (static / name).write_text(code, encoding="utf-8")
    (static / browser_roof.SCRIPT).write_text(browser_roof.script(), encoding="utf-8")


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the style sheet and the script to a page with a figure."""
    raw = [node.astext() for node in doctree.findall(nodes.raw)] if doctree else []
    if not any(MARK in text for text in raw):
        return
    app.add_css_file(STYLE)
    if any(MEASURES in text for text in raw):  # before the script of the figures, which calls it
        app.add_js_file(browser_roof.SCRIPT, loading_method="defer")
    app.add_js_file(SCRIPT, loading_method="defer")
