"""Directive ``{cards}``: the numbered chapters, each with its picture, its title and its question.

A chapter's question is in its front matter, and describes the page if nothing else does; its
picture is `static/strip/NAME.svg`, if there is one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from . import contents

STRIP = Path("site/book_extension/static/strip")


class Cards(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        book = Path(self.env.srcdir)
        toc = book / "_toc.yml"
        self.env.note_dependency(str(toc))
        chapters = [page.docname for page in contents.pages(toc) if page.number]
        cards = (nodes.list_item("", *self.card(book, name)) for name in chapters)
        return [nodes.bullet_list("", *cards, classes=["cards"])]

    def card(self, book: Path, name: str) -> Iterator[nodes.Node]:
        source = book / f"{name}.md"
        self.env.note_dependency(str(source))
        picture = STRIP / f"{source.stem}.svg"
        if (book / picture).is_file():
            yield nodes.image(uri=f"/{picture.as_posix()}", alt="")
        title = addnodes.pending_xref(
            "",
            nodes.inline("", name),
            refdomain="std",
            reftype="doc",
            reftarget=f"/{name}",
            refdoc=self.env.docname,
            refexplicit=False,
            refwarn=True,
        )
        yield nodes.paragraph("", "", title, classes=["card-title"], translatable=False)
        question = next(yaml.safe_load_all(source.read_text(encoding="utf-8"))).get("question", "")
        words = nodes.paragraph(question, question)
        self.set_source_info(words)
        yield words


class DescribeByQuestion(SphinxTransform):
    """Describe a page by its question if its front matter has no description."""

    default_priority = 785  # run after docutils has put descriptions into the page

    def apply(self, **_: Any) -> None:
        fields = {field[0].astext(): field[1] for field in self.document.findall(nodes.field)}
        described = any(meta.get("name") for meta in self.document.findall(nodes.meta))
        if "question" in fields and not described:
            question = fields["question"].astext()
            self.document += nodes.meta(name="description", content=question)
