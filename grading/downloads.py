"""Zips of all submissions for an assignment, as Moodle and Canvas write them.

The file names follow mod/assign/classes/downloader.php of Moodle and lib/content_zipper.rb of
Canvas LMS. A zip states the unpacked size of each file in it, and `zipfile` never returns more than
that. So limits are checked before anything is unpacked.
"""

import contextlib
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

from grading.intake import (
    EXCHANGE_FILES,
    MOST_NAME_BYTES,
    NOTEBOOKS,
    SYSTEM_FILES,
    is_odd,
    name_problem,
    nearest,
    printable,
)
from grading.people import People

MOST_FILES, MOST_BYTES = 1_000, 100_000_000  # of one learner
ALL_FILES, ALL_BYTES = 20_000, 2_000_000_000  # of a download
UTF8_NAME, ENCRYPTED = 0x800, 0x1  # flags of an entry
# The methods of Windows, macOS and the platforms; of others, `zipfile` knows the size too late.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_DEPTH = 3  # zips in zips
MOST_FILE_BYTES = 20_000_000
TABLE_END = b"PK\5\6"  # begins the end of a zip's table of contents; 46 bytes and a name an entry
MOST_TABLE_BYTES, END_BYTES = 300_000, 22
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


class Damaged(Unreadable):
    """Its bytes are not what they should be: it should be downloaded again."""


class Limits:
    """What a zip, with the zips in it, may still hold."""

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


def hand_ins(file: Path) -> tuple[list[HandIn], list[str], contextlib.ExitStack]:
    """Open a platform's zip; return its hand-ins, lines about the rest, and what to close.

    Raises Unreadable.
    """
    found: list[HandIn] = []
    lines: list[str] = []
    stack = contextlib.ExitStack()
    limits = Limits(ALL_FILES, ALL_BYTES)
    try:
        for path, content in entries(file, limits, stack, lambda path: _parsed(path) is None):
            parsed = _parsed(path)
            if parsed is None:
                lines.append(f"{printable(path)}: not named as Moodle or Canvas does")
            else:
                found.append(HandIn(path, *parsed, content))
    except Unreadable as error:
        stack.close()
        raise Unreadable(f"{file} {error}") from None
    return found, lines, stack


def entries(
    file: Path | IO[bytes],
    limits: Limits,
    stack: contextlib.ExitStack,
    opens: Callable[[str], bool],
    depth: int = 1,
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield (path, function that reads it) of all in a zip, and in zips in it.

    opens: whether a zip of this path is to be opened, and not yielded.
    """
    if depth > MOST_DEPTH:
        raise Unreadable(f"holds zips in zips, more than {MOST_DEPTH} deep")
    try:
        zipped = stack.enter_context(zipfile.ZipFile(file))
    except FileNotFoundError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None
    except DAMAGED as error:
        raise Unreadable(f"is damaged, or is no zip ({error})") from None
    found = [one for one in zipped.infolist() if not one.is_dir()]
    limits.take(files=len(found))
    for entry in found:
        path = _name(entry).replace("\\", "/")
        parts = PurePath(path).parts
        if not parts or parts[-1] in SYSTEM_FILES or "__MACOSX" in parts:
            continue

        def content(entry: zipfile.ZipInfo = entry) -> bytes:
            return _content(zipped, entry, limits)

        if path.lower().endswith(".zip") and opens(path):
            inner = stack.enter_context(_unpacked(zipped, entry, limits))
            yield from entries(inner, limits, stack, opens, depth + 1)
        else:
            yield path, content


def _name(entry: zipfile.ZipInfo) -> str:
    """Return an entry's name: Canvas and others write UTF-8 without saying so."""
    if entry.flag_bits & UTF8_NAME:
        return entry.filename
    plain = entry.filename.encode("cp437")
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError:
        return entry.filename


def _content(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> bytes:
    if entry.file_size > MOST_FILE_BYTES:
        raise Unreadable(f"holds a file of more than {MOST_FILE_BYTES // 10**6} MB")
    with _unpacked(zipped, entry, limits) as stream:
        return stream.read()


def _unpacked(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> IO[bytes]:
    if entry.flag_bits & ENCRYPTED:
        raise Unreadable("needs a password")
    if entry.compress_type not in METHODS:
        raise Unreadable("is compressed in an unusual way; ask for one made by Windows or macOS")
    limits.take(size=entry.file_size)
    unpacked = io.BytesIO()
    try:
        with zipped.open(entry) as stream:
            shutil.copyfileobj(stream, unpacked)
    except DAMAGED as error:
        raise Damaged(f"is damaged ({error})") from None
    unpacked.seek(0)
    return unpacked


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
        person = parts[0].person
        fits = people.named(person)
        if student not in people.students and len(fits) > 1:
            said = (
                f"may be {' or '.join(sorted(fits))}; give `make roster` a table in which one of "
            )
            said += f"them has the lms_user_id {parts[0].number}, and collect again"
            yield student, {}, [f"{printable(student)}: {said}"]
            continue
        if problem := name_problem(student):
            yield student, {}, [f"{printable(student)}: {problem}"]
            continue
        files, lines = _files(parts)
        if people.students and student not in people.students:
            lines.append(f"is in no roster{nearest(student, people.students)}")
        yield student, files, [f"{printable(student)}: {line}" for line in lines]


def _files(parts: Sequence[HandIn]) -> tuple[Files, list[str]]:
    files: Files = {}
    lines: list[str] = []
    limits = Limits(MOST_FILES, MOST_BYTES)
    for one in sorted(parts, key=lambda one: not one.is_file):
        title = printable(one.title)
        try:
            content = one.content()
        except Damaged:
            raise
        except Unreadable as error:
            lines.append(f"{title} {error}")
            continue
        if is_odd(one.title) or one.title.startswith("."):
            lines.append(f"{title}: not the name of a file")
        elif not content:
            lines.append(f"{title}: empty")
        elif not one.is_file:
            has_notebook = any(name.lower().endswith(NOTEBOOKS) for name in files)
            if has_notebook or content.strip():
                lines.append("a text was typed into the form; read it on the platform")
            if not has_notebook and content.strip():
                files[_unused(TYPED, files)] = content
        elif one.title.lower().endswith(".zip") and content.startswith(b"PK"):
            lines.append(f"{title} {_add_zip(files, one.title, content, limits)}")
        else:
            files[_unused(one.title, files)] = content
    return files, lines


def _add_zip(files: Files, title: str, content: bytes, limits: Limits) -> str:
    """Add the notebooks in a learner's zip, or else the zip itself; return what was found."""
    found: list[tuple[str, bytes]] = []
    try:
        _check_table(content)
        with contextlib.ExitStack() as stack:
            for path, read in entries(io.BytesIO(content), limits, stack, lambda _: True):
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


def _check_table(content: bytes) -> None:
    """Raise Unreadable if the table of contents, which `zipfile` would read, is too long."""
    place = content.rfind(TABLE_END)
    end = content[place : place + END_BYTES]
    if place < 0 or len(end) < END_BYTES:
        raise Unreadable("is damaged (its table of contents is missing)")
    if int.from_bytes(end[12:16], "little") > MOST_TABLE_BYTES:
        raise Unreadable(f"holds more than {MOST_FILES} files")


def _unused(title: str, taken: Mapping[str, bytes]) -> str:
    """Return a title as a file's name: not too long, and with a number before it if it is taken."""
    ending = PurePath(title).suffix[-20:]
    most = MOST_NAME_BYTES - 10 - len(ending.encode())
    stem = title[: len(title) - len(ending)].encode()[:most].decode(errors="ignore")
    name, number = stem + ending, 1
    while name in taken:
        number += 1
        name = f"{number}-{stem}{ending}"
    return name


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
