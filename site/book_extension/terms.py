"""First sentences of glossary entries, for the tooltips at links to them."""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

# Sentences end so in English, and in Chinese, which has no space between them.
SENTENCE_ENDS = re.compile(r"(?<=[.?!])\s+|(?<=[。\uff1f\uff01])\s*")


def write_terms(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a glossary page's terms as a script, which pages can load from disk, too.

    It is a script because a page opened from disk can't load data files.
    """
    terms = first_sentences(doctree) if doctree is not None else {}
    if terms:
        script = f"window.courseTerms = {json.dumps(terms, ensure_ascii=False)};\n"
        folder = Path(app.outdir) / "_static"
        ensuredir(folder)
        (folder / "terms.js").write_text(script, encoding="utf-8")


def first_sentences(document: nodes.document) -> dict[str, str]:
    """Return the first sentence on each glossary term, by the term's anchor."""
    found = {}
    for glossary in document.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            text = next(iter(item.findall(nodes.paragraph))).astext()
            sentence = " ".join(SENTENCE_ENDS.split(text)[0].split())
            for term in item.findall(nodes.term):
                found.update(dict.fromkeys(term["ids"], sentence))
    return found
