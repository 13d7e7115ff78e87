"""Misconceptions: what they are and where to read, from exercises/misconceptions.toml.

A misconception may occur in several exercises; its message is written once, under its key.
"""

import functools
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "exercises" / "misconceptions.toml"


@dataclass(frozen=True)
class Misconception:
    """A known misconception, with the answers that it leads to."""

    key: str  # "output-not-counted"
    # Message to the learner: names the misconception, never the answer.
    says: str
    # Where to read: chapter and heading.
    read: str
    answer: Callable[..., object]  # computes the wrong answer from a case's arguments


def wrong(key: str, answer: Callable[..., object]) -> Misconception:
    """Return the misconception with this key; raise ValueError if the file lacks it.

    answer: computes what the misconception leads to in one part.
    """
    if key not in messages():
        raise ValueError(f"{FILE.name} has no mistake called {key!r}")
    says, read = messages()[key]
    return Misconception(key, says, read, answer)


@functools.cache
def messages() -> dict[str, tuple[str, str]]:
    """Return key → (message, where to read)."""
    places = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {key: (says, read) for read, found in places.items() for key, says in found.items()}
