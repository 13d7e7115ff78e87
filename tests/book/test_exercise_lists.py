"""Pages state the exercises' effort and prerequisites as in their metadata."""

import json
import re
from pathlib import Path

import pytest
from commands import build, handouts
from rendered import sentences
from repository import ROOT

from grading.release import exercises
from roofkit.exercise_facts import facts

CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.md"))
LINK = re.compile(r"- \{ref\}`exercise-([a-z0-9-]+)` \(([^)]+)\)")


def headings(chapter: str) -> list[str]:
    text = (ROOT / "chapters" / f"{chapter}.md").read_text(encoding="utf-8")
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def prepared_by(chapter: str) -> list[str]:
    return [name for name in exercises.names() if facts(name).read_first == chapter]


def test_there_are_chapters_with_exercises_and_without() -> None:
    assert 0 < len([chapter for chapter in CHAPTERS if prepared_by(chapter)]) < len(CHAPTERS)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_ends_with_the_exercises_that_it_prepares(chapter: str) -> None:
    names = prepared_by(chapter)
    assert ("Exercises" in headings(chapter)) == bool(names)
    if names:
        assert headings(chapter)[-1] == "Exercises"
        section = sentences(f"chapters/{chapter}").split("## Exercises")[1]
        assert LINK.findall(section) == [(name, facts(name).effort) for name in names]


@pytest.mark.parametrize("name", exercises.names())
def test_exercise_pages_state_effort_and_what_to_read_first(name: str) -> None:
    known = facts(name)
    chapter = (ROOT / "chapters" / f"{known.read_first}.md").read_text(encoding="utf-8")
    label = re.search(r"^\(([a-z-]+)\)=\n# ", chapter, re.MULTILINE)
    assert label
    page = sentences(f"exercises/{name}/{name}")
    opening = page.split(f"# {known.title} ")[1].lstrip()
    assert opening.startswith(f"**Effort:** {known.effort}. **Read first:** {{ref}}`{label[1]}`. ")


def digest(book: Path, **exercise: object) -> str:
    folder = book / "exercises" / "one"
    folder.mkdir(parents=True, exist_ok=True)
    cells = [exercise.pop("cell", "# Title")]
    notebook = {"cells": cells, "metadata": {"exercise": exercise}}
    (folder / "one.ipynb").write_text(json.dumps(notebook))
    return build.code_digest(book)


def test_changed_exercise_metadata_recompute_pages_but_changed_cells_do_not(
    tmp_path: Path,
) -> None:
    first = digest(tmp_path, minutes=40)
    assert digest(tmp_path, minutes=45) != first
    assert digest(tmp_path, minutes=40, cell="# Another title") == first


def test_notebooks_are_released_again_when_a_chapter_title_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for packed in (handouts.bundle, handouts.wheels):
        monkeypatch.setattr(packed, "sources", lambda _: [])
    (tmp_path / "_config.yml").touch()
    page = tmp_path / "chapters" / "one.md"
    page.parent.mkdir()
    found = []
    for text in ("# One\n\nText.\n", "# One\n\nOther text.\n", "# Two\n\nText.\n"):
        page.write_text(text)
        found.append(handouts.digest_of(tmp_path))
    assert found[0] == found[1] != found[2]
