"""Unpacks notebooks from zips that learners submit, within limits.

A zip declares the unpacked size of each file in it, and `zipfile` never returns more than that. So
the limits are checked before anything is unpacked.
"""

import io
import struct
import zipfile
import zlib
from pathlib import PurePosixPath

from grading.intake.submissions import NOTEBOOK_SUFFIXES
from grading.platforms import zip_names

MAX_DEPTH = 3  # nesting of zips
MAX_FILES = 1_000  # files of one learner, in all zips together
MAX_BYTES = 100_000_000  # unpacked bytes of one learner, in all zips together
MAX_FILE_BYTES = 20_000_000
# An entry of a zip's central directory takes 46 bytes plus its name. Parsing a directory takes time
# and memory, so its size is checked first.
MAX_TABLE_BYTES = 300 * MAX_FILES
TABLE_END, TABLE_END_64 = b"PK\5\6", b"PK\6\7"
END_BYTES, END_64_BYTES = 22, 20
# Compression methods that Windows, macOS and the platforms use. For others, `zipfile` checks the
# size only after unpacking.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, OSError, NotImplementedError, RuntimeError, ValueError),
)


class CannotOpen(Exception):
    """A zip can't be opened; the message completes a line that begins with its name."""


class Budget:
    """The files and bytes that one learner's zips may still hold."""

    def __init__(self) -> None:
        self.files, self.bytes = MAX_FILES, MAX_BYTES

    def take_files(self, count: int) -> None:
        self.files -= count
        if self.files < 0:
            raise CannotOpen(f"holds more than {MAX_FILES} files")

    def take_bytes(self, size: int) -> None:
        self.bytes -= size
        if self.bytes < 0:
            raise CannotOpen(f"unpacks to more than {MAX_BYTES // 10**6} MB")


def is_zip(title: str, content: bytes) -> bool:
    return title.lower().endswith(".zip") and content.startswith(b"PK")


def notebooks(content: bytes, budget: Budget, depth: int = 1) -> list[tuple[str, bytes]]:
    """Return (name, content) of each notebook in a zip and in zips nested in it.

    Raises CannotOpen if the zip is damaged or exceeds a limit.
    """
    if depth > MAX_DEPTH:
        raise CannotOpen(f"holds zips in zips, more than {MAX_DEPTH} deep")
    if _table_bytes(content) > MAX_TABLE_BYTES:
        raise CannotOpen(f"holds more than {MAX_FILES} files")
    found: list[tuple[str, bytes]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as zipped:
            entries = zipped.infolist()
            budget.take_files(len(entries))
            for entry in entries:
                parts = _parts(entry)
                if entry.is_dir() or not parts or any(map(_hidden, parts)):
                    continue
                name = parts[-1]
                if name.lower().endswith((*NOTEBOOK_SUFFIXES, ".zip")):
                    inner = _read(zipped, entry, budget)
                    if is_zip(name, inner):
                        found += notebooks(inner, budget, depth + 1)
                    elif not name.lower().endswith(".zip"):
                        found.append((name, inner))
    except DAMAGED as error:
        raise CannotOpen(f"is damaged ({error})") from None
    return found


def _read(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> bytes:
    if entry.flag_bits & ENCRYPTED:
        raise CannotOpen("needs a password")
    if entry.compress_type not in METHODS:
        raise CannotOpen("is compressed in an unusual way; ask for one made by Windows or macOS")
    if entry.file_size > MAX_FILE_BYTES:
        raise CannotOpen(f"holds a file of more than {MAX_FILE_BYTES // 10**6} MB")
    budget.take_bytes(entry.file_size)
    return zipped.read(entry)


def _parts(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    name = zip_names.certain(entry)
    text = name if isinstance(name, str) else name.decode(zip_names.FALLBACK)
    return PurePosixPath(text.replace("\\", "/")).parts


def _hidden(part: str) -> bool:
    """Return whether a name is hidden, such as checkpoints or macOS's metadata."""
    return part.startswith(".") or part == "__MACOSX"


def _table_bytes(content: bytes) -> int:
    """Return the size of the central directory, which `zipfile` would read."""
    place = content.rfind(TABLE_END)
    end = content[place : place + END_BYTES]  # too short if `place` is -1
    if len(end) < END_BYTES:
        raise CannotOpen("is damaged (its table of contents is missing)")
    if content.startswith(TABLE_END_64, place - END_64_BYTES):
        raise CannotOpen(f"holds more than {MAX_FILES} files")  # zip64 is needed only for huge zips
    return int.from_bytes(end[12:16], "little")
