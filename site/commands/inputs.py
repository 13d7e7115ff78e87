"""A hash of files, from which a build sees what has changed since the last one."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

NO_SOURCES = {"__pycache__", ".ipynb_checkpoints"}


def digest(book: Path, paths: Iterable[Path], *texts: str) -> str:
    """Return a hash of the names and contents of files, of all files in folders, and of texts."""
    total = hashlib.sha256("\0".join(texts).encode())
    for file in sorted({file for path in paths for file in (path, *path.rglob("*"))}):
        if file.is_file() and file.suffix != ".mo" and not NO_SOURCES & set(file.parts):
            total.update(os.path.relpath(file, book).encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()
