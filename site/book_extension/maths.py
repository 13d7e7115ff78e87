"""Formulas as MathML, made at build time.

They need no script, and screen readers read them.
"""

import html
import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

_ = get_translation("sphinx")
NAME = "mathml"
WORDS = re.compile(r"\\text\{([^{}]+)\}")
CLASSES = "math notranslate"
# Extra space after a row, as in `\\[2pt]`. It is dropped: the style sheet spaces all rows alike.
ROW_SPACE = re.compile(r"\\\\\s*\[[^\]]*\]")
# Environments for rows of formulas, replaced by `split`, the only one that the converter knows.
SPLIT = re.compile(r"\{(?:aligned|gathered)\}")
# Entities are replaced by their characters, except for those that HTML must escape.
ENTITY = re.compile(r"&#x([0-9A-Fa-f]+);")
KEPT = "&<>"
USUAL = re.compile(r' xmlns="[^"]*"| display="inline"')
# Rows that change nothing: one around a whole formula, and of a single name or number.
WHOLE = re.compile(r"(<math[^>]*>)<mrow>(.*)</mrow>(</math>)", re.DOTALL)
SINGLE = re.compile(r"<mrow>(<(m[in])>[^<]*</\2>)</mrow>")


class UnknownFormula(ValueError):
    """Raised for a formula that cannot be converted."""


def in_words(tex: str) -> str:
    """Return a formula with its words in the language of the build."""
    return WORDS.sub(lambda words: rf"\text{{{_(words[1])}}}", tex)


def mathml(tex: str, display: str) -> str:
    """Convert a formula to MathML. `display` is "inline" or "block".

    Raises UnknownFormula for a command that the converter does not know: it would print its name.
    """
    known = SPLIT.sub("{split}", ROW_SPACE.sub(r"\\\\", tex))
    if "\\\\" in known and "\\begin" not in known:
        known = rf"\begin{{split}}{known}\end{{split}}"  # as Sphinx does elsewhere
    try:
        made = convert(known, display=display)
    except Exception as error:  # the converter may raise anything, and doesn't name the formula
        raise UnknownFormula(f"{tex!r} cannot be set as MathML: {error!r}") from error
    words = html.unescape(re.sub(r"<[^>]*>", "", made))
    if "\\" in words or "&" in words:
        raise UnknownFormula(f"{tex!r} holds what MathML cannot be made of: {words!r}")
    shorter = SINGLE.sub(r"\1", WHOLE.sub(r"\1\2\3", USUAL.sub("", made)))
    return ENTITY.sub(_character, shorter)


def _character(entity: re.Match[str]) -> str:
    character = chr(int(entity[1], 16))
    return entity[0] if character in KEPT else character


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS=CLASSES))
    self.body.append(f"{mathml(in_words(node.astext()), 'inline')}</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS=CLASSES))
    self.body.append(mathml(in_words(node.astext()), "block"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def choose(app: Sphinx, config: Config) -> None:
    config.html_math_renderer = NAME


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer(NAME, (visit_inline, None), (visit_block, None))
    app.connect("config-inited", choose)
