"""Zips of all submissions for an assignment, as Moodle and Canvas write them.

The file names follow mod/assign/classes/downloader.php of Moodle and lib/content_zipper.rb of
Canvas LMS. A zip states the unpacked size of each file in it, and no more than that is unpacked.
"""

import contextlib
import functools
import io
import shutil
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO

from grading.files import Unable
from grading.intake import (
    EXCHANGE_FILES,
    NOTEBOOKS,
    SYSTEM_FILES,
    is_odd,
    name_problem,
    printable,
)
from grading.tables import People

MOST_FILES, MOST_BYTES = 1_000, 100_000_000  # of one learner
ALL_FILES, ALL_BYTES = 20_000, 2_000_000_000  # of a download
ENCRYPTED = 0x1  # a flag of an entry
# The methods of Windows, macOS and the platforms; of others, `zipfile` knows the size too late.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_FILE_BYTES = 20_000_000
TYPED = "onlinetext.html"
MOODLE = {"_assignsubmission_file": True, "_assignsubmission_onlinetext": False}  # is it a file?
CANVAS = ("text.html", "link.html")  # titles of what was typed into a form
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OSError),
)
Files = dict[str, bytes]


class Unreadable(Exception):
    """A file is no zip that can be read; the message ends a line that begins with its name."""


class Limits:
    """What a download, or the zips of one learner, may still hold."""

    def __init__(self, files: int, size: int) -> None:
        self.most_files, self.most_bytes = self.files, self.bytes = files, size

    def take(self, files: int = 0, size: int = 0) -> None:
        self.files -= files
        self.bytes -= size
        if self.files < 0:
            raise Unreadable(f"holds more than {self.most_files} files")
        if self.bytes < 0:
            raise Unreadable(f"unpacks to more than {self.most_bytes // 10**6} MB")


@dataclass(frozen=True)
class HandIn:
    """One file that was handed in, or a page with what was typed into a form.

    path: in the download. number: the platform's, for the learner. person: the learner's name as
    the platform writes it. title: the learner's name of the file.
    """

    path: str
    number: str
    person: str
    title: str
    is_file: bool
    content: Callable[[], bytes]

    def student(self, people: People) -> str:
        """Return the learner's folder."""
        known = people.student(self.number, self.person)
        return known or f"{self.person} {self.number}".strip()


@contextlib.contextmanager
def opened(file: Path) -> Iterator[tuple[list[HandIn], list[str]]]:
    """Open a platform's zip; yield its hand-ins, which are read later, and lines about the rest.

    Raises Unable.
    """
    found: list[HandIn] = []
    lines: list[str] = []
    try:
        with _zip(file) as zipped:
            for path, content in entries(zipped, Limits(ALL_FILES, ALL_BYTES)):
                if parsed := _parsed(path):
                    found.append(HandIn(path, *parsed, content))
                else:
                    lines.append(f"{printable(path)}: not named as Moodle or Canvas does")
            yield found, lines
    except Unreadable as error:
        raise Unable(f"{file} {error}") from None


def _zip(file: Path | IO[bytes]) -> zipfile.ZipFile:
    try:
        try:  # Canvas and others write UTF-8 without saying so
            return zipfile.ZipFile(file, metadata_encoding="utf-8")
        except UnicodeDecodeError:
            return zipfile.ZipFile(file)
    except FileNotFoundError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None
    except DAMAGED as error:
        raise Unreadable(f"is damaged, or is no zip ({error})") from None


def entries(zipped: zipfile.ZipFile, limits: Limits) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield (path, function that reads it) of all files in a zip."""
    found = [one for one in zipped.infolist() if not one.is_dir()]
    limits.take(files=len(found))
    for entry in found:
        path = entry.filename.replace("\\", "/")
        parts = PurePath(path).parts
        if parts and parts[-1] not in SYSTEM_FILES and "__MACOSX" not in parts:
            yield path, functools.partial(_content, zipped, entry, limits)


def _content(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> bytes:
    if entry.file_size > MOST_FILE_BYTES:
        raise Unreadable(f"holds a file of more than {MOST_FILE_BYTES // 10**6} MB")
    if entry.flag_bits & ENCRYPTED:
        raise Unreadable("needs a password")
    if entry.compress_type not in METHODS:
        raise Unreadable("is compressed in an unusual way; ask for one made by Windows or macOS")
    limits.take(size=entry.file_size)
    try:
        with zipped.open(entry) as stream:
            return stream.read(entry.file_size)  # not all, which may be more than is stated
    except DAMAGED as error:
        raise Unreadable(f"is damaged ({error})") from None


def _parsed(path: str) -> tuple[str, str, str, bool] | None:
    """Return (number, person, title, is it a file) of a path, None if no platform writes such."""
    for sign, is_file in MOODLE.items():
        # A folder for each learner, or none. Moodle takes underscores out of names.
        head, _, tail = path.partition(sign)
        person, _, number = head.rpartition("_")
        person = person.rpartition("/")[2]  # a zip that was packed again has a folder around all
        title = tail[1:].rpartition("/")[2]
        if tail[:1] in ("/", "_") and person and number.isdecimal() and title:
            return number, person, title, is_file
    return _of_canvas(path.rpartition("/")[2])


def _of_canvas(name: str) -> tuple[str, str, str, bool] | None:
    """Parse Canvas's <name>_<number>_<number of the file>_<title>; LATE may follow the name.

    What was typed is <name>_<number>_text.html or <name>_<number>_link.html.
    """
    words = name.split("_")
    if words[0] == "anon" and len(words) > 3 and words[1] and words[2].isdecimal():
        return words[1], "anon", "_".join(words[3:]), True
    for place in range(1, len(words) - 2):
        if words[place].isdecimal() and words[place + 1].isdecimal():
            person, title = _without_late(words[:place]), "_".join(words[place + 2 :])
            return (words[place], person, title, True) if person and title else None
    if len(words) > 2 and words[-1] in CANVAS and words[-2].isdecimal():
        return words[-2], _without_late(words[:-2]), words[-1], False
    return None


def _without_late(name: list[str]) -> str:
    return "_".join(name[:-1] if len(name) > 1 and name[-1] == "LATE" else name)


# --- one learner's files -------------------------------------------------------------------------


def by_student(found: Sequence[HandIn], people: People) -> Iterator[tuple[str, Files, list[str]]]:
    """Yield (student, file name → content, lines about what is left out or named otherwise)."""
    own: defaultdict[str, list[HandIn]] = defaultdict(list)
    for one in found:
        own[one.student(people)].append(one)
    for student, parts in sorted(own.items()):
        fits, number = people.named(parts[0].person), parts[0].number
        if student not in people.students and len(fits) > 1:
            said = (
                f"may be {' or '.join(sorted(fits))}; say which by a table for `make roster` with "
            )
            said += f"{number} as lms_user_id, and collect again"
            yield student, {}, [f"{printable(student)}: {said}"]
            continue
        if problem := name_problem(student):
            yield student, {}, [f"{printable(student)}: {problem}"]
            continue
        files, lines = _files(parts)
        if people.students and student not in people.students:
            lines.append("is in no roster")
        if any(f"_LATE_{number}_" in one.path for one in parts):
            lines.append("late, says Canvas")
        yield student, files, [f"{printable(student)}: {line}" for line in lines]


def _files(parts: Sequence[HandIn]) -> tuple[Files, list[str]]:
    files: Files = {}
    lines: list[str] = []
    limits = Limits(MOST_FILES, MOST_BYTES)
    for one in sorted(parts, key=lambda one: not one.is_file):
        title = printable(one.title)
        try:
            content = one.content()
        except Unreadable as error:
            lines.append(f"{title} {error}")
            continue
        if is_odd(one.title) or one.title.startswith("."):
            lines.append(f"{title}: not the name of a file")
        elif one.title.lower() in EXCHANGE_FILES:
            lines.append(f"{title}: not a file that learners hand in")
        elif not content:
            lines.append(f"{title}: empty")
        elif not one.is_file:
            lines.append("a text was typed into the form; read it on the platform")
            if not files:
                files[TYPED] = content
        elif one.title.lower().endswith(".zip") and content.startswith(b"PK"):
            lines.append(f"{title} {_add_zip(files, one.title, content, limits)}")
        else:
            files[_unused(one.title, files)] = content
    return files, lines


def _add_zip(files: Files, title: str, content: bytes, limits: Limits) -> str:
    """Add the notebooks in a learner's zip, or else the zip itself; return what was found."""
    found: list[tuple[str, bytes]] = []
    try:
        with _zip(io.BytesIO(content)) as zipped:
            for path, read in entries(zipped, limits):
                parts = PurePath(path).parts
                hidden = any(part.startswith(".") for part in parts)
                if path.lower().endswith(NOTEBOOKS) and not hidden:
                    found.append((parts[-1], read()))
        names = ", ".join(printable(name) for name, _ in found) or "no notebook"
        said = f"is a zip; in it: {names}"
    except Unreadable as error:
        found, said = [], str(error)
    for name, inner in found or [(title, content)]:
        if not is_odd(name):
            files[_unused(name, files)] = inner
    return said


def _unused(title: str, taken: Mapping[str, bytes]) -> str:
    """Return a title with a number before it if it is taken."""
    names = (title, *(f"{number}-{title}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace a folder by one with these files, never mixing old and new ones."""
    # Folders with hidden names are not read as submissions.
    made, old = (folder.with_name(f".{folder.name}.{word}") for word in ("new", "old"))
    for one in (made, old):
        if one.is_symlink():
            one.unlink()
        shutil.rmtree(one, ignore_errors=True)
    made.mkdir(parents=True)
    for name, content in files.items():
        (made / name).write_bytes(content)
    if folder.exists():
        folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def content(folder: Path) -> Files:
    """Return file name → content of a folder's files, without a time that was written by hand."""
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        if one.name not in EXCHANGE_FILES
        and one.is_file()
        and not one.is_symlink()
        and one.stat().st_size <= MOST_FILE_BYTES
    }
