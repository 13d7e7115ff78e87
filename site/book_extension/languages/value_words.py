"""Translation of the words in computed values.

Cells run once, in English, so a translated page replaces the words.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

from roofkit.lines import COUNTED, SCALES, value_in_words

_ = get_translation("sphinx")
SCALE = re.compile(f" ?({'|'.join(SCALES)})")


class TranslateValues(SphinxTransform):
    """Translate the words in a page's values, and the scale words after them."""

    default_priority = 25  # run after Sphinx has translated the messages

    def apply(self, **_arguments: Any) -> None:
        for node in self.document.findall(nodes.inline):
            if "computed" in node["classes"]:
                if power := take_scale(node):
                    node["power"] = power  # of ten; a reader's own run needs it, too
                text = node.astext()
                words = value_in_words(text, power, lambda message: str(_(message)))
                if words != text:
                    node.children[:] = []
                    node += nodes.Text(words)


def take_scale(node: nodes.inline) -> int:
    """Remove the scale word after a number; return its power of ten, 0 without one."""
    after = node.next_node(descend=False, siblings=True)
    found = SCALE.match(after) if isinstance(after, nodes.Text) else None
    if not found or not COUNTED.fullmatch(node.astext()):
        return 0
    after.parent.replace(after, nodes.Text(after[found.end() :]))
    return SCALES[found[1]]
