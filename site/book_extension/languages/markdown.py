"""Messages in Markdown that Sphinx doesn't read, the README of exercises.zip.

They are its headings, paragraphs and cells of tables.
"""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt

Words = Callable[[str], str]
# Text that needs no translation: computed values, citations, code, formulas, numbers with units,
# abbreviations and names of chips.
UNTRANSLATED = re.compile(
    r"\{(?:eval|while|cite:[pt])\}`[^`]*`|`[^`]*`|\$[^$]*\$|\d\S*\s[mnµ]?s\b"
    r"|[^\s`]*(?:\d|[A-Z][^\s`]*[A-Z])[^\s`]*"
)

# English words that need a translation even among names: an article, or a plural such as TPUs.
ENGLISH = re.compile(r"\ba (?=[A-Z]{2})|\b[A-Z]{2,}s\b")


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
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
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
    for place, row in rows.items():
        said_row = [translated(cell, words) for cell in row]
        if said_row != row:
            lines[place] = f"| {' | '.join(said_row)} |"
    return "\n".join(line for line in lines if line is not None)


def translated(content: str, words: Words) -> str:
    """Return the translation of a message, or the text as written if there is none."""
    message = content.replace("\n", " ").strip()  # as Sphinx does
    said = words(message)
    return content if said == message else said
