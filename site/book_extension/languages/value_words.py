"""Words in computed values: cells run once, in English, so a translated page replaces them.

A value is recognized by the template that it has the form of. `prose_blocks.js` does the same with
the values of a reader's own run.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

_ = get_translation("sphinx")
TEMPLATES = (
    "about {minutes} minutes, easy",
    "about {minutes} minutes, medium",
    "about {minutes} minutes, hard",
    "{figure}, sparse",
    "January {year}",
    "February {year}",
    "March {year}",
    "April {year}",
    "May {year}",
    "June {year}",
    "July {year}",
    "August {year}",
    "September {year}",
    "October {year}",
    "November {year}",
    "December {year}",
)
PLACE = re.compile(r"\{(\w+)\}")


def translated(value: str, translate: Callable[[str], str]) -> str:
    """Return a value with its words translated, if it has the form of a template."""
    for template in TEMPLATES:
        if found := pattern(template).fullmatch(value):
            return translate(template).format(**found.groupdict())
    return value


def pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of the values that a template gives."""
    return re.compile("".join(parts(template)))


def parts(template: str) -> Iterator[str]:
    for number, part in enumerate(PLACE.split(template)):
        yield f"(?P<{part}>.+)" if number % 2 else re.escape(part)


class TranslateValues(SphinxTransform):
    """Translate the words in the values of a translated page."""

    default_priority = 25  # after Sphinx has translated the messages

    def apply(self, **_arguments: Any) -> None:
        for node in self.document.findall(nodes.inline):
            if "computed" in node["classes"]:
                text = node.astext()
                words = translated(text, lambda template: str(_(template)))
                if words != text:
                    node["original"] = text
                    node.children[:] = []
                    node += nodes.Text(words)
