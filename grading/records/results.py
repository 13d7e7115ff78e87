"""What a course folder keeps of each grading, so that an interrupted run can be continued."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict


class Result(TypedDict, total=False):
    """What is kept of one submission's grading. Files of older versions may lack some keys.

    digest: of all that the grading depends on, "" if it must be repeated. given: what the page says
    that the instructor gave by hand. reason: why it was not graded, or not completely, "" if it
    was. parts, code, missing: those of `Outcome`. told: the digest, if it must be repeated though
    hidden inputs were asked, else "".
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
    """A folder with one file for each submission, which is there completely or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> dict[str, dict[str, Result]]:
        """student → exercise → result"""
        found: dict[str, dict[str, Result]] = {}
        for file in sorted(self.folder.glob("*/*.json")):
            if (result := read(file)) is not None:
                found.setdefault(file.parent.name, {})[file.stem] = result
        return found

    def put(self, student: str, exercise: str, result: Result) -> None:
        write(self.folder / student / f"{exercise}.json", result)


def read(file: Path) -> Any:
    """The JSON in this file; None if it is missing or damaged, and has to be made again."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def write(file: Path, content: object) -> None:
    replace(file, json.dumps(content, indent=1, sort_keys=True))


def replace(file: Path, text: str) -> None:
    """Write a file so that at every moment it has either its old content or all of the new."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with beside(file) as new, new.open("w", encoding="utf-8") as stream:
        stream.write(text)


@contextlib.contextmanager
def beside(file: Path) -> Iterator[Path]:
    """Yield a path to write to, which takes the file's place once it is written whole.

    After an error the file is as it was.
    """
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
    """Hold this lock file. Raises BlockingIOError if another process holds it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
