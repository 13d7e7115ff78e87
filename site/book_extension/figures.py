"""Figures of cells as inline SVG, so that CSS can set their colors."""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from .themed_svg import themed_svg

logger = logging.getLogger(__name__)


def inline_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Replace each SVG image of a cell's output by the SVG itself.

    Not while messages are taken out for translation: the alternative text is one.
    """
    if app.builder.name == "gettext":
        return
    found = [
        image
        for image in doctree.findall(nodes.image)
        if image.parent.get("mime_type") == "image/svg+xml"
    ]
    for number, image in enumerate(found, start=1):
        label = image.get("alt", "").strip()
        if not label:
            logger.warning(
                "a figure has no text: set mystnb.image.alt", location=image.parent.parent
            )
        _, path = app.env.relfn2path(image["uri"], app.env.docname)
        svg = themed_svg(Path(path).read_text(encoding="utf-8"), label, f"figure-{number}")
        image.replace_self(nodes.raw("", svg, format="html"))
