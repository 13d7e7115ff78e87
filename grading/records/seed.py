"""The seed of a course, which is secret: the hidden inputs are drawn from it."""

import contextlib
import os
import secrets
from pathlib import Path

FOLDER = ".grading"  # in the course folder; nothing in it is for learners


def course_seed(course: Path) -> str:
    """The seed of this course: drawn on first use, the same from then on."""
    file = course / FOLDER / "seed"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    if not _read(file):
        # Whole or not at all: a full disk must not leave an empty seed, which anybody could guess.
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
