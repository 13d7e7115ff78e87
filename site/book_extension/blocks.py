"""Premises: conditions under which a block of prose follows a reader's changes.

A premise must hold for its block to follow a reader's changes. A block is a paragraph, heading,
caption, table row and so on. It may begin with the role ``{while}``, whose text is an expression
over the page's names, its premise. The role renders nothing; its block keeps the expression as the
attribute ``premise``.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from .prose import one_line, premise_name
from .values import values_of

logger = logging.getLogger(__name__)


# Writers skip invisible nodes, even if ReadPremises has not removed them.
class premise(nodes.Invisible, nodes.Inline, nodes.Element):  # type: ignore[misc]
    """Placeholder for a ``{while}`` role, until the expression is moved to its block."""


class PremiseRole(SphinxRole):
    """Role ``{while}``, which sets the premise of its block.

    It warns if the premise does not hold on the page as built.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        expression = one_line(self.text)
        found = values_of(self).get(premise_name(expression))
        problem = "was not evaluated" if found is None else found["data"]["text/plain"]
        if problem:
            message = "premise {while}`%s` %s"
            logger.warning(message, expression, problem, location=self.get_location())
        node = premise(expression=expression)
        self.set_source_info(node)
        return [node], []


def block_of(node: nodes.Node) -> nodes.Element | None:
    """Return the block of prose that contains a node.

    It is the table row around the node or, outside of tables, the nearest text.
    """
    found: nodes.Element | None = None
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.row):
            return node
        if found is None and isinstance(node, nodes.TextElement):
            found = None if isinstance(node, nodes.Inline) else node
    return found


class ReadPremises(SphinxTransform):
    """Move the expression of each ``{while}`` role to the block of prose around it."""

    # Run after translations (20), and before Sphinx reads the titles for references (850).
    default_priority = 100

    def apply(self, **_: Any) -> None:
        # Skip translated messages: each is parsed alone, without the table row around it.
        if str(self.document["source"]).endswith("<translated>"):
            return
        for node in list(self.document.findall(premise)):
            block, expression = block_of(node), node["expression"]
            if block is None or not begins(block, node) or "premise" in block:
                message = "{while}`%s` must stand alone at the beginning of its block"
                logger.warning(message, expression, location=node)
            else:
                block["premise"] = expression
            mark_or_remove(node, block)


def begins(block: nodes.Element, node: nodes.Node) -> bool:
    """Return whether a node comes before all text of its block."""
    for other in block.findall():
        if other is node:
            return True
        if isinstance(other, nodes.Text) and other.strip():
            return False
    return False


def mark_or_remove(node: nodes.Element, block: nodes.Element | None) -> None:
    """Remove a premise node or replace it by an empty mark; drop the space after it.

    Only blocks without values get the mark, by which scripts find them.
    """
    parent = node.parent
    place = parent.index(node)
    has_values = block and any(
        "computed" in inner["classes"] for inner in block.findall(nodes.inline)
    )
    mark = nodes.inline(classes=["premise"], expression=node["expression"])
    parent[place : place + 1] = [] if has_values else [mark]
    place += not has_values
    if place < len(parent) and isinstance(text := parent[place], nodes.Text):
        parent[place] = nodes.Text(text.lstrip())


def setup(app: Sphinx) -> None:
    app.add_role("while", PremiseRole(), override=True)
    app.add_transform(ReadPremises)
