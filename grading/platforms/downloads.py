"""What Moodle and Canvas let an instructor download: one zip with the hand-ins of an assignment.

Their names of files were read from mod/assign/classes/downloader.php of Moodle and from
lib/content_zipper.rb of Canvas LMS.
"""

import contextlib
import dataclasses
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from grading.intake.names import shown
from grading.intake.submissions import LITTER
from grading.platforms import nested, zip_names

FILES, FILE_BYTES = 20_000, 20_000_000  # in one download, and of one file
ZIP_BYTES, MAX_DEPTH = 2_000_000_000, 3  # of a download in another, and how deep they may lie
SPOOLED_BYTES = 10_000_000  # of such a download that are kept in memory
Kind = Literal["file", "text", "link"]
MOODLE: dict[str, Kind] = {"_assignsubmission_file": "file", "_assignsubmission_onlinetext": "text"}
CANVAS: dict[str, Kind] = {"text.html": "text", "link.html": "link"}
# What zipfile raises at whatever is not as it should be.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError),
)


class Unreadable(Exception):
    """The file is not such a zip; the text is one line that says why."""


@dataclass(frozen=True)
class HandIn:
    """One file of one learner, or what the learner typed into a form instead.

    member: its name in the zip. number: the platform's for the learner, in this zip or everywhere.
    person: the learner's name, as far as the platform wrote it; "" if its encoding can't be told.
    title: what the learner called it.
    """

    member: str
    number: str
    person: str
    title: str
    kind: Kind = "file"


@dataclass(frozen=True)
class Member:
    """A hand-in and where its content is."""

    hand_in: HandIn
    archive: zipfile.ZipFile
    entry: zipfile.ZipInfo

    def too_large(self) -> bool:
        return self.entry.file_size > FILE_BYTES

    def content(self) -> bytes:
        """Return the content. Unreadable if the zip is damaged."""
        if self.entry.compress_type not in nested.METHODS:
            raise Unreadable(f"{self.hand_in.member} is compressed as no platform does it")
        try:
            return self.archive.read(self.entry)
        except (*DAMAGED, OSError) as error:
            name = self.archive.filename or self.hand_in.member
            raise Unreadable(f"{name} is damaged ({error}); download it again") from None


@dataclass
class Download:
    """The members of a platform's zip in their order, and lines about what is none."""

    members: list[Member]
    lines: list[str]


def hand_in(member: str) -> HandIn | None:
    """What the name of a file in the zip says; None if neither platform names files like that."""
    for sign, kind in MOODLE.items():
        place = member.find(sign)
        if place > 0 and member[place + len(sign) : place + len(sign) + 1] in ("/", "_"):
            # In a folder for each learner, or all in one. A learner's name has no underscore left.
            person, _, number = member[:place].rpartition("_")
            person = person.rpartition("/")[2]  # who packed the folders again put one around them
            title = member[place + len(sign) + 1 :].rpartition("/")[2]
            if person and number.isdecimal() and title:
                return HandIn(member, number, person, title, kind)
    return None if "/" in member else _of_canvas(member)


def _of_canvas(member: str) -> HandIn | None:
    """<name>_<number>_<number of the file>_<title>, with LATE behind the name of who was late.

    What was typed is <name>_<number>_text.html; an address, <name>_<number>_link.html.
    """
    words = member.split("_", 30)
    if words[0] == "anon" and len(words) > 3 and words[1] and words[2].isdecimal():
        return HandIn(member, words[1], "anon", "_".join(words[3:]))
    for place in range(1, len(words) - 2):
        if words[place].isdecimal() and words[place + 1].isdecimal():
            person, title = _on_time(words[:place]), "_".join(words[place + 2 :])
            return HandIn(member, words[place], person, title) if person and title else None
    *name, number, title = ["", *words]
    if title in CANVAS and (number.isdecimal() or name[1:] == ["anon"]) and any(name):
        return HandIn(member, number, _on_time(name[1:]), title, CANVAS[title])
    return None


def _on_time(name: list[str]) -> str:
    return "_".join(name[:-1] if len(name) > 1 and name[-1] == "LATE" else name)


@contextlib.contextmanager
def opened(archive: Path, people: Mapping[str, str] | None = None) -> Iterator[Download]:
    """Open a platform's zip. Unreadable if it is none.

    people: the platform's number → name, as the roster has them. They tell in which encoding the
    names of files are, where the zip does not.
    """
    download = Download([], [])
    with contextlib.ExitStack() as stack:
        _add(download, archive, str(archive), people or {}, stack, 1)
        yield download


def read(
    archive: Path, people: Mapping[str, str] | None = None
) -> Iterator[tuple[HandIn | str, bytes]]:
    """(the hand-in, its content) of each file, and then lines about what is no hand-in.

    A file that is too large comes without content. Unreadable if this is not a zip.
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
    """Add what is in this zip, which is in another if depth is more than 1."""
    try:
        zipped = stack.enter_context(zipfile.ZipFile(file))
        entries = [one for one in zipped.infolist() if not one.is_dir()]
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror or error}") from None
    except DAMAGED as error:
        raise Unreadable(f"{name} is not a zip that can be read: {error}") from None
    if len(entries) + len(download.members) > FILES:
        raise Unreadable(f"{name} has more than {FILES} files")
    unknown = []
    for entry, path, found in _named(entries, people):
        title = path.rpartition("/")[2]
        if title in LITTER or path.startswith("__MACOSX/"):
            continue
        if found is None and title.lower().endswith(".zip"):
            _add_inner(download, zipped, entry, path, people, stack, depth)
        elif found is None:
            download.lines.append(f"{shown(path)}: not named as Moodle or Canvas does")
        else:
            download.members.append(Member(found, zipped, entry))
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
    """Add what is in a download that was packed into another, as one for each group."""
    if depth == MAX_DEPTH:
        download.lines.append(f"{shown(path)}: a zip in a zip, more than {MAX_DEPTH} deep")
    elif entry.file_size > ZIP_BYTES or entry.compress_type not in nested.METHODS:
        download.lines.append(f"{shown(path)}: too large a zip in a zip, or an unusual one")
    else:
        spool = tempfile.SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115
        unpacked = stack.enter_context(spool)
        try:
            with zipped.open(entry) as stream:
                while block := stream.read(1 << 20):
                    unpacked.write(block)
            _add(download, unpacked, shown(path), people, stack, depth + 1)
        except Unreadable as error:
            download.lines.append(str(error))
        except DAMAGED as error:
            download.lines.append(f"{shown(path)} is damaged: {error}")


def _named(
    entries: Sequence[zipfile.ZipInfo], people: Mapping[str, str]
) -> Iterator[tuple[zipfile.ZipInfo, str, HandIn | None]]:
    """(entry, its name, the hand-in if it is one) of each."""
    names = [zip_names.certain(entry) for entry in entries]
    plain = [name for name in names if isinstance(name, bytes)]
    encoding = zip_names.encoding(plain, _person, people) if plain else None
    for entry, name in zip(entries, names, strict=True):
        if isinstance(name, str):
            path, found = _hand_in(name)
        elif encoding is not None:
            path, found = _hand_in(name.decode(encoding))
        else:
            path = name.decode(zip_names.FALLBACK)
            # In some encodings a letter has the byte of a backslash.
            found = hand_in(path) or _hand_in(path)[1]
            if found is not None and not found.person.isascii():
                rest = found.member[found.member.find(found.person) + len(found.person) :]
                found = dataclasses.replace(found, member=f"participant{rest}", person="")
        yield entry, path, found


def _hand_in(name: str) -> tuple[str, HandIn | None]:
    """The path, with slashes where Windows put backslashes, and the hand-in."""
    path = name.replace("\\", "/")
    found = hand_in(path)
    if found is None and "/" in path:  # in a folder that somebody put around a Canvas download
        inner = _of_canvas(path.rpartition("/")[2])
        found = inner and dataclasses.replace(inner, member=path)
    return path, found


def _person(name: str) -> tuple[str, str] | None:
    found = _hand_in(name)[1]
    return None if found is None else (found.number, found.person)
