"""The seed of a course, which is secret: the hidden inputs are drawn from it."""

import secrets
from pathlib import Path

FOLDER = ".grading"  # in the course folder; nothing in it is for learners


def course_seed(course: Path) -> str:
    """The seed of this course: drawn on first use, the same from then on."""
    file = course / FOLDER / "seed"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        with file.open("x", encoding="ascii") as new:
            new.write(secrets.token_hex(16) + "\n")
        file.chmod(0o600)
    except FileExistsError:
        pass
    return file.read_text(encoding="ascii").strip()
