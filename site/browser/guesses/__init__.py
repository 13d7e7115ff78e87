"""Guesses that a page asks for, with feedback on how far off they were.

The boxes "Your guess" and "Check yourself" ask for one. A page gives the right answer once, at the
place where the text reaches it:

    :::{answer} name
    {eval}`f"{slower}"` times
    :::

An answer that starts with a number is compared as a number; its unit follows. With a list below
it, the answer is one item of the list. The box "Your guess" above it in its section asks for the
guess; above a folded answer the form stands by itself. A box without an answer is an error. `:ask:`
names what to guess if a question asks for several things.

What gives the answer away is covered until the reader answers the guess or skips it by one press:
what stands between the box and the answer, and the paragraph after it. Definitions, formulas and
whatever else is needed later belong above the box, or after that paragraph. A folded answer covers
nothing else.

A switch in the list of the page's sections, and beside each guess, opens all answers of all pages
until it is turned off. What cells print folded (with the tag hide-output) it opens, too, unless
they have the tag no-answer.

A page with `<div class="guesses" hidden></div>` gets a table of all guesses kept in the browser.
Guesses don't appear without scripts, in notebooks or on paper.
"""

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

BOX = "Your guess"  # title of the boxes that ask for a guess
logger = logging.getLogger(__name__)


# Invisible nodes: versions of a page without scripts, such as notebooks, omit them.
class answer(nodes.Invisible, nodes.Element):  # type: ignore[misc]
    """Right answer; its parts have the classes right, choice and ask."""


# Not an inline node, so that it is translated as a separate message.
class part(nodes.TextElement):  # type: ignore[misc]
    """Displayed text of an answer: the right answer, an option, or what to guess."""


class Answer(SphinxDirective):
    """`:::{answer} name` with the right answer and, for a choice, a list of options."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {"ask": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        lists = list(body.findall(nodes.bullet_list))
        choices = [item.astext().strip() for found in lists for item in found.children]
        right = next(iter(body.findall(nodes.paragraph)), None)
        text = right.astext().strip() if right else ""
        if wrong := problem(text, choices):
            logger.warning("answer %s: %s", self.arguments[0], wrong, location=self.get_location())
            return []
        assert right is not None
        items = [item[0] for found in lists for item in found]
        parts = [shown_part(right, "right"), *(shown_part(item, "choice") for item in items)]
        if asked := self.options.get("ask"):
            words = nodes.paragraph(asked, asked)
            words.source, words.line = right.source, right.line
            parts.append(shown_part(words, "ask"))
        # The place among the choices is the same in all languages.
        data = {"kind": "choice", "place": choices.index(text)} if choices else {"kind": "number"}
        made = answer("", *parts, data={"name": self.arguments[0], **data})
        self.set_source_info(made)
        return [made]


def shown_part(paragraph: nodes.paragraph, name: str) -> part:
    """Return a paragraph's content as a part of an answer, with this class."""
    made = part(paragraph.rawsource, "", *paragraph.children, classes=[name])
    made.source, made.line = paragraph.source, paragraph.line
    return made


def problem(text: str, choices: list[str]) -> str:
    """Return what is wrong with an answer, or an empty string."""
    if choices:
        return "" if text in choices else f"“{text}” is none of {', '.join(choices)}"
    if not text[:1].isdecimal():
        return f"“{text}” does not begin with a number, and there is no list to choose from"
    return ""


def visit_answer(writer: Any, node: nodes.Element) -> None:
    data = {f"data-{key}": value for key, value in node["data"].items()}
    if "data-place" in data:  # the choice has the words in the page's language
        for text in [*node[0].findall(nodes.Text)]:
            text.parent.remove(text)
    writer.body.append(writer.starttag(node, "div", "", CLASS="answer", hidden="hidden", **data))


def visit_part(writer: Any, node: nodes.Element) -> None:
    writer.body.append(writer.starttag(node, "span", ""))


def depart_part(writer: Any, node: nodes.Element) -> None:
    writer.body.append("</span>")


def depart(writer: Any, node: nodes.Element) -> None:
    writer.body.append("</div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the script to pages that ask for a guess."""
    if doctree is not None and any(doctree.findall(answer)):
        app.add_css_file("guesses.css")
        attributes: dict[str, Any] = {"data-page": page}
        app.add_js_file("guesses.js", loading_method="defer", **attributes)


def check_boxes(app: Sphinx, doctree: nodes.document) -> None:
    """Warn about boxes that ask for a guess but have no answer below them."""
    for box in doctree.findall(nodes.admonition):
        if box[0].astext() == BOX and not is_answered(box):
            said = "the box “%s” has no {answer} below it in its section: %s"
            logger.warning(said, BOX, box[1].astext().split("\n", 1)[0], location=box)


def is_answered(box: nodes.admonition) -> bool:
    """Return whether an answer belongs to a box; it belongs to the last box above it."""
    for node in box.parent[box.parent.index(box) + 1 :]:
        if isinstance(node, nodes.section) or "tip" in node.get("classes", ()):
            return False
        if any(node.findall(answer)):
            return True
    return False


def setup(app: Sphinx) -> None:
    app.add_node(answer, html=(visit_answer, depart))
    app.add_node(part, html=(visit_part, depart_part))
    app.add_directive("answer", Answer)
    app.connect("doctree-read", check_boxes)
    app.connect("html-page-context", add_script)
