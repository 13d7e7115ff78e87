"""Values in prose: ``{eval}`` roles, evaluated in the page's own notebook.

MyST-NB has an ``eval`` role, but only for an execution mode without a cache. Here, hidden cells in
the notebook evaluate the expressions at their places and record the texts as glue; the role then
looks its text up. The Markdown itself stays unchanged.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

VALUES = "_page_values"  # function of page_setup.py
PAGE_SETUP = (Path(__file__).parent / "page_setup.py").read_text(encoding="utf-8")
# A role that contains backticks stands between two of them.
EVAL = re.compile(r"\{eval\}(`+)(.+?)(?<!`)\1(?!`)", re.DOTALL)
logger = logging.getLogger(__name__)


class ValueRole(SphinxRole):
    """Role that shows the text recorded by the hidden cell for this expression."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        expression = one_line(self.text)
        glued = values_of(self)
        if expression not in glued:
            logger.warning("no value for {eval}`%s`", expression, location=self.get_location())
            return [nodes.inline(self.rawtext, self.rawtext)], []
        text = glued[expression]["data"]["text/plain"]
        # The class and the expression let the page's Python update the value after a change.
        return [nodes.inline(self.rawtext, text, classes=["computed"], expression=expression)], []


def values_of(role: SphinxRole) -> dict[str, Any]:
    """Return the values recorded by hidden cells of the role's page."""
    document = role.inliner.document
    if "nb_renderer" in document:
        # Keep the values for fragments that Sphinx parses later, such as translations.
        role.env.temp_data["page_values"] = document["nb_renderer"].renderer.nb_client.glue_data
    recorded: dict[str, Any] = role.env.temp_data.get("page_values", {})
    return recorded


def read_page(text: str, myst_extensions: list[str]) -> NotebookNode:
    """Read a page's Markdown as a notebook, with hidden cells for its values.

    A hidden cell comes before its Markdown cell, so that its values are those that the reader has
    seen so far, but after a code cell whose figure caption contains values.
    """
    config = MdParserConfig(enable_extensions=set(myst_extensions))
    page: NotebookNode = read_myst_markdown_notebook(text, config=config, add_source_map=True)
    source_map = page.metadata["source_map"]
    cells, lines = [hidden_cell(PAGE_SETUP)], [0]
    for cell, line in zip(page.cells, source_map, strict=True):
        if cell.cell_type == "markdown":
            add = [values_cell(cell.source), cell]
        else:
            add = [cell, values_cell(caption(cell))]
        add = [cell for cell in add if cell is not None]
        cells += add
        lines += [line] * len(add)
    if not any(cell.cell_type == "code" for cell in cells[1:]):
        cells, lines = cells[1:], lines[1:]  # nothing to run, so no kernel has to start
    page.cells, page.metadata["source_map"] = cells, lines
    return page


def expressions(markdown: str) -> Iterator[tuple[str, int]]:
    """Yield each ``{eval}`` expression with its line, counted from 1, in order."""
    for found in EVAL.finditer(markdown):
        yield one_line(found[2]), markdown.count("\n", 0, found.start()) + 1


def one_line(expression: str) -> str:
    """Join an expression's lines with spaces, as the Markdown parser does."""
    return re.sub(r"\s*\n[ \t>]*", " ", expression).strip()


def caption(cell: NotebookNode) -> str:
    """Return the caption of a code cell's figure, or ""."""
    options = cell.metadata.get("mystnb") or {}
    return str((options.get("figure") or {}).get("caption") or "")


def values_cell(markdown: str) -> NotebookNode | None:
    """Return the hidden cell that computes a text's values, None if the text has none."""
    found = [expression for expression, _ in expressions(markdown)]
    return hidden_cell(f"{VALUES}({found!r})") if found else None


def hidden_cell(source: str) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_code_cell(source, metadata={"tags": ["remove-cell"]})
    return cell


def is_hidden(cell: NotebookNode) -> bool:
    """Return whether `read_page` added this cell."""
    return cell.source == PAGE_SETUP or is_values_cell(cell)


def is_values_cell(cell: NotebookNode) -> bool:
    """Return whether `read_page` added this cell to compute a text's values."""
    source: str = cell.source
    return source.startswith(f"{VALUES}(")


def values_in(cell: NotebookNode) -> list[str]:
    """Return the expressions of a text, from the hidden cell that computes its values."""
    found: list[str] = ast.literal_eval(cell.source.removeprefix(VALUES))
    return found
