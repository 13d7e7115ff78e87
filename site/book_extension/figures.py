"""Figures of cells as inline SVG, which CSS can color.

Their words can be translated, and what cells print.
"""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from roofkit.drawings import messages
from roofkit.lines import printed, translated

from .languages import is_translation, translation_of
from .languages.translatable import has_words
from .themed_svg import themed_svg

STYLE = re.compile(r'\bstyle="([^"]*)"')
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
    translate = translation_of(app, app.env.docname) if is_translation(app) else None
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
        svg = themed_svg(source, label, f"f{number}", app.config.palette, translate)
        image.replace_self(nodes.raw("", with_classes(svg), format="html"))


def with_classes(svg: str) -> str:
    """Return an SVG whose repeated styles are classes; equal styles have the same on all pages."""
    found = Counter(STYLE.findall(svg))
    names = {
        style: f"s{sha256(style.encode()).hexdigest()[:5]}"
        for style, times in found.items()
        if times > 1 and "url(" not in style
    }
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())

    def named(style: re.Match[str]) -> str:
        return f'class="{names[style[1]]}"' if style[1] in names else style[0]

    return STYLE.sub(named, svg).replace(">", f"><style>{rules}</style>", 1)


def translate_printed(app: Sphinx, doctree: nodes.document) -> None:
    """Translate what cells print, or add it as paragraphs, so that it becomes messages."""
    if app.builder.name != "gettext" and not is_translation(app):
        return
    translate = translation_of(app, app.env.docname)
    for output in [*doctree.findall(nodes.literal_block)]:
        if "stream" not in output["classes"]:
            continue
        if app.builder.name == "gettext":
            add_messages(app, output, printed(output.astext()))
        elif (said := translated(output.astext(), translate)) != output.astext():
            output.replace_self(nodes.literal_block("", said, classes=output["classes"]))


def add_words(app: Sphinx, image: nodes.image) -> None:
    """Add a figure's words after it, as paragraphs, so that they become messages."""
    _, path = app.env.relfn2path(image["uri"], app.env.docname)
    found = messages(Path(path).read_text(encoding="utf-8"))
    add_messages(app, image, filter(is_message, found))


def add_messages(app: Sphinx, output: nodes.Element, found: Iterable[str]) -> None:
    for message in dict.fromkeys(found):
        words = nodes.paragraph(message, message)
        words.source, words.line = app.env.doc2path(app.env.docname), output.line or 0
        output.parent += words


def is_message(text: str) -> bool:
    """Return whether a figure's text needs translation; names such as Mixtral don't."""
    return has_words(re.sub(r"\b[A-Z][a-z]\w*", "", text))
