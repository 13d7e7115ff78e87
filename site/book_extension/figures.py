"""Figures of cells as inline SVG.

CSS can color them, and their words can be translated.
"""

import re
from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import init as read_catalog
from sphinx.util import logging
from sphinx.util.i18n import docname_to_domain

from .languages import is_translation
from .languages.markdown import has_words
from .themed_svg import messages, themed_svg

logger = logging.getLogger(__name__)


def inline_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Replace each SVG image of a cell's output by the SVG itself.

    While messages are extracted for translation, the image stays, for its alternative text, and its
    words are added after it.
    """
    found = [
        image
        for image in doctree.findall(nodes.image)
        if image.parent.get("mime_type") == "image/svg+xml"
    ]
    translate = translation_of(app) if is_translation(app) else None
    for number, image in enumerate(found, start=1):
        if app.builder.name == "gettext":
            add_words(app, image)
            continue
        label = image.get("alt", "").strip()
        if not label:
            logger.warning(
                "a figure has no text: set mystnb.image.alt", location=image.parent.parent
            )
        _, path = app.env.relfn2path(image["uri"], app.env.docname)
        source = Path(path).read_text(encoding="utf-8")
        svg = themed_svg(source, label, f"figure-{number}", app.config.palette, translate)
        image.replace_self(nodes.raw("", svg, format="html"))


def add_words(app: Sphinx, image: nodes.image) -> None:
    """Add a figure's words after it, as paragraphs, so that they become messages."""
    _, path = app.env.relfn2path(image["uri"], app.env.docname)
    for message in dict.fromkeys(messages(Path(path).read_text(encoding="utf-8"))):
        if is_message(message):
            words = nodes.paragraph(message, message)
            words.source, words.line = app.env.doc2path(app.env.docname), image.line or 0
            image.parent += words


def is_message(text: str) -> bool:
    """Return whether a figure's text needs translation; names such as Mixtral don't."""
    return has_words(re.sub(r"\b[A-Z][a-z]\w*", "", text))


def translation_of(app: Sphinx) -> Callable[[str], str]:
    """Return a function that translates the messages of the current page."""
    folders = [str(Path(app.srcdir, folder)) for folder in app.config.locale_dirs]
    domain = docname_to_domain(app.env.docname, app.config.gettext_compact)
    catalog, _ = read_catalog(folders, app.config.language, domain)
    return lambda message: catalog.gettext(message) if is_message(message) else message
