"""Tests of a released notebook's line with its effort and chapter.

The chapter is the one to read first.
"""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading.release import exercises
from grading.release.facts_line import AddFactsLine, line
from roofkit.exercise_facts import of_notebook


def released(release: Path, name: str) -> NotebookNode:
    return nbformat.read(release / "release" / name / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", exercises.names())
def test_a_released_notebook_states_its_minutes_and_difficulty(release: Path, name: str) -> None:
    book, source = released(release, name), exercises.source(name)
    title, empty, told, *text = book.cells[0].source.splitlines()
    assert [title, empty] == source.cells[0].source.splitlines()[:2]
    assert text == source.cells[0].source.splitlines()[1:]
    known = source.metadata.exercise
    assert f"about {known.minutes} minutes, {known.difficulty}." in told
    assert book.metadata.exercise == known
    assert of_notebook(book) == of_notebook(source)


@pytest.mark.parametrize(
    ("name", "chapter"),
    [("int8-matmul", "Matrix multiplication"), ("h100-spec-sheet", "The hardware catalog")],
)
def test_the_facts_line_names_the_chapter_by_its_title(name: str, chapter: str) -> None:
    said = line(exercises.source(name))
    assert said.startswith("*Effort: about ")
    assert said.endswith(f" Read first: the chapter “{chapter}”.*")


def test_a_notebook_without_minutes_and_difficulty_is_not_released() -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title\n\nText.")])
    with pytest.raises(ValueError, match="Title: minutes is None"):
        AddFactsLine().preprocess(book, {})


@pytest.mark.parametrize("name", exercises.names())
def test_exercises_explain_that_parts_may_call_earlier_ones(name: str) -> None:
    cells = [cell.source for cell in exercises.source(name).cells]
    first = next(at for at, text in enumerate(cells) if text.startswith("## Part 1"))
    before = " ".join(" ".join(cells[:first]).split())
    assert "Later parts may call your earlier functions." in before
    assert "So put each part right before you go on." in before
