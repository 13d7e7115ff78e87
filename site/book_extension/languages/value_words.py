"""Translation of the words in computed values.

Cells run once, in English, so a translated page replaces the words. A value is recognized by the
first template that it matches; its parts are values, too. A count of millions or billions
becomes one of 万 or 亿. `values.js` does the same with values of a reader's own run.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

from roofkit.lines import SCALES, counted

_ = get_translation("sphinx")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
TEMPLATES = (
    "about {minutes} minutes, easy",
    "about {minutes} minutes, medium",
    "about {minutes} minutes, hard",
    "{figure}, sparse",
    "compute",
    "{low} to {high}",
    "{list} and {last}",
    *(f"{{day}} {month} {{year}}" for month in MONTHS),
    *(f"{month} {{year}}" for month in MONTHS),
    "{items}, {item}",
)
PLACE = re.compile(r"\{(\w+)\}")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SCALE = re.compile(f" ?({'|'.join(SCALES)})")
# Comment at the end of an expression that names the scale of its value.
SCALE_COMMENT = re.compile(f"  # ({'|'.join(SCALES)})$")


def translated(value: str, translate: Callable[[str], str]) -> str:
    """Translate a value that matches a template; return any other value unchanged."""
    for template in TEMPLATES:
        if found := pattern(template).fullmatch(value):
            words = {name: translated(part, translate) for name, part in found.groupdict().items()}
            return translate(template).format(**words)
    return value


@cache
def pattern(template: str) -> re.Pattern[str]:
    """Return a regular expression that matches the values made from a template."""
    return re.compile("".join(parts(template)))


def parts(template: str) -> Iterator[str]:
    for number, part in enumerate(PLACE.split(template)):
        yield f"(?P<{part}>.+)" if number % 2 else re.escape(part)


class TranslateValues(SphinxTransform):
    """Translate the words in a page's values, and the scale words after them."""

    default_priority = 25  # run after Sphinx has translated the messages

    def apply(self, **_arguments: Any) -> None:
        for node in self.document.findall(nodes.inline):
            if "computed" in node["classes"]:
                text = node.astext()
                words = translated(text, lambda template: str(_(template)))
                if power := take_scale(node):
                    node["classes"].append(f"scale-{power}")
                    words = counted(text, power)
                if words != text:
                    node["original"] = text
                    node.children[:] = []
                    node += nodes.Text(words)


def take_scale(value: nodes.inline) -> int:
    """Remove the scale word after a number; return its power of ten, 0 without one."""
    after = value.next_node(descend=False, siblings=True)
    found = SCALE.match(after) if isinstance(after, nodes.Text) else None
    if not found or not NUMBER.fullmatch(value.astext()):
        return 0
    after.parent.replace(after, nodes.Text(after[found.end() :]))
    return SCALES[found[1]]
