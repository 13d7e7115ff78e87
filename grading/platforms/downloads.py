"""Zips of all submissions for an assignment, downloaded from Moodle or Canvas.

The file names follow mod/assign/classes/downloader.php of Moodle and lib/content_zipper.rb of
Canvas LMS.
"""

import contextlib
import dataclasses
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from grading.intake.names import printable
from grading.intake.submissions import SYSTEM_FILES
from grading.platforms import nested, zip_names

MAX_FILES = 20_000  # files per download
MAX_FILE_BYTES = nested.MAX_FILE_BYTES
MAX_ZIP_BYTES, MAX_DEPTH = 2_000_000_000, 3  # size and nesting of downloads inside another download
Kind = Literal["file", "text", "link"]
MOODLE: dict[str, Kind] = {"_assignsubmission_file": "file", "_assignsubmission_onlinetext": "text"}
CANVAS: dict[str, Kind] = {"text.html": "text", "link.html": "link"}
# Exceptions that zipfile raises for damaged files.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError),
)


class Unreadable(Exception):
    """A file is not a readable download; the message is one line that says why."""


@dataclass(frozen=True)
class HandIn:
    """One submitted file, or the page with text that a learner typed into a form.

    member: its name in the zip. number: the platform's number for the learner. person: the
    learner's name as the platform wrote it, "" if its encoding is unknown. title: the learner's
    file name.
    """

    member: str
    number: str
    person: str
    title: str
    kind: Kind = "file"


@dataclass(frozen=True)
class Member:
    """A submitted file and its entry in the zip; `source` names the zip in messages."""

    hand_in: HandIn
    source: str
    archive: zipfile.ZipFile
    entry: zipfile.ZipInfo

    def too_large(self) -> bool:
        return self.entry.file_size > MAX_FILE_BYTES

    def content(self) -> bytes:
        """Return the content; raise Unreadable if it cannot be decompressed."""
        if self.entry.compress_type not in nested.METHODS:
            raise Unreadable(f"{self.hand_in.member} is compressed as no platform does it")
        try:
            return self.archive.read(self.entry)
        except (*DAMAGED, OSError) as error:
            raise Unreadable(f"{self.source} is damaged ({error}); download it again") from None


@dataclass
class Download:
    """The members of a platform's zip in their order, and lines about other entries."""

    members: list[Member]
    lines: list[str]


def hand_in(member: str) -> HandIn | None:
    """Parse a file name in the zip; return None if no platform writes such names."""
    for sign, kind in MOODLE.items():
        head, _, tail = member.partition(sign)
        if tail[:1] in ("/", "_"):
            # Moodle's zips have a folder for each learner, or no folders. Moodle removes
            # underscores from learners' names.
            person, _, number = head.rpartition("_")
            person = person.rpartition("/")[2]  # repacked zips have an extra top-level folder
            title = tail[1:].rpartition("/")[2]
            if person and number.isdecimal() and title:
                return HandIn(member, number, person, title, kind)
    return None if "/" in member else _of_canvas(member)


def _of_canvas(member: str) -> HandIn | None:
    """Parse Canvas's <name>_<number>_<file number>_<title>.

    The name is followed by LATE if the submission was late. Online text is
    <name>_<number>_text.html; a URL is <name>_<number>_link.html.
    """
    words = member.split("_")
    if words[0] == "anon" and len(words) > 3 and words[1] and words[2].isdecimal():
        return HandIn(member, words[1], "anon", "_".join(words[3:]))
    for place in range(1, len(words) - 2):
        if words[place].isdecimal() and words[place + 1].isdecimal():
            person, title = _without_late(words[:place]), "_".join(words[place + 2 :])
            return HandIn(member, words[place], person, title) if person and title else None
    *name, number, title = ["", *words]
    if title in CANVAS and (number.isdecimal() or name[1:] == ["anon"]) and any(name):
        return HandIn(member, number, _without_late(name[1:]), title, CANVAS[title])
    return None


def _without_late(name: list[str]) -> str:
    return "_".join(name[:-1] if len(name) > 1 and name[-1] == "LATE" else name)


@contextlib.contextmanager
def opened(archive: Path, people: Mapping[str, str] | None = None) -> Iterator[Download]:
    """Open a platform's zip; raise Unreadable if it cannot be read.

    people: the platform's number → name, from the roster. They help to detect the encoding of file
    names in zips that do not declare it.
    """
    download = Download([], [])
    with contextlib.ExitStack() as stack:
        _add(download, archive, str(archive), people or {}, stack, 1)
        yield download


def read(
    archive: Path, people: Mapping[str, str] | None = None
) -> Iterator[tuple[HandIn | str, bytes]]:
    """Yield (hand-in, content) for each file, then (report line, b"") per problem.

    A file that is too large has no content. Raises Unreadable if this is not a zip.
    """
    with opened(archive, people) as download:
        for one in download.members:
            yield one.hand_in, b"" if one.too_large() else one.content()
        for line in download.lines:
            yield line, b""


def _add(
    download: Download,
    file: Path | IO[bytes],
    name: str,
    people: Mapping[str, str],
    stack: contextlib.ExitStack,
    depth: int,
) -> None:
    """Add the entries of a zip; if `depth` is more than 1, it is inside another zip."""
    try:
        zipped = stack.enter_context(zipfile.ZipFile(file))
        entries = [one for one in zipped.infolist() if not one.is_dir()]
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror or error}") from None
    except DAMAGED as error:
        raise Unreadable(f"{name} is not a zip that can be read: {error}") from None
    if len(entries) + len(download.members) > MAX_FILES:
        raise Unreadable(f"{name} has more than {MAX_FILES} files")
    unknown = []
    for entry, path, found in _named(entries, people):
        title = path.rpartition("/")[2]
        if title in SYSTEM_FILES or path.startswith("__MACOSX/"):
            continue
        if found is None and title.lower().endswith(".zip"):
            _add_inner(download, zipped, entry, path, people, stack, depth)
        elif found is None:
            download.lines.append(f"{printable(path)}: not named as Moodle or Canvas does")
        else:
            download.members.append(Member(found, name, zipped, entry))
            if not found.person and found.number not in people:
                unknown.append(found.number)
    if unknown:
        count = len(dict.fromkeys(unknown))
        download.lines.append(
            f"{name}: the names of {count} learners are neither in UTF-8 nor in the roster, so "
            "their folders have the platform's number alone; run `roster` first to have them named"
        )


def _add_inner(
    download: Download,
    zipped: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    path: str,
    people: Mapping[str, str],
    stack: contextlib.ExitStack,
    depth: int,
) -> None:
    """Add the entries of a download inside another zip, such as one per group."""
    if depth == MAX_DEPTH:
        download.lines.append(f"{printable(path)}: a zip in a zip, more than {MAX_DEPTH} deep")
    elif entry.file_size > MAX_ZIP_BYTES or entry.compress_type not in nested.METHODS:
        download.lines.append(f"{printable(path)}: too large a zip in a zip, or an unusual one")
    else:
        unpacked = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        try:
            with zipped.open(entry) as stream:
                shutil.copyfileobj(stream, unpacked)
            _add(download, unpacked, printable(path), people, stack, depth + 1)
        except Unreadable as error:
            download.lines.append(str(error))
        except DAMAGED as error:
            download.lines.append(f"{printable(path)} is damaged: {error}")


def _named(
    entries: Sequence[zipfile.ZipInfo], people: Mapping[str, str]
) -> Iterator[tuple[zipfile.ZipInfo, str, HandIn | None]]:
    """Yield (entry, its decoded name, the hand-in or None) for each entry."""
    names = [zip_names.certain(entry) for entry in entries]
    plain = [name for name in names if isinstance(name, bytes)]
    encoding = zip_names.encoding(plain, _person, people)
    for entry, name in zip(entries, names, strict=True):
        if isinstance(name, str):
            path, found = _hand_in(name)
        elif encoding is not None:
            path, found = _hand_in(name.decode(encoding))
        else:
            path = name.decode(zip_names.FALLBACK)
            # First try the name as it is: in some encodings a letter contains a backslash's byte.
            found = hand_in(path) or _hand_in(path)[1]
            if found is not None and not found.person.isascii():
                rest = found.member[found.member.find(found.person) + len(found.person) :]
                found = dataclasses.replace(found, member=f"participant{rest}", person="")
        yield entry, path, found


def _hand_in(name: str) -> tuple[str, HandIn | None]:
    """Return (the path with forward slashes, the hand-in or None)."""
    path = name.replace("\\", "/")
    found = hand_in(path)
    if found is None:  # repacked Canvas downloads have an extra top-level folder
        inner = _of_canvas(path.rpartition("/")[2])
        found = inner and dataclasses.replace(inner, member=path)
    return path, found


def _person(name: str) -> tuple[str, str] | None:
    found = _hand_in(name)[1]
    return None if found is None else (found.number, found.person)
