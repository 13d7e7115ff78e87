"""Sphinx extension of the slides: values and figures as on the pages, and notes with minutes."""

from pathlib import Path
from typing import Any

import live_figures
from book_extension import figures, maths, pages, values
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_revealjs._ext.notes import revealjs_notes

THEME = Path(__file__).parent / "slide_theme"
# What the pages load already lies in the site, two folders above what the slides load.
SITE_STATIC = "../../_static"


class Notes(SphinxDirective):
    """What the speaker says on a slide, and for how many minutes."""

    has_content = True
    option_spec = {"minutes": directives.positive_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        if "minutes" not in self.options:
            raise self.error("a slide's notes need :minutes:")
        found = revealjs_notes(minutes=self.options["minutes"])
        self.state.nested_parse(self.content, self.content_offset, found)
        return [found]


def write_clock(app: Sphinx, doctree: nodes.document) -> None:
    """Begin the notes of each slide with its minutes and the time at which it ends."""
    spent = 0
    for found in doctree.findall(revealjs_notes):
        spent += found["minutes"]
        clock = f"{found['minutes']} min, until {spent // 60}:{spent % 60:02}."
        found.insert(0, nodes.paragraph(clock, clock))


def add_live_figures(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Let the figures that move take their scripts from the site."""
    if doctree is None:
        return
    if any(live_figures.MARK in raw.astext() for raw in doctree.findall(nodes.raw)):
        address = f"../_static/{live_figures.BUNDLE}?v={live_figures.digest()}"
        app.add_js_file(
            f"{SITE_STATIC}/{live_figures.SCRIPT}",
            500,  # as for any other
            "defer",
            **{"data-bundle": address},
        )


def setup(app: Sphinx) -> dict[str, object]:
    app.add_role("eval", values.ValueRole(), override=True)
    app.add_directive("speaker", Notes)
    maths.setup(app)
    app.connect("config-inited", pages.read_pages_with_values)
    app.add_source_parser(pages.PageParser, override=True)
    app.connect("doctree-read", write_clock)
    # As on the pages: before Sphinx collects images (500).
    app.connect("doctree-read", figures.inline_figures, priority=400)
    app.connect("html-page-context", add_live_figures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
