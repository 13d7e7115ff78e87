"""Directive ``{cards}``: the numbered chapters, each with its picture, its title and its question.

A chapter's question is in its front matter, and describes the page if nothing else does; its
picture is `static/strip/NAME.svg`, if there is one.
"""

from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from . import contents

STRIP = Path("site/book_extension/static/strip")


class Cards(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        book = Path(self.env.srcdir)
        toc = book / "_toc.yml"
        self.env.note_dependency(str(toc))
        lines = []
        for name in (page.docname for page in contents.pages(toc) if page.number):
            source = book / f"{name}.md"
            self.env.note_dependency(str(source))
            picture = STRIP / f"{source.stem}.svg"
            shown = f"![](/{picture.as_posix()})" if (book / picture).is_file() else ""
            top = next(yaml.safe_load_all(source.read_text(encoding="utf-8")))
            lines += [f"- {shown}{{doc}}`/{name}`", "", f"  {top.get('question', '')}", ""]
        cards = self.parse_text_to_nodes("\n".join(lines))
        for item in (item for found in cards for item in found.findall(nodes.list_item)):
            item.parent["classes"] = ["cards"]
            item[0]["classes"], item[0]["translatable"] = ["card-title"], False
        return cards


class DescribeByQuestion(SphinxTransform):
    """Describe a page by its question if its front matter has no description."""

    default_priority = 785  # run after docutils has put descriptions into the page

    def apply(self, **_: Any) -> None:
        fields = {field[0].astext(): field[1] for field in self.document.findall(nodes.field)}
        described = any(meta.get("name") for meta in self.document.findall(nodes.meta))
        if "question" in fields and not described:
            question = fields["question"].astext()
            self.document += nodes.meta(name="description", content=question)
