"""A platform's download, sorted into what each learner handed in."""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from grading.intake.names import shown, unfit
from grading.intake.submissions import ENDINGS
from grading.platforms import nested, online_text
from grading.platforms.downloads import FILE_BYTES, Download, HandIn, Member

NAME_BYTES = 255  # what file systems take
PASTED, TYPED = "onlinetext.ipynb", "onlinetext.html"
Files = dict[str, bytes]


def student_of(one: HandIn, students: Mapping[str, str]) -> str:
    """Return the name of the learner's folder: the roster's, else the platform's and the number.

    students: the platform's number → student.
    """
    return students.get(one.number) or f"{one.person} {one.number}".strip()


def by_student(
    download: Download, students: Mapping[str, str]
) -> Iterator[tuple[str, Files, list[str]]]:
    """(student, name of a file → content, lines about what was left out or taken otherwise).

    One student at a time, so that no more than one is in memory.
    """
    found: defaultdict[str, list[Member]] = defaultdict(list)
    for member in download.members:
        found[student_of(member.hand_in, students)].append(member)
    for student, members in sorted(found.items()):
        if problem := _unfit_student(student):
            yield student, {}, [f"{shown(student)}: {problem}"]
        else:
            files, lines = _files(members)
            yield student, files, [f"{shown(student)}: {line}" for line in lines]


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder hold these files alone: whole, or as it was if this is stopped halfway."""
    # Hidden names, which are nobody's hand-in.
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
    """Return what `put` may have put there."""
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        if one.is_file() and not one.is_symlink() and one.stat().st_size <= FILE_BYTES
    }


def _unfit_student(student: str) -> str:
    if "/" in student:
        return "a name with a slash"
    if len(student.encode()) > NAME_BYTES:
        return "a name that is too long for a folder"
    return unfit(student)


def _files(members: Sequence[Member]) -> tuple[Files, list[str]]:
    files: Files = {}
    lines: list[str] = []
    typed: list[tuple[str, bytes]] = []
    budget = nested.Budget()
    for member in members:
        title = member.hand_in.title
        if problem := _problem(member):
            lines.append(f"{shown(title)}: {problem}")
            continue
        # Opened for one file after the other: a damaged one raises here.
        content = member.content()
        if member.hand_in.kind == "file":
            _add_file(files, lines, title, content, budget)
        elif title.endswith(".html") and not online_text.is_empty(content):
            typed.append((member.hand_in.kind, content))
    lines += [_add_typed(files, kind, page) for kind, page in typed]
    return files, lines


def _problem(member: Member) -> str:
    title = member.hand_in.title
    if unfit(title) or "/" in title:
        return "not the name of a file"
    if member.too_large():
        return f"more than {FILE_BYTES // 10**6} MB"
    return "" if member.entry.file_size else "empty"


def _add_file(
    files: Files, lines: list[str], title: str, content: bytes, budget: nested.Budget
) -> None:
    if nested.is_zip(title, content):
        try:
            found = nested.notebooks(content, budget)
        except nested.CannotOpen as error:
            lines.append(f"{shown(title)} {error}")
            found = []
        else:
            names = ", ".join(shown(name) for name, _ in found) or "no notebook"
            lines.append(f"{shown(title)} is a zip; in it: {names}")
        # Without a notebook the zip itself goes there, and grading says that there is none.
        for name, inner in found or [(title, content)]:
            if unfit(name):
                lines.append(f"{shown(name)}: not the name of a file")
            else:
                files[_free(name, files)] = inner
    else:
        files[_free(title, files)] = content


def _add_typed(files: Files, kind: str, page: bytes) -> str:
    """Take a notebook that was pasted, or keep the text so that grading finds no notebook."""
    has_notebook = any(name.lower().endswith(ENDINGS) for name in files)
    if has_notebook:
        return f"a {kind} was handed in beside the notebook; read it on the platform"
    if kind == "text" and (pasted := online_text.notebook(page)) is not None:
        files[_free(PASTED, files)] = pasted
        return f"a notebook was pasted as text; it is taken as {PASTED}"
    files[_free(TYPED, files)] = page
    return f"a {kind} was handed in and no notebook"


def _free(title: str, taken: Mapping[str, bytes]) -> str:
    """The title, with a number before it if the learner has handed in another file of that name."""
    name, number = _fitting(title), 1
    while name in taken:
        number += 1
        name = f"{number}-{_fitting(title)}"
    return name


def _fitting(title: str) -> str:
    """The title without its middle if no file can have a name that long."""
    ending = PurePath(title).suffix[-20:]
    most = NAME_BYTES - 10 - len(ending.encode())
    stem = title[: len(title) - len(ending)]
    return stem.encode()[:most].decode(errors="ignore") + ending
