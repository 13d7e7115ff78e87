"""Facts about an exercise: minutes, difficulty, and the chapter to read first.

They stand at the top of the exercise's file, and only there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COURSE = Path(__file__).resolve().parents[2]
DIFFICULTIES = ("easy", "medium", "hard")
FACT = re.compile(r'^# (\w+): "?(.*?)"?$', re.MULTILINE)


@dataclass(frozen=True)
class Facts:
    """Facts that help readers to choose an exercise."""

    title: str  # "Exercise 1: int8 matmul"
    minutes: int  # time needed by readers who have just read the chapter
    # One of DIFFICULTIES.
    difficulty: str
    # The chapter to read first, by its file name without suffix: "matmul".
    read_first: str

    @property
    def effort(self) -> str:
        """Minutes and difficulty in words."""
        if not self.minutes:
            return "minutes and difficulty are given on its page"
        return f"about {self.minutes} minutes, {self.difficulty}"

    @property
    def metadata(self) -> dict[str, Any]:
        """The facts as a notebook's metadata keep them."""
        found = {"difficulty": self.difficulty, "minutes": self.minutes}
        return found | {"read_first": self.read_first}


def facts(name: str, course: Path = COURSE) -> Facts:
    """Return the facts of the exercise in exercises/<name>.py.

    If the course's files are missing, as for a page downloaded as a notebook, return empty facts,
    whose `effort` refers to the exercise's page.
    """
    file = course / "exercises" / f"{name}.py"
    return of_file(file) if file.exists() else Facts(name, 0, "", "")


def of_file(file: Path) -> Facts:
    """Return the facts at the top of an exercise's file; raise ValueError if one is invalid."""
    top = file.read_text(encoding="utf-8").split("# ---\n")[1]
    told = dict(FACT.findall(top))
    minutes = told.get("minutes", "")
    known = told | {"minutes": int(minutes) if minutes.isdigit() else minutes}
    return checked(told.get("title", file.stem), known)


def of_notebook(notebook: Mapping[str, Any]) -> Facts:
    """Return an exercise notebook's facts; raise ValueError if one is invalid."""
    title = "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
    return checked(title, notebook["metadata"].get("exercise", {}))


def checked(title: str, told: Mapping[str, Any]) -> Facts:
    """Return facts; raise ValueError if one is invalid."""
    minutes, difficulty = told.get("minutes", 0), told.get("difficulty", "")
    found = Facts(title, minutes, difficulty, str(told.get("read_first")))
    if type(found.minutes) is not int or found.minutes <= 0:
        raise ValueError(f"{title}: minutes is {found.minutes!r}, not a whole number above 0")
    if found.difficulty not in DIFFICULTIES:
        allowed = ", ".join(DIFFICULTIES)
        raise ValueError(f"{title}: difficulty is {found.difficulty!r}, not one of {allowed}")
    if not re.fullmatch(r"[a-z-]+", found.read_first):
        raise ValueError(f"{title}: read_first is {found.read_first!r}, not the name of a chapter")
    return found


def chapter_title(chapter: str, course: Path = COURSE) -> str:
    """Return the first heading of chapters/<chapter>.md."""
    text = (course / "chapters" / f"{chapter}.md").read_text(encoding="utf-8")
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    if heading is None:
        raise ValueError(f"chapters/{chapter}.md has no heading")
    return heading[1]
