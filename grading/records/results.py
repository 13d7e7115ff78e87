"""What a course folder keeps of each submission's grading, so that a run can go on where it was."""

import contextlib
import fcntl
import json
import os
from pathlib import Path


class Results:
    """A file for each submission: there as a whole, or not at all."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def all(self):
        """student → exercise → entry"""
        found = {}
        for file in sorted(self.folder.glob("*/*.json")):
            if (entry := read(file)) is not None:
                found.setdefault(file.parent.name, {})[file.stem] = entry
        return found

    def put(self, student, exercise, entry):
        write(self.folder / student / f"{exercise}.json", entry)


def read(file):
    """The entry in this file; None if there is none, or a damaged one: it is made again then."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def write(file, entry):
    replace(file, json.dumps(entry, indent=1, sort_keys=True))


def replace(file, text):
    """Write a file so that at each moment it is there as it was or as it will be."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.new")
    try:
        with new.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


@contextlib.contextmanager
def alone(file):
    """Hold the course for one grading at a time. Raises BlockingIOError if somebody else has it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
