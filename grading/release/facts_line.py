"""The line under a released notebook's title: effort, difficulty and chapter."""

from collections.abc import Callable
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]

from roofkit.exercise_facts import chapter_title, of_notebook
from roofkit.words import N_, _

# The words for an exercise's difficulty.
DIFFICULTIES = (N_("easy"), N_("medium"), N_("hard"))


class AddFactsLine(NbGraderPreprocessor):  # type: ignore[misc]
    """Preprocessor that adds the line of facts below a notebook's title.

    `nbgrader generate_assignment` runs it.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        title, text = nb.cells[0].source.split("\n", 1)
        nb.cells[0].source = f"{title}\n\n{line(nb)}\n{text}"
        return nb, resources


def line(notebook: NotebookNode, heading: Callable[[str], str] = str) -> str:
    """Return the Markdown line with an exercise's effort and its chapter.

    The chapter is the one to read first. heading: returns a heading in the language in force.
    """
    facts = of_notebook(notebook)
    return _(
        "*Effort: about {minutes} minutes, {difficulty}. Read first: the chapter “{chapter}”.*"
    ).format(
        minutes=facts.minutes,
        difficulty=_(facts.difficulty),
        chapter=heading(chapter_title(facts.read_first)),
    )
