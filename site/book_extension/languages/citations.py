"""Translation of citations; bibliography entries stay English.

sphinxcontrib-bibtex writes them as in English.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

_ = get_translation("sphinx")
CITATION = "bibtex-citation"  # class of the inline node around a citation's names and links
TWO = re.compile(r"(?P<one>.+) and (?P<other>.+)", re.DOTALL)
DATED = re.compile(r"(?P<names>.*), (?P<year>(?:\d{4}|n\.d\.)\S*)", re.DOTALL)
OTHERS, UNDATED, NEXT = "et al.", "n.d.", ", "


def translate(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Translate the words in all citations of a page."""
    for found in doctree.findall(is_citation):
        for others in list(found.findall(nodes.emphasis)):
            if others.astext() == OTHERS and _("et al.") != OTHERS:
                others.replace_self(nodes.Text(str(_("et al."))))
        for text in list(found.findall(nodes.Text)):
            if (words := in_language(text)) != text:
                text.parent.replace(text, nodes.Text(words))


def mark_works(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Mark bibliography entries as English, so that they get English quotation marks."""
    if app.config.language != "en":
        for work in doctree.findall(nodes.citation):
            work["classes"].append("language-en")


def in_language(text: str) -> str:
    """Return a part of a citation with words and commas in the page's language."""
    if text == NEXT:  # between two works
        return str(_("{one}, {other}")).format(one="", other="")
    if dated := DATED.fullmatch(text):
        text = str(_("{names}, {year}")).format(**dated.groupdict())
    if two := TWO.fullmatch(text):
        text = str(_("{one} and {other}")).format(**two.groupdict())
    return text.replace(UNDATED, str(_("n.d.")))


def is_citation(node: nodes.Node) -> bool:
    return isinstance(node, nodes.inline) and any(CITATION in name for name in node["classes"])


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", translate)
    app.connect("doctree-resolved", mark_works)
