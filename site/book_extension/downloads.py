"""Each page as a notebook to download: as executed, with the values written into the prose."""

import json
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from .prose import EVAL, one_line, without_code
from .values import is_hidden


def offer_notebook(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a page's notebook next to the page, and tell the template of it."""
    executed = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    if doctree is None or app.builder.format != "html" or not executed.exists():
        return
    found = executed.with_suffix(".glue.json")
    glued = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
    values = {name: output["data"]["text/plain"] for name, output in glued.items()}
    notebook = for_readers(nbformat.read(executed, as_version=4), values)
    if not any(is_to_be_run(cell) for cell in notebook.cells):
        return
    target = Path(app.outdir) / f"{page}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    context["notebook"] = f"{page}.ipynb"


def for_readers(page: NotebookNode, values: dict[str, str]) -> NotebookNode:
    """The notebook without the cells that the build added, and with the values they found."""
    cells = [cell for cell in page.cells if not is_hidden(cell)]
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = with_values(cell.source, values)
        else:
            cell.outputs = [output for output in cell.outputs if not is_live(output)]
    language = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": language}
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def with_values(markdown: str, values: dict[str, str]) -> str:
    """The text with each ``{eval}`` role replaced by its value."""
    code_blanked = without_code(markdown)
    parts, end = [], 0
    for role in EVAL.finditer(code_blanked):
        value = values[one_line(role["expression"])]
        parts += [markdown[end : role.start()], value]
        end = role.end()
    return "".join([*parts, markdown[end:]])


def is_to_be_run(cell: NotebookNode) -> bool:
    """Is this code that a reader sees, and may want to change?"""
    return cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", [])


def is_live(output: NotebookNode) -> bool:
    """Is this a figure with controls? It shows itself anew when its cell is run."""
    return '<figure class="live"' in "".join(output.get("data", {}).get("text/html", ""))
