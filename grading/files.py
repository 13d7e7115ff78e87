"""Files that are written whole or not at all, and what ends a command."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Unable(Exception):
    """The command cannot go on; the message is one line that says why."""


def read_json(file: Path) -> Any:
    """Return the JSON in this file, None if it is missing or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def put(file: Path, text: str) -> None:
    """Write a file whole, or leave it as it was; a file with this text is not touched."""
    with contextlib.suppress(OSError, ValueError):
        if file.read_text(encoding="utf-8") == text:
            return
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as new:
        new.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `file` unless an error is raised."""
    new = file.with_name(f".{file.name}.new")
    try:
        yield new
        with new.open("rb") as stream:
            os.fsync(stream.fileno())
        new.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
