"""Sphinx extension of the slides: values, figures and timed notes."""

import html
from pathlib import Path
from typing import Any

from book_extension import figures, languages, maths, pages, palette, values
from book_extension.languages import page_words
from browser import figures as live_figures
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from slides_extension import reveal_words

_ = get_translation("sphinx")


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
    """Start each slide's notes with its minutes and its end time.

    Do nothing while messages are extracted for translation: the clock isn't a message.
    """
    if app.builder.name == "gettext":
        return
    spent = 0
    for found in doctree.findall(speaker_notes):
        spent += found["minutes"]
        end = f"{spent // 60}:{spent % 60:02}"
        clock = _("{minutes} min, until {end}.").format(minutes=found["minutes"], end=end)
        found.insert(0, nodes.paragraph(clock, clock))


def add_shared_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the site's icon, and the scripts of live figures with translated words."""
    context["favicon_url"] = context["pathto"](f"_static/{palette.ICON}", True)
    if doctree is None:
        return
    if any(live_figures.MARK in raw.astext() for raw in doctree.findall(nodes.raw)):
        if languages.is_translation(app):
            app.add_js_file(page_words.SCRIPT, loading_method="defer")
        app.add_js_file(live_figures.SCRIPT, loading_method="defer")


def write_language(app: Sphinx, config: Config) -> None:
    """Load a translated site's own style sheet, if it has one."""
    if Path(app.srcdir, "locale", config.language, "style.css").is_file():
        config.revealjs_css_files = [*config.revealjs_css_files, page_words.STYLE]


def setup(app: Sphinx) -> None:
    app.add_role("eval", values.ValueRole(), override=True)
    app.add_node(speaker_notes, revealjs=(visit_notes, None))
    app.add_directive("speaker", Notes)
    maths.setup(app)
    app.connect("config-inited", pages.read_pages_with_values)
    app.add_source_parser(pages.PageParser, override=True)
    app.add_transform(languages.ChooseMessages)
    app.add_transform(languages.MarkOriginals)
    app.add_config_value("palette", palette.light(), "env")
    live_figures.fill(app)
    app.connect("config-inited", write_language)
    app.connect("doctree-read", write_clock)
    # Run before Sphinx collects images (priority 500), as for the pages.
    app.connect("doctree-read", figures.inline_figures, priority=400)
    app.connect("html-page-context", add_shared_files)
    app.connect("build-finished", reveal_words.translate)
