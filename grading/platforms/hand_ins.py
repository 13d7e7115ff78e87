"""Sorts a platform's download into the files of each learner."""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from grading.intake.names import name_problem, printable
from grading.intake.submissions import NOTEBOOK_SUFFIXES
from grading.platforms import nested, online_text
from grading.platforms.downloads import MAX_FILE_BYTES, Download, HandIn, Member

MAX_NAME_BYTES = 255  # maximum length on most file systems
PASTED, TYPED = "onlinetext.ipynb", "onlinetext.html"
Files = dict[str, bytes]


def student_of(one: HandIn, students: Mapping[str, str]) -> str:
    """Return the learner's folder name, from the roster if it lists the number.

    Otherwise the folder is named after the platform's name and number. students: the platform's
    number → student.
    """
    return students.get(one.number) or f"{one.person} {one.number}".strip()


def by_student(
    download: Download, students: Mapping[str, str]
) -> Iterator[tuple[str, Files, list[str]]]:
    """Yield (student, file name → content, lines about skipped and renamed files).

    Only one student's files are in memory at a time.
    """
    found: defaultdict[str, list[Member]] = defaultdict(list)
    for member in download.members:
        found[student_of(member.hand_in, students)].append(member)
    for student, members in sorted(found.items()):
        if problem := _student_problem(student):
            yield student, {}, [f"{printable(student)}: {problem}"]
        else:
            files, lines = _files(members)
            yield student, files, [f"{printable(student)}: {line}" for line in lines]


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
    """Return file name → content of a folder's regular files up to MAX_FILE_BYTES."""
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        if one.is_file() and not one.is_symlink() and one.stat().st_size <= MAX_FILE_BYTES
    }


def _student_problem(student: str) -> str:
    if "/" in student:
        return "a name with a slash"
    if len(student.encode()) > MAX_NAME_BYTES:
        return "a name that is too long for a folder"
    return name_problem(student)


def _files(members: Sequence[Member]) -> tuple[Files, list[str]]:
    files: Files = {}
    lines: list[str] = []
    typed: list[tuple[str, bytes]] = []
    budget = nested.Budget()
    for member in members:
        title = member.hand_in.title
        if problem := _problem(member):
            lines.append(f"{printable(title)}: {problem}")
            continue
        content = member.content()
        if member.hand_in.kind == "file":
            _add_file(files, lines, title, content, budget)
        elif title.endswith(".html") and not online_text.is_empty(content):
            typed.append((member.hand_in.kind, content))
    lines += [_add_typed(files, kind, page) for kind, page in typed]
    return files, lines


def _problem(member: Member) -> str:
    title = member.hand_in.title
    if name_problem(title):
        return "not the name of a file"
    if member.too_large():
        return f"more than {MAX_FILE_BYTES // 10**6} MB"
    return "" if member.entry.file_size else "empty"


def _add_file(
    files: Files, lines: list[str], title: str, content: bytes, budget: nested.Budget
) -> None:
    if nested.is_zip(title, content):
        try:
            found = nested.notebooks(content, budget)
        except nested.CannotOpen as error:
            lines.append(f"{printable(title)} {error}")
            found = []
        else:
            names = ", ".join(printable(name) for name, _ in found) or "no notebook"
            lines.append(f"{printable(title)} is a zip; in it: {names}")
        # A zip without notebooks is kept; grading will report that there is no notebook.
        for name, inner in found or [(title, content)]:
            if name_problem(name):
                lines.append(f"{printable(name)}: not the name of a file")
            else:
                files[_unused_name(name, files)] = inner
    else:
        files[_unused_name(title, files)] = content


def _add_typed(files: Files, kind: str, page: bytes) -> str:
    """Add online text or a link unless there is a notebook; return a report line.

    A notebook pasted as text is added as .ipynb.
    """
    has_notebook = any(name.lower().endswith(NOTEBOOK_SUFFIXES) for name in files)
    if has_notebook:
        return f"a {kind} was handed in beside the notebook; read it on the platform"
    if kind == "text" and (pasted := online_text.notebook(page)) is not None:
        files[_unused_name(PASTED, files)] = pasted
        return f"a notebook was pasted as text; it is taken as {PASTED}"
    files[_unused_name(TYPED, files)] = page
    return f"a {kind} was handed in and no notebook"


def _unused_name(title: str, taken: Mapping[str, bytes]) -> str:
    """Return the title as a file name, prefixed with a number if it is taken."""
    name, number = _truncated(title), 1
    while name in taken:
        number += 1
        name = f"{number}-{_truncated(title)}"
    return name


def _truncated(title: str) -> str:
    """Return the title, shortened in the middle to the maximum length of a file name."""
    ending = PurePath(title).suffix[-20:]
    most = MAX_NAME_BYTES - 10 - len(ending.encode())
    stem = title[: len(title) - len(ending)]
    return stem.encode()[:most].decode(errors="ignore") + ending
