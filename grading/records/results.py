"""Stored results of submissions, with which an interrupted grading continues."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict


class Result(TypedDict, total=False):
    """The stored result of one submission.

    Files of older versions may lack some keys. digest: of everything that the grading depends on,
    "" if it must be repeated. given: the manual points and comments that the feedback page shows.
    reason: why it was not graded completely, "" if it was. parts, code, missing: as in `Outcome`.
    told: the digest if the grading must be repeated although the notebook received hidden inputs,
    else "".
    """

    digest: str
    reason: str
    parts: list[dict[str, Any]]
    remarks: list[str]
    tampering: list[str]
    seconds: float
    unsafe: bool
    code: str
    told: str
    given: list[list[Any]]
    missing: list[str]


class Results:
    """A folder with one result file per submission, each written atomically."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> dict[str, dict[str, Result]]:
        """Return student → exercise → result."""
        found: dict[str, dict[str, Result]] = {}
        for file in sorted(self.folder.glob("*/*.json")):
            if (result := read(file)) is not None:
                found.setdefault(file.parent.name, {})[file.stem] = result
        return found

    def put(self, student: str, exercise: str, result: Result) -> None:
        write(self.folder / student / f"{exercise}.json", result)


def read(file: Path) -> Any:
    """Return the JSON in this file, None if it is missing or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def write(file: Path, content: object) -> None:
    replace(file, json.dumps(content))


def replace(file: Path, text: str) -> None:
    """Write a file atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as new, new.open("w", encoding="utf-8") as stream:
        stream.write(text)


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `file` unless an error is raised."""
    new = file.with_name(f".{file.name}.new")
    try:
        yield new
        with new.open("rb") as stream:
            os.fsync(stream.fileno())
        new.replace(file)
    except (Exception, KeyboardInterrupt):
        with contextlib.suppress(OSError):
            new.unlink()
        raise


@contextlib.contextmanager
def lock(file: Path) -> Iterator[None]:
    """Hold a lock file; raise BlockingIOError if another process holds it."""
    with file.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
