"""Submissions that mean harm, or do it: each with the outcome that is fair.

`cells()`: code that runs in the learner's kernel, before functions that are right. What it prints
after the word REACHED is something that it must not get at.
`folders()`: things that somebody puts into a folder to hand in.
`answers()`: what a learner's function may return in the place of an answer.
"""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Cell:
    """Code to run before a right solution, and what is fair then.

    fair: "points" (the solution keeps them), "nothing" (it gets none, and is told why), "either"
    (the code harms its own process, and how far it gets is a matter of time).
    """

    name: str
    fair: str
    does: str
    source: str


def cells() -> list[Cell]:
    """What is no Python lies in a .txt, since other readers take each .py for Python."""
    return [_cell(path) for path in sorted((FOLDER / "cells").iterdir()) if path.is_file()]


def _cell(path: Path) -> Cell:
    source = path.read_text(encoding="utf-8")
    fair, _, does = source.partition("\n")[0].removeprefix("# ").partition(": ")
    if fair not in ("points", "nothing", "either"):
        raise ValueError(f"{path.name}: its first line must say what is fair, not {fair!r}")
    return Cell(path.stem, fair, does, source)
