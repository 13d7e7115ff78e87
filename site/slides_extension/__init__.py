"""Sphinx extension of the slides: values and figures as on pages, and timed notes."""

import html
from typing import Any

from book_extension import blocks, figures, maths, pages, values
from browser import figures as live_figures
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

# The slides reuse static files of the site, two folders above their own.
SITE_STATIC = "../../_static"


class speaker_notes(nodes.General, nodes.Element):  # type: ignore[misc]
    """Notes of a slide, which reveal.js shows in the speaker's window."""


def visit_notes(self: HTML5Translator, node: speaker_notes) -> None:
    self.body.append(f'<aside class="notes">{html.escape(node.astext())}</aside>')
    raise nodes.SkipNode


class Notes(SphinxDirective):
    """Directive for a slide's speaker notes and their minutes."""

    has_content = True
    option_spec = {"minutes": directives.positive_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        if "minutes" not in self.options:
            raise self.error("a slide's notes need :minutes:")
        found = speaker_notes(minutes=self.options["minutes"])
        self.state.nested_parse(self.content, self.content_offset, found)
        return [found]


def write_clock(app: Sphinx, doctree: nodes.document) -> None:
    """Start each slide's notes with its minutes and its end time."""
    spent = 0
    for found in doctree.findall(speaker_notes):
        spent += found["minutes"]
        clock = f"{found['minutes']} min, until {spent // 60}:{spent % 60:02}."
        found.insert(0, nodes.paragraph(clock, clock))


def add_live_figures(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Make live figures load their scripts from the site."""
    if doctree is None:
        return
    if any(live_figures.MARK in raw.astext() for raw in doctree.findall(nodes.raw)):
        app.add_js_file(f"{SITE_STATIC}/{live_figures.SCRIPT}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, object]:
    app.add_role("eval", values.ValueRole(), override=True)
    blocks.setup(app)
    app.add_node(speaker_notes, revealjs=(visit_notes, None))
    app.add_directive("speaker", Notes)
    maths.setup(app)
    app.connect("config-inited", pages.read_pages_with_values)
    app.add_source_parser(pages.PageParser, override=True)
    app.connect("doctree-read", write_clock)
    # As on the pages: before Sphinx collects images (500).
    app.connect("doctree-read", figures.inline_figures, priority=400)
    app.connect("html-page-context", add_live_figures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
