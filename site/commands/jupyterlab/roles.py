"""Conversion of Sphinx's MyST roles to Markdown that JupyterLab understands."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from book_extension.languages.value_words import NUMBER, SCALE
from book_extension.prose import EVAL, WHILE, one_line, without_code

from .sources import term_label
from .targets import Target, Targets

ROLE = re.compile(r"(?<![`\\])\{(?P<name>[a-z][\w:.+-]*)\}`(?P<body>[^`]+)`")
# A link within the built site, whose target isn't in the reader's folder.
SITE_LINK = re.compile(r"""<a href="(?![a-z]+:)[^"]*">(?P<text>.*?)</a>""", re.DOTALL)
WITH_TARGET = re.compile(r"(?P<text>.*?)\s*<(?P<target>[^<>]+)>", re.DOTALL)


@dataclass(frozen=True)
class Links:
    """Converter of one page's references to links between the pages' copies."""

    targets: Targets
    places: Mapping[str, str]
    page: str

    def to(self, page: str, label: str, text: str) -> str:
        """Return a link, or the text alone if the page has no copy."""
        if page not in self.places:
            return text
        here = posixpath.dirname(self.places.get(self.page, "chapters/here"))
        address = posixpath.relpath(self.places[page], here)
        # Without a label, the link opens the notebook at its top.
        return f"[{text}]({address}{f'#cell-id={label}' if label else ''})"

    def to_target(self, target: Target | None, text: str) -> str:
        """Return a link to a label; without text it shows the target's title."""
        if target is None:
            return text
        first = self.targets.pieces[target.page][0].label
        label = "" if target.label == first else target.label
        return self.to(target.page, label, text or target.title)


def without_roles(markdown: str, links: Links) -> str:
    """Replace each role except ``{eval}``, and put each ``{eval}`` on one line."""
    markdown = without_premises(markdown)
    parts, end = [], 0
    for role in ROLE.finditer(without_code(markdown)):
        parts += [
            markdown[end : role.start()],
            replaced(role["name"], one_line(role["body"]), links),
        ]
        end = role.end()
    return "".join([*parts, markdown[end:]])


def without_premises(markdown: str) -> str:
    """Remove each ``{while}`` role, and the space after it."""
    parts, end = [], 0
    for role in WHILE.finditer(without_code(markdown)):
        parts.append(markdown[end : role.start()])
        end = role.end()
    return "".join([*parts, markdown[end:]])


def without_site_links(markdown: str) -> str:
    """Replace each HTML link into the built site by its text."""
    parts, end = [], 0
    for link in SITE_LINK.finditer(without_code(markdown)):
        parts += [markdown[end : link.start()], markdown[link.start("text") : link.end("text")]]
        end = link.end()
    return "".join([*parts, markdown[end:]])


def replaced(name: str, body: str, links: Links) -> str:
    """Convert one role to Markdown."""
    if name == "eval":
        return f"{{eval}}`{body}`"
    explicit = WITH_TARGET.fullmatch(body)
    text, target = (explicit["text"], explicit["target"]) if explicit else ("", body)
    labels = links.targets.labels
    if name == "term":
        return links.to_target(labels.get(term_label(target)), text or target)
    if name in ("ref", "numref"):
        return links.to_target(labels.get(target), text)
    if name == "doc":
        page = posixpath.normpath(posixpath.join(posixpath.dirname(links.page), target))
        return links.to(page, "", text or links.targets.titles.get(page, target))
    if name.startswith("cite"):
        return cited([key.strip() for key in body.split(",")], name == "cite:t", links)
    # Of {download}, keep the text: the reader has the file already, or doesn't need it.
    return text or target


def cited(keys: list[str], in_sentence: bool, links: Links) -> str:
    """Return a citation: authors and years, linked to the bibliography."""
    page, works = links.targets.bibliography, links.targets.works
    if in_sentence:
        names = [f"{works[key].authors} ({works[key].year})" for key in keys]
        return ", ".join(links.to(page, work_label(k), n) for k, n in zip(keys, names, strict=True))
    names = [f"{works[key].authors}, {works[key].year}" for key in keys]
    found = "; ".join(links.to(page, work_label(k), n) for k, n in zip(keys, names, strict=True))
    return f"({found})"


def work_label(key: str) -> str:
    """Return the label of a work's entry in the bibliography."""
    return f"work-{key}"


def with_values(markdown: str, values: Mapping[str, str]) -> str:
    """Replace each ``{eval}`` role by its value, and remove ``{while}`` roles."""
    markdown = without_premises(markdown)
    parts, end = [], 0
    for role in EVAL.finditer(without_code(markdown)):
        expression = one_line(role["expression"])
        parts += [markdown[end : role.start()], values.get(expression, expression)]
        end = role.end()
    return "".join([*parts, markdown[end:]])


def with_scales(markdown: str, values: Mapping[str, str]) -> str:
    """Move each scale word after a number into the number's expression, as a comment.

    A kernel ignores it, and what shows the value in a notebook knows its scale.
    """
    parts, end = [], 0
    for role in EVAL.finditer(without_code(markdown)):
        expression = one_line(role["expression"])
        scale = SCALE.match(markdown, role.end())
        if scale and NUMBER.fullmatch(values.get(expression, "")):
            parts += [markdown[end : role.start()], f"{{eval}}`{expression}  # {scale[1]}`"]
            end = scale.end()
    return "".join([*parts, markdown[end:]])
