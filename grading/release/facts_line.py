"""The line under a released notebook's title: minutes, difficulty, chapter to read first."""

from collections.abc import Callable
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]

from roofkit.exercise_facts import chapter_title, of_notebook
from roofkit.words import N_, _

# The words for an exercise's difficulty.
DIFFICULTIES = (N_("easy"), N_("medium"), N_("hard"))


class AddFactsLine(NbGraderPreprocessor):  # type: ignore[misc]
    """Preprocessor for `nbgrader generate_assignment` that adds the line below the title."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        title, text = nb.cells[0].source.split("\n", 1)
        nb.cells[0].source = f"{title}\n\n{line(nb)}\n{text}"
        return nb, resources


def line(notebook: NotebookNode, heading: Callable[[str], str] = str) -> str:
    """Return the Markdown line with an exercise's effort and the chapter to read first.

    heading: returns a heading in the language in force.
    """
    facts = of_notebook(notebook)
    return _(
        "*Effort: about {minutes} minutes, {difficulty}. Read first: the chapter “{chapter}”.*"
    ).format(
        minutes=facts.minutes,
        difficulty=_(facts.difficulty),
        chapter=heading(chapter_title(facts.read_first)),
    )
