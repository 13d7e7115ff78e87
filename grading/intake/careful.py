"""Reads folders and files in which anything may stand, and which may change meanwhile.

Each folder on the way is opened by itself, from the one above it, and never through a link: what is
put in its place between two looks is not followed.
"""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def opened(base: Path, parts: Sequence[str]) -> Iterator[int]:
    """A descriptor of the folder `base`/`parts`. OSError if it is none, or a link is on the way.

    base: may itself be a link, and what is above it.
    """
    with contextlib.ExitStack() as stack:
        folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, folder)
        for part in parts:
            folder = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            stack.callback(os.close, folder)
        yield folder


def entries(base: Path, parts: Sequence[str] = ()) -> list[tuple[str, int]]:
    """(name, mode) of all that is in a folder, sorted; links are not followed."""
    found = []
    with opened(base, parts) as folder, os.scandir(folder) as there:
        for one in there:
            with contextlib.suppress(FileNotFoundError):  # gone meanwhile
                found.append((one.name, one.stat(follow_symlinks=False).st_mode))
    return sorted(found)


def content(base: Path, parts: Sequence[str], most: int) -> tuple[bytes, str]:
    """(content, why there is none) of a file that may be anything."""
    *folders, name = parts
    try:
        with opened(base, folders) as folder:
            # Without waiting for whoever would write into a FIFO.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            file = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return b"", why(error, "the file")
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        return b"", "it is not a file"
    with os.fdopen(file, "rb") as stream:
        try:
            found = stream.read(most + 1)
        except OSError as error:
            return b"", why(error, "the file")
    if len(found) > most:
        return b"", f"the file has more than {most / 10**6:g} MB"
    return found, "" if found else "the file is empty"


def why(error: OSError, what: str) -> str:
    return f"{what} cannot be read ({os.strerror(error.errno or 0)})"
