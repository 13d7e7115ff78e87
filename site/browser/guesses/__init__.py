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

Guesses don't appear without scripts, in notebooks or on paper.
"""

import os
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

NUMBER = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)(?P<unit>(?:\D.*)?)", re.DOTALL)
BOX = "Your guess"  # title of the boxes that ask for a guess
HERE = Path(__file__).parent
PARTS = ("right", "choice", "ask")  # CSS classes of an answer's parts
FILES = SCRIPT, STYLE = "guesses.js", "guesses.css"
logger = logging.getLogger(__name__)


# Invisible nodes: versions of a page without scripts, such as notebooks, omit them.
class answer(nodes.Invisible, nodes.Element):  # type: ignore[misc]
    """Right answer, with attributes that say how to ask for a guess."""


# Not an inline node, so that it is translated as a separate message.
class part(nodes.TextElement):  # type: ignore[misc]
    """Displayed text of an answer: the right answer, an option, or what to guess."""


class guesses(nodes.Invisible, nodes.Element):  # type: ignore[misc]
    """Placeholder for the summary of all guesses."""


class Answer(SphinxDirective):
    """`:::{answer} name` with the right answer and, for a choice, a list of options."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {
        "ask": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        lists = list(body.findall(nodes.bullet_list))
        choices = [item.astext().strip() for found in lists for item in found.children]
        right = next(iter(body.findall(nodes.paragraph)), None)
        text = right.astext().strip() if right else ""
        kind = "choice" if choices else "number"
        if wrong := problem(kind, text, choices):
            logger.warning("answer %s: %s", self.arguments[0], wrong, location=self.get_location())
            return []
        assert right is not None
        items = [item[0] for found in lists for item in found]
        parts = [shown_part(right, "right"), *(shown_part(item, "choice") for item in items)]
        attributes = {"name": self.arguments[0], "kind": kind, "ask": self.options.get("ask", "")}
        if asked := attributes["ask"]:
            words = nodes.paragraph(asked, asked)
            words.source, words.line = right.source, right.line
            parts.append(shown_part(words, "ask"))
        if choices:
            attributes["place"] = choices.index(text)
        made = answer("", *parts, **attributes)
        self.set_source_info(made)
        return [made]


def shown_part(paragraph: nodes.paragraph, name: str) -> part:
    """Return a paragraph's content as a part of an answer, with this class."""
    made = part(paragraph.rawsource, "", *paragraph.children, classes=[name])
    made.source, made.line = paragraph.source, paragraph.line
    return made


def problem(kind: str, text: str, choices: list[str]) -> str:
    """Return what is wrong with an answer, or an empty string."""
    if kind == "number" and not NUMBER.fullmatch(text):
        return f"“{text}” does not begin with a number, and there is no list to choose from"
    if kind == "choice" and text not in choices:
        return f"“{text}” is none of {', '.join(choices)}"
    return ""


class Guesses(SphinxDirective):
    """`:::{guesses}`, the summary of the guesses saved in the browser."""

    def run(self) -> list[nodes.Node]:
        return [guesses()]


def visit_answer(writer: Any, node: nodes.Element) -> None:
    attributes = {f"data-{key}": node[key] for key in ("name", "kind", "ask")}
    attributes["hidden"] = "hidden"
    writer.body.append(writer.starttag(node, "div", "", CLASS="answer", **attributes))


def visit_part(writer: Any, node: nodes.Element) -> None:
    writer.body.append(writer.starttag(node, "span", ""))


def depart_part(writer: Any, node: nodes.Element) -> None:
    writer.body.append("</span>")


def visit_guesses(writer: Any, node: nodes.Element) -> None:
    writer.body.append(writer.starttag(node, "div", "", CLASS="guesses", hidden="hidden"))


def depart(writer: Any, node: nodes.Element) -> None:
    writer.body.append("</div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the script to pages that ask for a guess or show the summary."""
    if doctree is not None and any(doctree.findall(lambda n: isinstance(n, answer | guesses))):
        app.add_css_file(STYLE)
        attributes: dict[str, Any] = {"data-page": page}
        app.add_js_file(SCRIPT, loading_method="defer", **attributes)


def follow_translation(app: Sphinx, doctree: nodes.document) -> None:
    """Put the translated question and right options into answers."""
    if app.builder.name == "gettext":
        return
    for found in doctree.findall(answer):
        named = {name: [p for p in found.children if name in p["classes"]] for name in PARTS}
        for asked in named["ask"]:
            found["ask"] = asked.astext()
            found.remove(asked)
        if "place" in found:
            (right,) = named["right"]
            computed = [
                node for node in right.findall(nodes.inline) if "computed" in node["classes"]
            ]
            words = named["choice"][found["place"]].astext()
            text = computed[0] if len(computed) == 1 else right
            if text.astext() != words:
                text.setdefault("original", text.astext())  # the English value, as cells compute it
                text.children = []
                text += nodes.Text(words)


def unanswered(doctree: nodes.document) -> list[nodes.Element]:
    """Return the boxes "Your guess" that have no answer.

    An answer belongs to the last box above it.
    """
    place = {id(element): number for number, element in enumerate(doctree.findall(nodes.Element))}

    def boxes(element: nodes.Element) -> list[nodes.Element]:
        return [box for box in element.findall(nodes.admonition) if "tip" in box["classes"]]

    answered = set()
    for found in doctree.findall(answer):
        section = found.parent
        while not isinstance(section, nodes.section | nodes.document):
            section = section.parent
        above = [box for box in boxes(section) if place[id(box)] < place[id(found)]]
        answered |= {id(box) for box in above[-1:]}
    titled = [box for box in boxes(doctree) if box[0].astext() == BOX]
    return [box for box in titled if id(box) not in answered]


def check_boxes(app: Sphinx, doctree: nodes.document) -> None:
    """Warn about boxes that ask for a guess but have no answer below them."""
    for box in unanswered(doctree):
        said = "the box “%s” has no {answer} below it in its section: %s"
        logger.warning(said, BOX, box[1].astext().split("\n", 1)[0], location=box)


def serve(app: Sphinx, config: Config) -> None:
    """Copy the script and its style sheet into the site."""
    config.html_static_path += [os.path.relpath(HERE / name, app.srcdir) for name in FILES]


def setup(app: Sphinx) -> None:
    app.add_node(answer, html=(visit_answer, depart))
    app.add_node(part, html=(visit_part, depart_part))
    app.add_node(guesses, html=(visit_guesses, depart))
    app.add_directive("answer", Answer)
    app.add_directive("guesses", Guesses)
    app.connect("config-inited", serve)
    app.connect("doctree-read", follow_translation)
    app.connect("doctree-read", check_boxes)
    app.connect("html-page-context", add_script)
