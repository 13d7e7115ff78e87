"""Pages as notebooks to download."""

from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.osutil import ensuredir

from . import languages
from .page_download import download_notebook
from .values import is_hidden

_ = get_translation("sphinx")


def offer_notebook(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a page's notebook next to the page, and pass its name to the template."""
    found = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    if doctree is None or not found.exists():
        return
    executed = with_outputs(nbformat.read(found, as_version=4), app.config.nb_execution_cache_path)
    if not any(is_to_be_run(cell) for cell in executed.cells):
        return
    baseurl, top = str(app.config.html_baseurl or ""), languages.top(app.config)
    found_numbers = numbers(app.env, page)
    notebook = download_notebook(
        page,
        doctree,
        executed,
        baseurl,
        found_numbers,
        is_hidden,
        top,
        translate=lambda message: str(_(message)),
    )
    target = Path(app.outdir) / f"{page}.ipynb"
    ensuredir(target.parent)
    nbformat.write(notebook, target)
    context["notebook"] = f"{page}.ipynb"


def with_outputs(notebook: NotebookNode, cache: str) -> NotebookNode:
    """Return a notebook of the build with its outputs from MyST-NB's cache.

    MyST-NB shows outputs cached by an earlier build on the page, but omits them from the notebook
    that it writes.
    """
    if not cache:
        return notebook
    try:
        merged: NotebookNode = get_cache(cache).merge_match_into_notebook(notebook)[1]
    except KeyError:
        return notebook
    return merged


def numbers(env: BuildEnvironment, page: str) -> dict[str, str]:
    """Return id → "Fig. 2" or "Table 1" for a page's figures and tables."""
    names = {"figure": _("Fig. {number}"), "table": _("Table {number}")}
    return {
        name: str(names[kind]).format(number=".".join(map(str, number)))
        for kind, found in env.toc_fignumbers.get(page, {}).items()
        if kind in names
        for name, number in found.items()
    }


def is_to_be_run(cell: NotebookNode) -> bool:
    """Return whether a cell is code whose source or output is on the page."""
    return cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", [])
