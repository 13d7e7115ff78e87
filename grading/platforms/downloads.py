"""What Moodle and Canvas let an instructor download: one zip with the hand-ins of an assignment.

Their names of files were read from mod/assign/classes/downloader.php of Moodle and from
lib/content_zipper.rb of Canvas LMS.
"""

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILES, FILE_BYTES = 20_000, 20_000_000  # in one zip, and of one file
MOODLE = "_assignsubmission_file"
# What zipfile raises at whatever is not as it should be, or is not there.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, OSError, RuntimeError, ValueError),
)
UTF8 = 0x800  # the flag of a zip's entry whose name is in UTF-8


class Unreadable(Exception):
    """The file is not such a zip; the text is one line that says why."""


@dataclass(frozen=True)
class HandIn:
    """One file of one learner.

    member: its name in the zip. number: the platform's for the learner, in this zip or everywhere.
    person: the learner's name, as far as the platform wrote it. title: what the learner called it.
    """

    member: str
    number: str
    person: str
    title: str


def hand_in(member: str) -> HandIn | None:
    """What the name of a file in the zip says; None if neither platform names files like that."""
    place = member.find(MOODLE)
    if place > 0 and member[place + len(MOODLE) : place + len(MOODLE) + 1] in ("/", "_"):
        # In a folder for each learner, or all in one. A learner's name has no underscore left.
        person, _, number = member[:place].rpartition("_")
        title = member[place + len(MOODLE) + 1 :].rpartition("/")[2]
        if person and number.isdecimal() and title:
            return HandIn(member, number, person, title)
    return None if "/" in member else _of_canvas(member)


def _of_canvas(member: str) -> HandIn | None:
    """<name>_<number>_<number of the file>_<title>, with LATE behind the name of who was late."""
    words = member.split("_", 30)
    if words[0] == "anon" and len(words) > 3 and words[1] and words[2].isdecimal():
        return HandIn(member, words[1], "anon", "_".join(words[3:]))
    for place in range(1, len(words) - 2):
        if words[place].isdecimal() and words[place + 1].isdecimal():
            name = words[:place]
            if len(name) > 1 and name[-1] == "LATE":
                name.pop()
            person, title = "_".join(name), "_".join(words[place + 2 :])
            return HandIn(member, words[place], person, title) if person and title else None
    return None


def read(archive: Path) -> Iterator[tuple[HandIn | str, bytes]]:
    """(the hand-in, its content) of each file; a name that says nothing comes as a text.

    A file that is too large comes without content. Unreadable if this is not a zip.
    """
    try:
        with zipfile.ZipFile(archive) as zipped:
            entries = [one for one in zipped.infolist() if not one.is_dir()]
            if len(entries) > FILES:
                raise Unreadable(f"{archive} has more than {FILES} files")
            for entry in entries:
                name = _name(entry)
                found = hand_in(name)
                with zipped.open(entry) as stream:
                    content = stream.read(FILE_BYTES + 1) if found else b""
                yield found or name, content if len(content) <= FILE_BYTES else b""
    except DAMAGED as error:
        raise Unreadable(f"{archive} is not a zip that can be read: {error}") from None


def _name(entry: zipfile.ZipInfo) -> str:
    """Its name; Canvas writes UTF-8 without saying so, which is then read as something else."""
    if entry.flag_bits & UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename
