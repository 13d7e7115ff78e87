"""Code in pages: what course.css doesn't color is plain text, which is a fifth of a page's size."""

from collections.abc import Iterable
from typing import Any

from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Token  # type: ignore[import-untyped]
from sphinx.highlighting import PygmentsBridge

COLORED = (Comment, Generic, Keyword, Number, String, Operator.Word, Name.Namespace)


class Plain(HtmlFormatter):  # type: ignore[misc]
    """Formatter that leaves out the classes of names, signs and spaces."""

    def format_unencoded(self, tokensource: Iterable[tuple[Any, str]], outfile: Any) -> None:
        found = ((kind if is_colored(kind) else Token, text) for kind, text in tokensource)
        super().format_unencoded(found, outfile)


def is_colored(kind: Any) -> bool:
    return any(kind in group for group in COLORED)


def setup() -> None:
    PygmentsBridge.html_formatter = Plain
