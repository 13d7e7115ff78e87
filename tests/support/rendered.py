"""A page as its reader sees it, with its cells run and values filled in.

It doesn't build the book, so a page takes a second, and tests can check single sentences.
"""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import matplotlib as mpl
from book_extension.prose import EVAL, WHILE, one_line, without_code
from book_extension.values import caption
from matplotlib import pyplot
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from repository import ROOT


def sentences(page: str) -> str:
    """Return the prose of a page, such as `chapters/time`, as one line."""
    prose = "\n".join(text for kind, text in parts(page) if kind == "markdown")
    # Keep no-break spaces: they join a number and its unit.
    return re.sub(r"[ \n]+", " ", prose)


def outputs(page: str) -> str:
    """Return what the cells of a page print and show, as text."""
    return "\n".join(text for kind, text in parts(page) if kind == "code")


@cache
def parts(page: str) -> tuple[tuple[str, str], ...]:
    """Return (kind, text or output) for each cell of a page, in order."""
    source = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    config = MdParserConfig(enable_extensions={"colon_fence", "dollarmath", "amsmath"})
    names: dict[str, Any] = {"__name__": "__page__"}
    found = []
    with mpl.rc_context(), in_memory():
        for cell in read_myst_markdown_notebook(source, config=config).cells:
            if cell.cell_type == "markdown":
                found.append(("markdown", filled(cell.source, names)))
            else:
                found.append(("code", run(cell.source, names)))
                found.append(("markdown", filled(caption(cell), names)))
    return tuple(found)


def variables(page: str) -> dict[str, Any]:
    """Return name → value of the variables after all cells of a page have run."""
    source = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__page__"}
    with mpl.rc_context(), in_memory():
        for cell in read_myst_markdown_notebook(source, config=MdParserConfig()).cells:
            if cell.cell_type == "code":
                run(cell.source, names)
    return names


@contextlib.contextmanager
def in_memory() -> Iterator[None]:
    """Draw figures in memory only, and close them at the end of the block."""
    backend = mpl.get_backend()
    pyplot.switch_backend("agg")
    try:
        yield
    finally:
        pyplot.close("all")
        pyplot.switch_backend(backend)


def run(cell: str, names: dict[str, Any]) -> str:
    """Run a cell as a notebook does; return its output and last value's repr."""
    tree = ast.parse(cell)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    shown = "" if value is None or cell.rstrip().endswith(";") else repr(value)
    return printed.getvalue() + shown


def filled(markdown: str, names: dict[str, Any]) -> str:
    """Return the text with its {eval} roles replaced by their values."""
    readable = without_code(markdown)
    text, end = "", 0
    for role in EVAL.finditer(readable):
        value = eval(one_line(role["expression"]), names)
        text += markdown[end : role.start()] + str(value)
        end = role.end()
    return WHILE.sub("", text + markdown[end:])
