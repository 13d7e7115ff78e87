"""Spaces between Chinese characters: none, also where a value or a reference turned out Chinese.

A translator can't know what a value or the name of a figure will be, and sets a space around it, as
around Latin letters and digits.
"""

import re

from docutils import nodes

CHINESE = "\u3400-\u9fff\uff01-\uff60\u3001-\u3011“”"
ENDS, STARTS = re.compile(f"[{CHINESE}] *$"), re.compile(f"^ *[{CHINESE}]")
# What is not read as text, so that the texts around it are no neighbors.
BETWEEN = (nodes.literal, nodes.math, nodes.image, nodes.raw)


def close_up(doctree: nodes.document) -> None:
    """Remove the spaces between Chinese characters of a page's paragraphs, headings and cells."""
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


def replace(old: nodes.Text, text: str) -> nodes.Text:
    new = nodes.Text(text)
    old.parent.replace(old, new)
    return new
