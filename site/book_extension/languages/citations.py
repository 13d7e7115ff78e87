"""Words between the names of a citation, which sphinxcontrib-bibtex writes in English."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

_ = get_translation("sphinx")
CITATION = "bibtex-citation"  # class of an inline with names and links
TWO = re.compile(r"(?P<one>.+) and (?P<other>.+)", re.DOTALL)
OTHERS = "et al."


def translate(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Translate the words in all citations of a page."""
    for found in doctree.findall(is_citation):
        for others in list(found.findall(nodes.emphasis)):
            if others.astext() == OTHERS and _("et al.") != OTHERS:
                others.replace_self(nodes.Text(str(_("et al."))))
        for text in list(found.findall(nodes.Text)):
            if two := TWO.fullmatch(text):
                words = str(_("{one} and {other}")).format(**two.groupdict())
                text.parent.replace(text, nodes.Text(words))


def is_citation(node: nodes.Node) -> bool:
    return isinstance(node, nodes.inline) and any(CITATION in name for name in node["classes"])


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", translate)
