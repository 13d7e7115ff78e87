"""A built page as a notebook to download: plain Markdown, and the cells with what they gave."""

import re
from collections.abc import Iterator, Mapping

import nbformat
from book_extension.values import is_hidden
from docutils import nodes
from nbformat import NotebookNode

from .first_cell import first_cell
from .markdown_writer import CodeCell, Writer

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# Cells whose code the page does not show are folded, not left out: others need what they compute.
FOLDED = {"hide-input", "remove-input", "remove-cell", "hide-cell"}
OUTPUT_FOLDED = {"hide-output", "hide-cell"}


def download_notebook(
    page: str,
    document: nodes.document,
    executed: NotebookNode,
    baseurl: str,
    numbers: Mapping[str, str],
) -> NotebookNode:
    """The notebook of a page.

    `document` is the page as Sphinx has resolved it, `executed` the notebook that the build has
    run, `numbers` the numbers of figures and tables by their id.
    """
    address = f"{baseurl.rstrip('/')}/{page}.html" if baseurl else ""
    cells = list(page_cells(Writer(address, numbers).parts(document), executed.cells))
    source = first_cell(page, baseurl)
    if source:
        cells.insert(0, nbformat.v4.new_code_cell(source))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook: NotebookNode = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": KERNEL}, nbformat_minor=5
    )
    nbformat.validate(notebook)
    return notebook


def page_cells(parts: list[str | CodeCell], executed: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Texts and code in the page's order; code that no page shows stands before the next that is."""
    done = 0
    for part in parts:
        if isinstance(part, CodeCell):
            yield from map(code_cell, runnable(executed[done : part.index + 1]))
            done = part.index + 1
        else:
            yield nbformat.v4.new_markdown_cell(part)
    yield from map(code_cell, runnable(executed[done:]))


def runnable(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The code cells that the page's author wrote."""
    return [cell for cell in cells if cell.cell_type == "code" and not is_hidden(cell)]


def code_cell(cell: NotebookNode) -> NotebookNode:
    """A code cell with its outputs, folded where the page folds it or does not show it."""
    tags = set(cell.metadata.get("tags", []))
    folded: dict[str, bool] = {}
    if tags & FOLDED:
        folded["source_hidden"] = True
    if tags & OUTPUT_FOLDED:
        folded["outputs_hidden"] = True
    made: NotebookNode = nbformat.v4.new_code_cell(
        cell.source,
        execution_count=cell.execution_count,
        metadata={"jupyter": folded} if folded else {},
        outputs=[output for output in cell.outputs if not is_live(output)],
    )
    return made


def is_live(output: NotebookNode) -> bool:
    """Is this a figure with controls? It shows itself anew when its cell is run."""
    html = "".join(output.get("data", {}).get("text/html", ""))
    return re.search(r'<figure class="live"', html) is not None
