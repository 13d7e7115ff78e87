"""The first code cell of a released notebook, which installs packages if needed.

The cell contains the source of `roofkit.first_cell`, which cannot be imported before the course's
packages are installed. The notebooks of the site's pages contain the same source (site/).
"""

import os
from pathlib import Path
from typing import Any

import yaml
from babel.messages.extract import extract_from_file
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]

import roofkit
import rooflib
from grading.release import exercises
from grading.release.embedding import locked_cell
from roofkit import first_cell
from roofkit.words import _

CONFIG = exercises.ROOT / "_config.yml"
OPENING = "opening"  # grade id of the cell that AddOpening adds
MODULES = ("rooflib", "roofkit.check")


class AddOpening(NbGraderPreprocessor):  # type: ignore[misc]
    """Preprocessor that adds the opening cell before all other code.

    `nbgrader generate_assignment` runs it.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        first = next(place for place, cell in enumerate(nb.cells) if cell.cell_type == "code")
        nb.cells.insert(first, locked_cell(source(address(CONFIG)), OPENING))
        return nb, resources


def source(site: str) -> str:
    """Return the opening cell's code, with its messages in the language in force.

    site: the address of the course's site, "" if unknown.
    """
    text = Path(first_cell.__file__).read_text(encoding="utf-8")
    versions = {"rooflib": rooflib.__version__, "roofkit": roofkit.__version__}
    arguments = ", ".join(map(repr, (site, versions, *MODULES)))
    words = {message: said for message in messages() if (said := _(message)) != message}
    if words:
        arguments += f", words={words!r}"
    return f"{text}\n\nset_up_notebook({arguments})"


def messages() -> list[str]:
    """Return all messages that the opening cell may print, in English."""
    found = extract_from_file("python", first_cell.__file__)
    return [str(message) for _line, message, *_rest in found]


def address(config: Path) -> str:
    """Return the address of the course's site, "" if it is not set.

    It is html.baseurl in `config`. If the environment variable EDITION is set, the address is that
    of its folder on the site.
    """
    html: dict[str, Any] = yaml.safe_load(config.read_text(encoding="utf-8")).get("html") or {}
    site, edition = str(html.get("baseurl") or ""), os.environ.get("EDITION", "")
    return f"{site.rstrip('/')}/{edition}" if site and edition else site
