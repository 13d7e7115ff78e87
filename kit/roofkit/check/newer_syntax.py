"""Syntax that the learner's Python has and the oldest Python of grading lacks.

A check passes in the Python that runs it, in a page that of Pyodide. Graded with an older one, the
same cell may be a syntax error.
"""

import ast
import io
import linecache
import sys
import tokenize
from collections.abc import Iterator

from roofkit.words import _

OLDEST = (3, 11)  # the oldest Python that may grade


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

    Before, braces could contain neither the f-string's own quotes nor a backslash or a comment,
    and no line break between single quotes.
    """
    if sys.version_info < (3, 12):
        return
    quotes: list[str] = []  # of the f-strings around a token
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line, own = token.start[0], quotes[-1] if quotes else ""
        if token.type == tokenize.FSTRING_END:
            quotes.pop()
        elif token.type == tokenize.FSTRING_MIDDLE and len(quotes) == 1:
            continue  # text outside of the braces
        elif own:
            if token.type == tokenize.COMMENT:
                yield line, _("a comment in the braces of an f-string")
            elif "\\" in token.string:
                yield line, _("a backslash in the braces of an f-string")
            elif any(outer in token.string for outer in quotes):
                yield line, _("an f-string with its own quotes in its braces")
            elif token.type == tokenize.NL and len(own) == 1:
                yield line, _("a line break in the braces of an f-string")
        if token.type == tokenize.FSTRING_START:
            quotes.append(token.string.lstrip("fFrR"))
