"""Conversion of a built page to a notebook: Markdown, cells and outputs."""

import re
from collections.abc import Callable, Iterator, Mapping

import nbformat
from docutils import nodes
from nbformat import NotebookNode

from book_extension import opening_cell

from .markdown_writer import CodeCell, Writer

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# Cells whose code the page hides are folded, not dropped: other cells need their results.
FOLDED = {"hide-input", "remove-input", "remove-cell", "hide-cell"}
OUTPUT_FOLDED = {"hide-output", "hide-cell"}


def download_notebook(
    page: str,
    document: nodes.document,
    executed: NotebookNode,
    baseurl: str,
    numbers: Mapping[str, str],
    is_hidden: Callable[[NotebookNode], bool],
    top: str | None = None,
    translate: Callable[[str], str] = str,
) -> NotebookNode:
    """Return the notebook of a page.

    `document` is the page as Sphinx has resolved it, `executed` the notebook that the build has
    run, `numbers` the numbers of figures and tables by their id. `is_hidden` tells cells that the
    build has added from those of the page's author. `baseurl` is where the pages are, and `top`
    where the whole site is, if that differs. `translate` gives what the first cell prints in the
    page's language.
    """
    top = baseurl if top is None else top
    writer = Writer(baseurl.rstrip("/"), page, numbers, top.rstrip("/"))
    ran = [None if is_hidden(cell) else cell for cell in executed.cells]
    cells = list(page_cells(writer.parts(document), ran))
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    if source := opening_cell.source(code, top, translate):
        opening = nbformat.v4.new_code_cell(source, metadata={"jupyter": {"source_hidden": True}})
        cells.insert(0, opening)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    return made


def page_cells(
    parts: list[str | CodeCell], executed: list[NotebookNode | None]
) -> Iterator[NotebookNode]:
    """Yield Markdown and code cells in page order.

    Code that is not shown comes before the next cell that is.
    """
    done = 0
    for part in parts:
        if isinstance(part, CodeCell):
            yield from code_cells(executed[done : part.index + 1])
            done = part.index + 1
        else:
            yield nbformat.v4.new_markdown_cell(part)
    yield from code_cells(executed[done:])


def code_cells(cells: list[NotebookNode | None]) -> Iterator[NotebookNode]:
    """Yield the code cells among these cells, converted for the notebook."""
    yield from (code_cell(cell) for cell in cells if cell and cell.cell_type == "code")


def code_cell(cell: NotebookNode) -> NotebookNode:
    """Return a code cell without live figures, folded if the page folds or hides it."""
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
    """Return whether an output is a live figure.

    Such a figure appears again when its cell runs.
    """
    html = "".join(output.get("data", {}).get("text/html", ""))
    return re.search(r'<figure class="live"', html) is not None
