"""The facts of an exercise: where they come from, and which are invalid."""

from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

from grading.release import exercises
from roofkit.exercise_facts import DIFFICULTIES, Facts, chapter_title, facts, of_notebook

TOLD = {"minutes": 40, "difficulty": "easy", "read_first": "matmul"}


def notebook(**told: Any) -> dict[str, Any]:
    cells = [{"source": ["# Exercise 9: a test\n", "\n", "Words."]}]
    return {"cells": cells, "metadata": {"exercise": TOLD | told}}


@pytest.mark.parametrize("name", exercises.names())
def test_every_exercise_has_all_facts(name: str) -> None:
    known = facts(name)
    assert known.title == exercises.source(name).cells[0].source.splitlines()[0].removeprefix("# ")
    assert 10 <= known.minutes <= 90
    assert known.minutes % 5 == 0
    assert known.difficulty in DIFFICULTIES
    assert (ROOT / "chapters" / f"{known.read_first}.md").exists()
    assert set(exercises.source(name).metadata.exercise) == set(TOLD)


def test_facts_come_from_the_metadata_and_the_title() -> None:
    found = of_notebook(notebook())
    assert found == Facts("Exercise 9: a test", 40, "easy", "matmul")
    assert found.effort == "about 40 minutes, easy"
    assert of_notebook(notebook(minutes=1)).minutes == 1


def test_facts_are_read_from_cells_whose_source_is_one_string() -> None:
    released = notebook()
    released["cells"][0]["source"] = "".join(released["cells"][0]["source"])
    assert of_notebook(released) == of_notebook(notebook())


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"minutes": None}, "minutes is None, not a whole number above 0"),
        ({"minutes": "40"}, "minutes is '40', not a whole number above 0"),
        ({"minutes": 0}, "minutes is 0, not a whole number above 0"),
        ({"minutes": True}, "minutes is True, not a whole number above 0"),
        ({"difficulty": "Easy"}, "difficulty is 'Easy', not one of easy, medium, hard"),
        ({"difficulty": None}, "difficulty is None, not one of easy, medium, hard"),
        ({"read_first": None}, "read_first is 'None', not the name of a chapter"),
        ({"read_first": ""}, "read_first is '', not the name of a chapter"),
        ({"read_first": "../matmul"}, "read_first is '../matmul', not the name of a chapter"),
    ],
)
def test_invalid_facts_are_named_in_the_error(told: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"^Exercise 9: a test: {words}$"):
        of_notebook(notebook(**told))


def test_a_notebook_without_minutes_or_a_chapter_to_read_first_is_refused() -> None:
    with pytest.raises(ValueError, match="minutes is None"):
        of_notebook({"cells": notebook()["cells"], "metadata": {}})
    untold = notebook()
    del untold["metadata"]["exercise"]["read_first"]
    with pytest.raises(ValueError, match="not the name of a chapter"):
        of_notebook(untold)


def test_an_exercises_facts_are_only_its_name_without_the_course_files(tmp_path: Path) -> None:
    found = facts("int8-matmul", tmp_path)
    assert found == Facts("int8-matmul", 0, "", "")
    assert found.effort == "minutes and difficulty are given on its page"


def test_chapter_titles_come_from_the_first_heading(tmp_path: Path) -> None:
    assert chapter_title("matmul") == "Matrix multiplication"
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "empty.md").write_text("## No title\n")
    with pytest.raises(ValueError, match=r"chapters/empty\.md has no heading"):
        chapter_title("empty", tmp_path)
