"""The secret seed of a course, from which hidden inputs are drawn."""

import contextlib
import os
import secrets
from pathlib import Path

FOLDER = ".grading"  # in the course folder, closed to learners


def course_seed(course: Path) -> str:
    """Return the seed of a course, drawn on first use."""
    file = course / FOLDER / "seed"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    if not _read(file):
        # Written atomically: after a full disk, an empty seed would be easy to guess.
        new = file.with_name(f".seed.{os.getpid()}")
        try:
            new.write_text(secrets.token_hex(16) + "\n", encoding="ascii")
            new.chmod(0o600)
            if not _read(file):
                file.unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):  # another process was first
                file.hardlink_to(new)
        finally:
            new.unlink(missing_ok=True)
    return _read(file)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
