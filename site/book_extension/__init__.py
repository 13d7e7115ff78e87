"""Sphinx extension of the book: values in prose, SVG figures, offline pages.

Loaded by Jupyter Book through ``local_extensions`` in ``_config.yml``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: "Sphinx") -> None:
    # Import late: `make lab` uses modules of this package without loading Sphinx.
    from . import (
        api,
        cards,
        figures,
        languages,
        maths,
        notebooks,
        pages,
        palette,
        rebuilds,
        terms,
        theme,
        typed_numbers,
        values,
    )

    app.add_role("eval", values.ValueRole(), override=True)
    app.add_source_suffix(".py", "myst-nb")  # exercises; include_patterns has no other Python
    app.connect("source-read", pages.read_exercises, priority=400)
    # Before drawings become part of the page.
    app.connect("doctree-read", typed_numbers.warn, priority=300)
    app.connect("config-inited", pages.read_pages_with_values)
    app.add_source_parser(pages.PageParser, override=True)
    api.setup(app)
    # Run before Sphinx collects images (priority 500), or inlined figures would also become files.
    app.connect("doctree-read", figures.inline_figures, priority=400)
    app.connect("doctree-read", figures.translate_printed)
    maths.setup(app)
    palette.setup(app)
    app.connect("config-inited", theme.use_templates)
    app.connect("builder-inited", theme.trim_pages)
    app.connect("html-page-context", notebooks.offer_notebook)
    app.add_builder(notebooks.NotebookBuilder)
    app.add_post_transform(notebooks.FoldInNotebooks)
    app.connect("html-page-context", terms.write_terms)
    app.add_directive("cards", cards.Cards)
    app.add_transform(cards.DescribeByQuestion)
    rebuilds.setup(app)
    languages.setup(app)
    # Run after all other listeners have added their files.
    app.connect("html-page-context", theme.prepare_page, priority=900)
    # Load course.css after the style sheets of the theme and of other extensions (priority 500).
    app.add_css_file("course.css", priority=900)
    for script in ("course.js", "term-notes.js"):
        app.add_js_file(script, loading_method="defer")
