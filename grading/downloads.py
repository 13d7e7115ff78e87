"""Zips of all submissions for an assignment, as Moodle and Canvas write them.

The file names follow mod/assign/classes/downloader.php of Moodle and lib/content_zipper.rb of
Canvas LMS. A zip states the unpacked size of each file in it, and no more than that is unpacked.
"""

import contextlib
import io
import re
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from grading.files import Unable
from grading.intake import (
    EXCHANGE_FILES,
    MOST_BYTES,
    MOST_COPIES,
    NOTEBOOKS,
    SYSTEM_FILES,
    is_odd,
    name_problem,
    printable,
)
from grading.tables import People, labels

# The methods of Windows, macOS and the platforms. Of others, `zipfile` unpacks all at once: what is
# small and states a small size may then take all memory.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# The person, the number and the title of a path. The shortest path to a person counts, and in it
# the shortest name: a learner chooses the title, by a backslash even with folders, and may name
# somebody else in it. Moodle has a folder for each learner, or none; a zip that was packed again
# has one around all. Canvas has the number of the file, too, and LATE behind the name; what was
# typed into its form is text.html or link.html.
HANDED_IN = re.compile(
    r"(?:.*?/)??([^/]+?)(?:_LATE)?_(\d+)_(?:(text\.html|link\.html)"
    r"|(?:assignsubmission_(?:file|onlinetext)[/_]|\d+_)(?:.*/)?([^/]+))"
)
Files = dict[str, bytes]


class Unreadable(Exception):
    """A file cannot be read; the message ends a line that begins with its name."""


@dataclass(frozen=True)
class HandIn:
    """One file that was handed in.

    path: in the download. number: the platform's, for the learner. person: the learner's name as
    the platform writes it. title: the learner's name of the file.
    """

    path: str
    person: str
    number: str
    title: str
    content: Callable[[], bytes]

    def student(self, people: People) -> str:
        """Return the learner's folder."""
        known = people.student(labels("", "", self.person, self.number))
        return known or f"{self.person} {self.number}"


@contextlib.contextmanager
def opened(file: Path) -> Iterator[tuple[list[HandIn], list[str]]]:
    """Open a platform's zip; yield its hand-ins, which are read later, and lines about the rest.

    Raises Unable.
    """
    found: list[HandIn] = []
    lines: list[str] = []
    try:
        with _zip(file) as zipped:
            for path, entry in _entries(zipped):
                if parsed := HANDED_IN.fullmatch(path):
                    content = partial(_content, zipped, entry)
                    title = parsed[parsed.lastindex or 0]
                    found.append(HandIn(path, parsed[1], parsed[2], title, content))
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
    except Exception as error:  # many kinds, where bytes are wrong
        raise Unreadable(f"cannot be read as a zip: {error}") from None


def _entries(zipped: zipfile.ZipFile) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield (path, entry) of all files in a zip that people see."""
    for entry in zipped.infolist():
        path = entry.filename.replace("\\", "/")
        if not entry.is_dir() and not SYSTEM_FILES & {*path.split("/")}:
            yield path, entry


def _content(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.file_size > MOST_BYTES:
        raise Unreadable(f"has more than {MOST_BYTES // 10**6} MB")
    if entry.compress_type not in METHODS:
        raise Unreadable("is packed in an unusual way")
    try:
        with zipped.open(entry) as stream:
            return stream.read(entry.file_size)  # not all, which may be more than is stated
    except Exception as error:
        raise Unreadable(f"is damaged, or has a password ({error})") from None


# --- one learner's files -------------------------------------------------------------------------


def of_students(found: Sequence[HandIn], people: People) -> dict[str, list[HandIn]]:
    """Return student → that student's files."""
    own: defaultdict[str, list[HandIn]] = defaultdict(list)
    for one in found:
        own[one.student(people)].append(one)
    return own


def namesakes(parts: Sequence[HandIn]) -> str:
    """Return a line if these files of one student are those of several people, "" if not."""
    numbers = sorted({one.number for one in parts})
    if len(numbers) < 2:
        return ""
    return (
        f"{' and '.join(numbers)} have this name; load the platform's table of this assignment by "
        "`make roster`, and run this again"
    )


def by_student(found: Sequence[HandIn], people: People) -> Iterator[tuple[str, Files, list[str]]]:
    """Yield (student, file name → content, lines about what is left out or named otherwise)."""
    for student, parts in sorted(of_students(found, people).items()):
        person, number = parts[0].person, parts[0].number
        by_name = labels("", "", person)
        fits = {one for label in by_name for one in people.fitting.get(label, ())}
        files, lines = Files(), [name_problem(student) or namesakes(parts)]
        if student not in people.students and len(fits) > 1:
            lines = [
                f"may be {' or '.join(sorted(fits))}; say which by a table for `make roster` with "
                f"{number} as lms_user_id, and collect again"
            ]
        elif not lines[0]:
            files, lines = _files(parts)
            if people.students and student not in people.students:
                lines.append("is in no roster")
            if any(f"_LATE_{number}_" in one.path for one in parts):
                lines.append("late, says Canvas")
        yield student, files, [f"{printable(student)}: {line}" for line in lines]


def _files(parts: Sequence[HandIn]) -> tuple[Files, list[str]]:
    files: Files = {}
    lines: list[str] = []
    for one in parts:
        title = printable(one.title)
        try:
            content = one.content()
        except Unreadable as error:
            lines.append(f"{title} {error}")
            continue
        is_taken = one.title.lower() in EXCHANGE_FILES or one.title.startswith(".")
        if is_taken or is_odd(one.title):
            lines.append(f"{title}: not the name of a file that learners hand in")
        elif not content:
            lines.append(f"{title}: empty")
        elif one.title.lower().endswith(".zip"):
            lines.append(f"{title} {_add_zip(files, one.title, content)}")
        else:
            files[_unused(one.title, files)] = content
    return files, lines


def _add_zip(files: Files, title: str, content: bytes) -> str:
    """Add the notebooks in a learner's zip, or else the zip itself; return what was found."""
    found: Files = {}
    try:
        with _zip(io.BytesIO(content)) as zipped:
            inner = [
                (path.rpartition("/")[2], entry)
                for path, entry in _entries(zipped)
                if path.lower().endswith(NOTEBOOKS) and "/." not in f"/{path}"
            ]
            if sum(entry.file_size for _, entry in inner) > MOST_BYTES or len(inner) > MOST_COPIES:
                most = f"{MOST_COPIES} notebooks or {MOST_BYTES // 10**6} MB"
                raise Unreadable(f"holds more than {most}")
            for name, entry in inner:
                if not is_odd(name):
                    found[_unused(name, files | found)] = _content(zipped, entry)
        names = ", ".join(map(printable, found)) or "no notebook"
        said = f"is a zip; in it: {names}"
    except Unreadable as error:
        found, said = {}, str(error)
    files |= found or {_unused(title, files): content}
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
        and one.stat().st_size <= MOST_BYTES
    }
