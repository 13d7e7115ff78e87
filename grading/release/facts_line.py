"""The line under a released notebook's title: minutes, difficulty, chapter to read first."""

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]

from roofkit.exercise_facts import chapter_title, of_notebook


class AddFactsLine(NbGraderPreprocessor):  # type: ignore[misc]
    """Preprocessor for `nbgrader generate_assignment` that adds the line below the title."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        title, text = nb.cells[0].source.split("\n", 1)
        nb.cells[0].source = f"{title}\n\n{line(nb)}\n{text}"
        return nb, resources


def line(notebook: NotebookNode) -> str:
    """Return the Markdown line with an exercise's effort and the chapter to read first."""
    facts = of_notebook(notebook)
    chapter = chapter_title(facts.read_first)
    return f"*Effort: {facts.effort}. Read first: the chapter “{chapter}”.*"
