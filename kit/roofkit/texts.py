"""Markdown and code in the reader's language: its texts, docstrings and comments.

`words` translates a message: a heading, list item, paragraph or whole comment, in one line. It
returns a message without a translation as it is, and then the text stays as it is written. A
function that keeps what it gets finds a source's messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from textwrap import indent

from roofkit.check.wording import wrapped
from roofkit.words import _

Words = Callable[[str], str]
DOCSTRING = re.compile(r'(?<=^    """).*?(?=""")', re.DOTALL | re.MULTILINE)
# Whole lines, one below the other, are one comment; another stands two spaces after its code.
COMMENT = re.compile(r"^# .+(?:\n# .+)*|(?<=  )# .+$", re.MULTILINE)
FORMULA_WORDS = re.compile(r"(?<=\\text\{)[^{}]+(?=\})")


def in_words(source: str, words: Words) -> str:
    """Return Markdown with its texts translated."""
    blocks = []
    for block in re.split(r"\n{2,}", source):
        if block.startswith("```"):
            blocks.append(in_code(block, words))
            continue
        lines = []
        for mark, text in pieces(block):
            message = " ".join(text.split())
            said = words(message)
            shown = text if said == message else said
            lines.append(mark + FORMULA_WORDS.sub(lambda found: _(found[0]), shown))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def pieces(block: str) -> Iterator[tuple[str, str]]:
    """Yield (mark, text) of each heading, list item or paragraph of a Markdown block without code.

    mark: the Markdown before the text, such as "- ".
    """
    if block.startswith("- "):
        yield from (("- ", item) for item in re.split(r"\n?^- ", block, flags=re.MULTILINE)[1:])
    else:
        heading = re.match(r"#+ ", block)
        mark = heading[0] if heading else ""
        yield mark, block.removeprefix(mark)


def in_code(source: str, words: Words) -> str:
    """Return code with its comments translated."""

    def comment(found: re.Match[str]) -> str:
        message = " ".join(line.removeprefix("# ") for line in found[0].split("\n"))
        said = words(message)
        if said == message:
            return found[0]
        whole_lines = found.start() == 0 or source[found.start() - 1] == "\n"
        return indent(wrapped(said), "# ") if whole_lines else f"# {said}"

    return COMMENT.sub(comment, source)


def with_docstrings(source: str, words: Words) -> str:
    """Return code with its docstrings translated, paragraph by paragraph."""

    def docstring(found: re.Match[str]) -> str:
        text = found[0].rstrip()
        blocks = []
        for block in re.split(r"\n\s*\n", text):
            message = " ".join(block.split())
            said = words(message)
            shown = block if said == message else indent(wrapped(said), "    ")
            blocks.append(shown.strip())
        return "\n\n    ".join(blocks) + found[0][len(text) :]

    return DOCSTRING.sub(docstring, source)
