"""Syntax that the learner's Python has and the oldest Python of grading lacks.

A check passes in the Python that runs it, in a page that of Pyodide. Graded with an older one, the
same cell may be a syntax error.
"""

import ast
import io
import linecache
import re
import sys
import tokenize
from collections.abc import Iterator

from roofkit.words import _

OLDEST = (3, 11)  # the oldest Python that may grade
# What the oldest Python takes as one string, from its quotes to the next ones.
STRINGS = {
    quotes: re.compile(
        rf"[^{quotes[0]}\\]*(?:(?:\\.|{inner})[^{quotes[0]}\\]*)*{quotes}", re.DOTALL
    )
    for quotes, inner in {
        "'": r"(?!)",
        '"': r"(?!)",
        "'''": "'(?!'')",
        '"""': '"(?!"")',
    }.items()
}


def remark(function: object) -> str:
    """Return a sentence if the cell of `function` has syntax newer than OLDEST, or ""."""
    code = getattr(function, "__code__", None)
    if sys.version_info[:2] <= OLDEST or code is None:
        return ""
    source = "".join(linecache.getlines(code.co_filename))
    for line, reason in newer(source):
        said = _(
            "This Python is {running}. Graded with Python {oldest}, the cell would be a syntax "
            "error in line {line}: {reason}."
        )
        running = ".".join(map(str, sys.version_info[:2]))
        oldest = ".".join(map(str, OLDEST))
        return said.format(running=running, oldest=oldest, line=line, reason=reason)
    return ""


def newer(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and reason of syntax that this Python accepts and OLDEST does not."""
    try:
        ast.parse(source)
    except SyntaxError:
        return  # not Python, as the magic commands of a notebook
    try:
        ast.parse(source, feature_version=OLDEST)
    except SyntaxError as error:
        yield error.lineno or 1, error.msg
    yield from _newer_f_strings(source)


def _newer_f_strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and reason of f-strings that only Python 3.12 takes, by PEP 701.

    Before, an f-string was read as any string, up to the next of its quotes and to the end of its
    line. Its braces could contain neither a backslash nor a comment.
    """
    if sys.version_info < (3, 12):
        return
    lines = source.splitlines(keepends=True)

    def between(start: tuple[int, int], end: tuple[int, int]) -> str:
        part = lines[start[0] - 1 : end[0]]
        part[-1] = part[-1][: end[1]]
        part[0] = part[0][start[1] :]
        return "".join(part)

    starts: list[tokenize.TokenInfo] = []  # of the f-strings around a token
    before = (1, 0)  # the end of the last token
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        literal = token.type == tokenize.FSTRING_MIDDLE and len(starts) == 1
        if starts and not literal:
            if token.type == tokenize.COMMENT:
                yield line, _("a comment in the braces of an f-string")
            elif "\\" in between(before, token.end):
                yield line, _("a backslash in the braces of an f-string")
        if token.type == tokenize.FSTRING_START:
            starts.append(token)
        elif token.type == tokenize.FSTRING_END:
            start = starts.pop()
            quotes = start.string.lstrip("fFrR")
            text = between(start.end, token.end)
            found = STRINGS[quotes].match(text)
            if not found or found.end() < len(text):
                yield start.start[0], _("an f-string with its own quotes in its braces")
            elif len(quotes) == 1 and re.search(r"(?<!\\)\n", text):
                yield start.start[0], _("a line break in the braces of an f-string")
        before = token.end
