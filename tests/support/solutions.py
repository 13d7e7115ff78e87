"""The exercises' reference solutions, and cases to compare answers with."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from grading.release import exercises
from grading.release.cases import Cases, hidden, published
from grading.schema import Part

NAMES = tuple(exercises.names())


def parts() -> Iterator[tuple[str, Part]]:
    """Yield each exercise's name with each of its parts."""
    for name in NAMES:
        for part in exercises.load(name).parts:
            yield name, part


@cache
def part_of(name: str, key: str) -> Part:
    """Return the part `key` of the exercise `name`."""
    (part,) = (part for part in exercises.load(name).parts if part.key == key)
    return part


@cache
def in_check(name: str, key: str) -> Cases:
    """Return the published cases of a part, with expected answers."""
    return published(name, part_of(name, key))


@cache
def in_class(name: str, key: str, seed: int) -> Cases:
    """Return the hidden cases of a part for one class of students."""
    return hidden(name, part_of(name, key), f"class {seed}")


@cache
def solved(name: str) -> tuple[str, ...]:
    """Return the code cells of the reference notebook, without the checks."""
    return tuple(
        cell.source
        for cell in exercises.source(name).cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade")
    )


@cache
def reference(name: str) -> dict[str, Any]:
    """Return the names that the reference notebook defines. Cached: do not modify."""
    return defined(solved(name))


def defined(sources: tuple[str, ...]) -> dict[str, Any]:
    """Return the names that cells define when they run in order."""
    names: dict[str, Any] = {}
    for source in sources:
        exec(source, names)
    return names
