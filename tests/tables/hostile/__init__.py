"""Malicious or harmful submissions, each with its fair outcome.

`cells()`: code that runs in the learner's kernel, before correct functions. It prints REACHED and a
name for each protected resource that it can access.
`folders`: unusual contents of a submission folder.
`answers`: unusual return values of a learner's function.
"""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
# Beginning of the comment on a file's first line → the fair outcome of its cell.
OUTCOMES = {"Keeps points": "points", "Gets no points": "nothing", "May lose points": "either"}


@dataclass(frozen=True)
class Cell:
    """Code to run before a correct solution, and the fair outcome.

    fair: "points" (the solution keeps its points), "nothing" (it gets none, with a reason) or
    "either" (the code damages its own process, so the outcome depends on timing).
    """

    name: str
    fair: str
    source: str


def cells() -> list[Cell]:
    """Return all cells.

    Invalid Python is in .txt files, because linters parse each .py file.
    """
    return [_cell(path) for path in sorted((FOLDER / "cells").iterdir()) if path.is_file()]


def _cell(path: Path) -> Cell:
    source = path.read_text(encoding="utf-8")
    begins = source.removeprefix("# ").partition(":")[0]
    if begins not in OUTCOMES:
        allowed = ", ".join(OUTCOMES)
        raise ValueError(f"{path.name}: the first line must begin with one of {allowed}")
    return Cell(path.stem, OUTCOMES[begins], source)
