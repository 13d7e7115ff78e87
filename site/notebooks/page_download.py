"""A built page as a notebook to download: plain Markdown, and the cells with what they gave."""

import re
from collections.abc import Callable, Iterator, Mapping

import nbformat
import opening_cell
from docutils import nodes
from nbformat import NotebookNode

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
    is_hidden: Callable[[NotebookNode], bool],
) -> NotebookNode:
    """The notebook of a page.

    `document` is the page as Sphinx has resolved it, `executed` the notebook that the build has
    run, `numbers` the numbers of figures and tables by their id. `is_hidden` tells cells that the
    build has added from those of the page's author.
    """
    writer = Writer(baseurl.rstrip("/"), page, numbers)
    ran = [None if is_hidden(cell) else cell for cell in executed.cells]
    cells = list(page_cells(writer.parts(document), ran))
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    if source := opening_cell.source(code, baseurl):
        opening = nbformat.v4.new_code_cell(source, metadata={"jupyter": {"source_hidden": True}})
        cells.insert(0, opening)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook: NotebookNode = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": KERNEL}, nbformat_minor=5
    )
    nbformat.validate(notebook)
    return notebook


def page_cells(
    parts: list[str | CodeCell], executed: list[NotebookNode | None]
) -> Iterator[NotebookNode]:
    """Texts and code in the page's order; code that is not shown stands before the next that is."""
    done = 0
    for part in parts:
        if isinstance(part, CodeCell):
            yield from code_cells(executed[done : part.index + 1])
            done = part.index + 1
        else:
            yield nbformat.v4.new_markdown_cell(part)
    yield from code_cells(executed[done:])


def code_cells(cells: list[NotebookNode | None]) -> Iterator[NotebookNode]:
    """The code among some cells that were run."""
    yield from (code_cell(cell) for cell in cells if cell and cell.cell_type == "code")


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
