"""Race-free reading of files and folders that learners may change at any time.

Each folder on a path is opened relative to its parent and never through a link, so a link that is
swapped in between two reads is not followed.
"""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def open_folder(base: Path, parts: Sequence[str]) -> Iterator[int]:
    """Yield a descriptor of the folder `base`/`parts`.

    `base` itself may be a link. Raises OSError if any of `parts` is a link or not a folder.
    """
    with contextlib.ExitStack() as stack:
        folder = os.open(base, os.O_DIRECTORY)
        stack.callback(os.close, folder)
        for part in parts:
            folder = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            stack.callback(os.close, folder)
        yield folder


def list_folder(base: Path, parts: Sequence[str] = ()) -> list[tuple[str, int]]:
    """Return (name, mode) of a folder's entries, sorted, without following symlinks."""
    found = []
    with open_folder(base, parts) as folder, os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                found.append((entry.name, entry.stat(follow_symlinks=False).st_mode))
    return sorted(found)


def read(base: Path, parts: Sequence[str], max_bytes: int) -> tuple[bytes, str]:
    """Return (content, problem) of a regular file.

    The problem is "" if the file is valid; otherwise there is no content.
    """
    *folders, name = parts
    try:
        with open_folder(base, folders) as folder:
            # O_NONBLOCK: opening a FIFO would wait for a writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            file = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return b"", reason(error, "the file")
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        return b"", "it is not a file"
    with os.fdopen(file, "rb") as stream:
        try:
            content = stream.read(max_bytes + 1)
        except OSError as error:
            return b"", reason(error, "the file")
    if len(content) > max_bytes:
        return b"", f"the file has more than {max_bytes / 10**6:g} MB"
    return content, "" if content else "the file is empty"


def reason(error: OSError, what: str) -> str:
    """Return the sentence that says why `what` cannot be read."""
    return f"{what} cannot be read ({os.strerror(error.errno or 0)})"
