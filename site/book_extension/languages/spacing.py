"""Spaces between Chinese characters, which are removed, and punctuation beside formulas.

The former include spaces around a value or a reference that turned out Chinese. A translator can't
know what a value or the name of a figure will be, and sets a space around it, as around Latin
letters and digits. Formulas of all languages keep the punctuation beside them on their line:
browsers would break lines there.
"""

import re

from docutils import nodes

CHINESE = "\u3400-\u9fff\uff01-\uff60\u3001-\u3011“”"
ENDS, STARTS = re.compile(f"[{CHINESE}] *$"), re.compile(f"^ *[{CHINESE}]")
# Punctuation that must not end a line, and punctuation that must not begin one.
OPENING = re.compile(r"[(\[\u2018\u201c\uff08\u300a]+$")
CLOSING = re.compile(
    r"^[-.,:;?!%)\]\u2019\u201d\uff09\u300b\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f]+"
)
# Nodes that are not text: the texts before and after one are not adjacent.
BETWEEN = (nodes.literal, nodes.math, nodes.image, nodes.raw)


def close_up(doctree: nodes.document) -> None:
    """Remove spaces between Chinese characters in paragraphs, headings and cells."""
    for block in doctree.findall(nodes.TextElement):
        if isinstance(block, nodes.Inline | nodes.FixedTextElement):
            continue
        before: nodes.Text | None = None
        for node in list(block.findall()):
            if isinstance(node, BETWEEN) or isinstance(node.parent, BETWEEN):
                before = None
            elif isinstance(node, nodes.Text) and node:
                if before and ENDS.search(before) and STARTS.search(node):
                    replace(before, before.rstrip(" "))
                    node = replace(node, node.lstrip(" "))
                before = node


def keep_punctuation(doctree: nodes.document) -> None:
    """Keep formulas on a line with the punctuation before and after them."""
    for formula in list(doctree.findall(nodes.math)):
        parent, at = formula.parent, formula.parent.index(formula)
        kept: list[nodes.Node] = [formula]
        after = parent[at + 1] if at + 1 < len(parent) else None
        if isinstance(after, nodes.Text) and (found := CLOSING.search(after)):
            kept.append(nodes.Text(found[0]))
            parent[at + 1] = nodes.Text(after[found.end() :])
        before = parent[at - 1] if at else None
        if isinstance(before, nodes.Text) and (found := OPENING.search(before)):
            kept.insert(0, nodes.Text(found[0]))
            parent[at - 1] = nodes.Text(before[: found.start()])
        if len(kept) > 1:
            parent[at] = nodes.inline("", "", *kept, classes=["joined"])


def replace(old: nodes.Text, text: str) -> nodes.Text:
    new = nodes.Text(text)
    old.parent.replace(old, new)
    return new
