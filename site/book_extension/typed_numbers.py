"""Warn of numbers in a page that were typed by hand rather than computed by a cell.

Numbers that no cell can compute, such as years and names, are in ``chapters/allowed_numbers.toml``.
A number is anything that starts with a digit (or is a fraction sign): 3.35, 1e12, 20%, 50ms, 8-bit.
These do not count: names with a letter before the digits (bf16, v5e, H100); in formulas, 0, 1,
2, exponents and subscripts; references to parts of the book ("chapter 4"); and anything that isn't
read as text, such as code, links, labels and options.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from sphinx.application import Sphinx
from sphinx.util import logging

from .languages import is_translation
from .prose import LITERAL_DIRECTIVES, blank, without_code
from .values import caption

logger = logging.getLogger(__name__)
ALLOWED = Path("chapters") / "allowed_numbers.toml"

OPTION = re.compile(r"^[ >]*:(?!alt:|caption:)[\w-]+:.*$", re.MULTILINE)
# Applied in this order: each pattern sees the text that the earlier ones left.
NOT_READ = [
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\{(?!math\})[\w:+-]+\}`[^`]*`"),  # roles; {eval} shows computed values
    re.compile(r"(?<![}`])`[^`\n]+`"),  # code
    re.compile(r"^\([^()\n]+\)=[ ]*$", re.MULTILINE),  # labels
    OPTION,
    re.compile(r"(?<=\{figure\}|\{image\} ).*$", re.MULTILINE),  # paths
    re.compile(r"\{[a-z][\w:-]*\}"),  # names of directives
    re.compile(r"(?<=\])\([^()\n]*\)"),  # targets of links
    re.compile(r"\[\^[^\]]+\]"),  # footnote marks
    re.compile(r"<?https?://[^\s>)]+>?"),
    re.compile(r"</?[A-Za-z][^>\n]*>"),  # HTML
    re.compile(r"^[ >]*\d+[.)](?=\s)", re.MULTILINE),  # list markers
]
PART_OF_BOOK = re.compile(
    r"\b(?:chapter|exercise|part|section|figure|table|step|question)s?\s+"
    r"\d{1,2}(?:\s*(?:[–,-]|to|and)\s*\d{1,2})*(?![\w%×]|[.,]\d)",
    re.IGNORECASE,
)
NAME = re.compile(r"(?<![\w.])(?=\w*\d)[^\W\d½⅓⅔¼¾⅕⅙⅛]\w*(?:\.\d+)*")
MATHS = re.compile(
    r"\$\$.+?\$\$|(?<![\\$])\$(?!\$)[^$]+?(?<!\\)\$|\{math\}`[^`]+`"
    r"|^(?P<fence>[`:]{3,})\{math\}.*?^(?P=fence)|\\begin\{(?P<env>[a-z*]+)\}.+?\\end\{(?P=env)\}",
    re.DOTALL | re.MULTILINE,
)
SCRIPT = re.compile(r"[\^_]\s*(?:\{[^{}]*\}|\\?\w)")
NUMBER = re.compile(r"(?:\d+(?:[.,]\d+)*|[½⅓⅔¼¾⅕⅙⅛])(?:[eE][+-]?\d+)?(?:[%×⁰¹²³⁴-⁹]|-?[^\W\d])*")


@dataclass(frozen=True)
class Typed:
    """A number typed by hand, and its line, counted from 1."""

    line: int
    number: str


def warn(app: Sphinx, docname: str, source: list[str]) -> None:
    """Warn of each number that is typed by hand in a page of the original."""
    if is_translation(app):
        return
    file = Path(app.srcdir) / ALLOWED
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["allowed"] if file.exists() else []
    for typed in typed_numbers(source[0], tuple(entry["text"] for entry in entries)):
        logger.warning(
            "the number %s is typed by hand: compute it in a cell and write {eval}`…`; if no cell "
            "can, add it to %s with the reason",
            typed.number,
            ALLOWED,
            location=(docname, typed.line),
        )


def typed_numbers(page: str, allowed: tuple[str, ...] = ()) -> list[Typed]:
    """Return the numbers typed by hand in a page, except those in allowed phrases."""
    found = []
    for first_line, text in texts(page):
        text = readable(text)
        for phrase in allowed:
            text = phrase_pattern(phrase).sub(lambda m: blank(m[0]), text)
        text = MATHS.sub(lambda m: without_structure(m[0]), text)
        for pattern in (PART_OF_BOOK, NAME):
            text = pattern.sub(lambda m: blank(m[0]), text)
        for number in NUMBER.finditer(text):
            line = first_line + text.count("\n", 0, number.start())
            found.append(Typed(line, number[0]))
    return found


def texts(page: str) -> Iterator[tuple[int, str]]:
    """Yield (first line, text) for Markdown cells, captions and alt texts.

    These are the texts that a reader reads.
    """
    config = MdParserConfig(enable_extensions={"colon_fence", "dollarmath", "amsmath"})
    notebook = read_myst_markdown_notebook(page, config=config, add_source_map=True)
    lines = page.splitlines()
    for cell, start in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if cell.cell_type == "markdown":
            while not lines[start].strip():
                start += 1
            yield start + 1, cell.source
        else:
            options = cell.metadata.get("mystnb") or {}
            yield start + 1, caption(cell)
            yield start + 1, str((options.get("image") or {}).get("alt") or "")


def readable(markdown: str) -> str:
    """Blank out everything in a text that readers don't read as text."""
    text = without_code(markdown, LITERAL_DIRECTIVES - {"math"})
    kept = {}
    for maths in MATHS.finditer(text):  # set formulas aside: NOT_READ would match in them
        kept[maths.start()] = maths[0]
    for pattern in NOT_READ:
        text = pattern.sub(lambda m: blank(m[0]), text)
    for start, formula in kept.items():
        text = text[:start] + formula + text[start + len(formula) :]
    return text


def without_structure(formula: str) -> str:
    """Return a formula without its commands, scripts and the integers 0, 1 and 2.

    Scripts are exponents and subscripts.
    """
    formula = OPTION.sub(lambda m: blank(m[0]), formula)
    for pattern in (
        r"\\(?:begin|end|text|mathrm|label|operatorname)\s*\{[^{}]*\}",
        r"\\\\\[[^\]]*\]|\\[A-Za-z]+",
        SCRIPT.pattern,
        r"(?<![\d.,])[012](?![\d.,]\d|\d)",
    ):
        formula = re.sub(pattern, lambda m: blank(m[0]), formula)
    return formula


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern for the phrase outside longer words and numbers."""
    return re.compile(rf"(?<![\w.,]){re.escape(phrase)}(?!\w|[.,]\d)")
