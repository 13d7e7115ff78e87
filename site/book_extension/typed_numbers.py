"""Warn of numbers in a page that were typed by hand rather than computed by a cell.

Numbers that no cell can compute, such as years and names, are in ``chapters/allowed_numbers.toml``.
A number is anything that starts with a digit (or is a fraction sign): 3.35, 1e12, 20%, 50ms, 8-bit.
These do not count: names with a letter before the digits (bf16, v5e, H100); in formulas, 0, 1,
2, exponents and subscripts; references to parts of the book ("chapter 4"); and anything that isn't
read as text, such as code and addresses.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from .languages import is_translation

logger = logging.getLogger(__name__)
ALLOWED = Path("chapters") / "allowed_numbers.toml"
# What nobody wrote as text: code, HTML, what stands at the top of a file, docstrings, references.
UNREAD = (
    *(nodes.literal_block, nodes.doctest_block, nodes.literal, nodes.raw, nodes.comment),
    *(nodes.meta, nodes.docinfo, nodes.footnote_reference, addnodes.desc, addnodes.pending_xref),
)
PART_OF_BOOK = re.compile(
    r"\b(?:chapter|exercise|part|section|figure|table|step|question)s?\s+"
    r"\d{1,2}(?:\s*(?:[–,-]|to|and)\s*\d{1,2})*(?![\w%×]|[.,]\d)",
    re.IGNORECASE,
)
NAME = re.compile(r"(?<![\w.])(?=\w*\d)[^\W\d½⅓⅔¼¾⅕⅙⅛]\w*(?:\.\d+)*")
# In a formula: words, commands, exponents and subscripts, and the numbers 0, 1 and 2.
STRUCTURE = re.compile(
    r"\\(?:begin|end|text|mathrm|label|operatorname)\s*\{[^{}]*\}|\\\\\[[^\]]*\]|\\[A-Za-z]+"
    r"|[\^_]\s*(?:\{[^{}]*\}|\\?\w)|(?<![\d.,])[012](?![\d.,]\d|\d)"
)
NUMBER = re.compile(r"(?:\d+(?:[.,]\d+)*|[½⅓⅔¼¾⅕⅙⅛])(?:[eE][+-]?\d+)?(?:[%×⁰¹²³⁴-⁹]|-?[^\W\d])*")


def warn(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of each number that is typed by hand in a page of the original."""
    if is_translation(app):
        return
    file = Path(app.srcdir) / ALLOWED
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["allowed"] if file.exists() else []
    allowed = [phrase_pattern(entry["text"]) for entry in entries]
    for block in blocks(doctree.children):
        text = block.get("alt", "") if isinstance(block, nodes.image) else read_text(block)
        for pattern in (*allowed, PART_OF_BOOK, NAME):
            text = pattern.sub(" ", text)
        for number in NUMBER.findall(text):
            logger.warning(
                "the number %s is typed by hand: compute it in a cell and write {eval}`…`; if no "
                "cell can, add it to %s with the reason",
                number,
                ALLOWED,
                location=with_line(block),
            )


def blocks(children: Iterable[nodes.Node]) -> Iterator[nodes.Element]:
    """Yield paragraphs, headings, captions, formulas and pictures."""
    for node in children:
        if not isinstance(node, nodes.Element) or is_unread(node):
            continue
        if node.get("nb_element") == "cell_code":  # its outputs are computed
            yield from node.findall(lambda n: isinstance(n, nodes.caption | nodes.image))
        elif isinstance(node, nodes.TextElement | nodes.image):
            yield node
        else:
            yield from blocks(node.children)


def with_line(node: nodes.Element) -> nodes.Element:
    """Return the element itself or, since a cell of a table has no line, the one around it."""
    while not node.line and node.parent:
        node = node.parent
    return node


def read_text(node: nodes.Node) -> str:
    """Return what a reader reads of a block or a part of it."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, nodes.math | nodes.math_block):
        return STRUCTURE.sub(" ", node.astext())
    assert isinstance(node, nodes.Element)
    return " " if is_unread(node) else "".join(map(read_text, node.children))


def is_unread(node: nodes.Element) -> bool:
    """Return whether an element has an address, a computed value or what a program has made."""
    return (
        isinstance(node, UNREAD)
        or node.get("refuri") == node.astext()
        or "made" in node
        or "computed" in node["classes"]
        or "docstring of" in str(node.source)
    )


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern for the phrase outside longer words and numbers."""
    return re.compile(rf"(?<![\w.,]){re.escape(phrase)}(?!\w|[.,]\d)")
