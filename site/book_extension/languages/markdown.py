"""Extraction and translation of messages in a page's Markdown source.

The messages are those that Sphinx finds: headings, paragraphs, cells of tables and titles of
directives.
"""

import re
from collections.abc import Callable
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from book_extension.prose import DIRECTIVE, LITERAL_DIRECTIVES

Words = Callable[[str], str]
EXTENSIONS = {"amsmath", "colon_fence", "deflist", "dollarmath"}  # as in _config.yml
OPTION = re.compile(r"[ >]*:[\w-]+:")
# The body of a glossary has its own syntax.
UNREAD = LITERAL_DIRECTIVES | {"glossary"}
# Text that needs no translation: computed values, citations, code, formulas, numbers with units,
# abbreviations and names of chips.
UNTRANSLATED = re.compile(
    r"\{(?:eval|while|cite:[pt])\}`[^`]*`|`[^`]*`|\$[^$]*\$|\d\S*\s[mnµ]?s\b"
    r"|[^\s`]*(?:\d|[A-Z][^\s`]*[A-Z])[^\s`]*"
)

# English words that need a translation even among names: an article, or a plural such as TPUs.
ENGLISH = re.compile(r"\ba (?=[A-Z]{2})|\b[A-Z]{2,}s\b")


@cache
def parser() -> MarkdownIt:
    return create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)


def has_words(message: str) -> bool:
    """Return whether a message has something to translate."""
    return bool(ENGLISH.search(message) or re.search("[a-z]{2}", UNTRANSLATED.sub("", message)))


def messages(markdown: str) -> list[str]:
    """Return a text's messages that have something to translate."""
    found: list[str] = []

    def keep(message: str) -> str:
        found.append(message)
        return message

    in_words(markdown, keep)
    return list(filter(has_words, found))


def in_words(markdown: str, words: Words) -> str:
    """Return a Markdown text with each message translated and put on one line."""
    lines: list[str | None] = [*markdown.split("\n")]
    rows: dict[int, list[str]] = {}
    for token in parser().parse(markdown):
        start, end = token.map or (0, 0)
        if token.type == "tr_open":
            rows[start] = []
        elif token.type == "inline" and start in rows:
            rows[start].append(token.content)
        elif token.type == "inline":
            said = translated(token.content, words)
            if said != token.content:
                # Keep the mark of a heading or list item before the message.
                before, _, _ = str(lines[start]).partition(token.content.split("\n")[0])
                lines[start:end] = [before + said, *[None] * (end - start - 1)]
        elif token.type in ("fence", "colon_fence"):
            lines[start:end] = directive(token, [str(line) for line in lines[start:end]], words)
    for place, row in rows.items():
        said_row = [translated(cell, words) for cell in row]
        if said_row != row:
            cells = " | ".join(cell.replace("|", r"\|") for cell in said_row)
            lines[place] = f"{indentation(str(lines[place]))}| {cells} |"
    return "\n".join(line for line in lines if line is not None)


def translated(content: str, words: Words) -> str:
    """Return the translation of a message, or the text as written if there is none."""
    message = content.replace("\n", " ").strip()  # as Sphinx does
    said = words(message)
    return content if said == message else said


def indentation(line: str) -> str:
    """Return a line's indentation, including the marks of a block quote."""
    return line[: len(line) - len(line.lstrip(" >"))]


def directive(fence: Token, lines: list[str], words: Words) -> list[str | None]:
    """Return the lines of a directive with its title and its body translated."""
    info = fence.info.strip()
    found = DIRECTIVE.match(info)
    if not found or found["name"] in UNREAD:
        return [*lines]
    indent, title = indentation(lines[0]), info[found.end() :].strip()
    first = lines[0]
    if title:
        first = first[: first.rindex(title)] + translated(title, words)
    body = fence.content.splitlines()
    options = next((n for n, line in enumerate(body) if not OPTION.match(line)), len(body))
    text = in_words("\n".join(body[options:]), words)
    said = [f"{indent}{line}".rstrip() for line in text.split("\n")] if body[options:] else []
    made = [first, *lines[1 : 1 + options], *said, *lines[1 + len(body) :]]
    # Keep the number of lines: the positions of other tokens refer to the original.
    return [*made, *[None] * (len(lines) - len(made))]
