"""A notebook's file as other programs save it."""

import copy
import json
from collections.abc import Callable

import jupytext
import nbformat
from nbformat import NotebookNode

LANGUAGE = {"name": "python", "version": "3.12.3", "file_extension": ".py"}


def colab(notebook: NotebookNode) -> str:
    """Colab writes format 4.0, with ids in the metadata, and a kernel of its own."""
    saved = json.loads(nbformat.writes(notebook))
    for number, cell in enumerate(saved["cells"]):
        cell.pop("id")
        cell["metadata"] = cell["metadata"] | {"id": f"Xy{number}", "outputId": "0-1"}
    saved["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    return json.dumps(saved | {"nbformat": 4, "nbformat_minor": 0})


def vs_code(notebook: NotebookNode) -> str:
    """VS Code names the environment, marks cells with a language, and may end each with a line."""
    saved = copy.deepcopy(notebook)
    saved.metadata.kernelspec = {"display_name": ".venv", "language": "python", "name": "venv"}
    saved.metadata.language_info = LANGUAGE
    for cell in saved.cells:
        cell.metadata["vscode"] = {"languageId": "python"}
        cell.source += "\n"
    return json.dumps(json.loads(nbformat.writes(saved)), indent=4)


def marimo(notebook: NotebookNode) -> str:
    """marimo keeps neither metadata nor ids, and hides cells."""
    saved = copy.deepcopy(notebook)
    saved.metadata = NotebookNode()
    for number, cell in enumerate(saved.cells):
        cell.id, cell.metadata = f"Hb{number}", NotebookNode(marimo={"config": {"hide_code": True}})
    return nbformat.writes(saved)


def through_jupytext(notebook: NotebookNode) -> str:
    """Convert the notebook to a script and back, which loses ids and outputs."""
    return nbformat.writes(jupytext.reads(jupytext.writes(notebook, "py:percent"), "py:percent"))


def of_format_3(notebook: NotebookNode) -> str:
    """An old Jupyter writes worksheets."""
    return json.dumps(nbformat.convert(notebook, 3))


EDITORS: dict[str, Callable[[NotebookNode], str]] = {
    "colab": colab,
    "vs-code": vs_code,
    "marimo": marimo,
    "jupytext": through_jupytext,
    "nbformat-3": of_format_3,
}
