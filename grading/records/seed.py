"""The secret seed of a course, from which hidden inputs are drawn."""

import contextlib
import os
import secrets
from pathlib import Path

FOLDER = ".grading"  # folder in the course folder that learners cannot read


def course_seed(course: Path) -> str:
    """Return the seed of a course; draw it on first use."""
    file = course / FOLDER / "seed"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    if not _read(file):
        # Write atomically: if the disk is full, an empty seed would remain, which is easy to guess.
        new = file.with_name(f".seed.{os.getpid()}")
        try:
            new.write_text(secrets.token_hex(16) + "\n", encoding="ascii")
            new.chmod(0o600)
            if not _read(file):
                file.unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):  # another process created the file first
                file.hardlink_to(new)
        finally:
            new.unlink(missing_ok=True)
    return _read(file)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
