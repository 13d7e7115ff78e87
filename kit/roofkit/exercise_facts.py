"""What a page says of an exercise before a reader begins it: minutes, difficulty, what to read.

The facts stand in the metadata of the exercise's source notebook and nowhere else.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COURSE = Path(__file__).resolve().parents[2]
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True)
class Facts:
    """What is known of an exercise beforehand."""

    title: str  # "Exercise 1: int8 matmul"
    minutes: int  # for somebody who has just read the chapter
    difficulty: str  # one of DIFFICULTIES
    read_first: str  # a chapter by the stem of its file: "matmul"

    @property
    def effort(self) -> str:
        """Minutes and difficulty in words."""
        if not self.minutes:
            return "minutes and difficulty stand on its page"
        return f"about {self.minutes} minutes, {self.difficulty}"


def facts(name: str, course: Path = COURSE) -> Facts:
    """The facts of the exercise in exercises/<name>/.

    A page may run where the course's files are not, as a notebook downloaded alone. Nothing is
    known there, and `effort` says where it stands.
    """
    path = course / "exercises" / name / f"{name}.ipynb"
    if not path.exists():
        return Facts(name, 0, "", "")
    return of_notebook(json.loads(path.read_text(encoding="utf-8")))


def of_notebook(notebook: Mapping[str, Any]) -> Facts:
    """The facts of a notebook, source or released. ValueError if one is missing or odd."""
    title = "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
    told = notebook["metadata"].get("exercise", {})
    found = Facts(
        title, told.get("minutes"), told.get("difficulty"), str(told.get("read_first", ""))
    )
    if type(found.minutes) is not int or found.minutes <= 0:
        raise ValueError(f"{title}: minutes is {found.minutes!r}, not a whole number above 0")
    if found.difficulty not in DIFFICULTIES:
        allowed = ", ".join(DIFFICULTIES)
        raise ValueError(f"{title}: difficulty is {found.difficulty!r}, not one of {allowed}")
    if not re.fullmatch(r"[a-z-]+", found.read_first):
        raise ValueError(f"{title}: read_first is {found.read_first!r}, not the name of a chapter")
    return found


def chapter_title(chapter: str, course: Path = COURSE) -> str:
    """The first heading of chapters/<chapter>.md."""
    text = (course / "chapters" / f"{chapter}.md").read_text(encoding="utf-8")
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    if heading is None:
        raise ValueError(f"chapters/{chapter}.md has no heading")
    return heading[1]
