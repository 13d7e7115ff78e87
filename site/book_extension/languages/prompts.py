"""Translation of folded cells' prompts and accessible name."""

from typing import Any

from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx.application import Sphinx
from sphinx.locale import get_translation

_ = get_translation("sphinx")
LABEL = "Toggle hidden content"  # MyST-NB's accessible name of each folded cell


def visit(writer: Any, node: HideCodeCellNode) -> None:
    for name in ("prompt_show", "prompt_hide"):
        node[name] = _(node[name])
    start = len(writer.body)
    visit_HideCellInput(writer, node)
    label = str(_("Toggle hidden content"))
    writer.body[start:] = [part.replace(LABEL, label) for part in writer.body[start:]]


def setup(app: Sphinx) -> None:
    app.add_node(HideCodeCellNode, override=True, html=(visit, depart_HideCellInput))
