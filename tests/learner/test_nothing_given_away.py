"""A learner finds no solution in what the course hands out."""

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from classroom import Classroom
from learner import PASSED, answered, parts, released, results
from repository import ROOT
from submissions import Submission

from grading.release import exercises

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
TAG = re.compile(r"<(script|style|svg)\b.*?</\1>|</?[a-zA-Z][^>]*>", re.DOTALL)
HARMLESS_LINES = {"for size in sizes:"}  # reveals no more than the question
MIN_LENGTH = 16  # shorter lines, such as `return 2 * B * D`, may occur anywhere


def solution_lines() -> set[str]:
    """Return the distinctive lines of the reference solutions."""
    lines: set[str] = set()
    for name in exercises.names():
        for cell in exercises.source(name).cells:
            for solution in SOLUTION.findall(cell.source):
                lines |= {line.strip() for line in solution.splitlines()}
    return {line for line in lines if len(line) >= MIN_LENGTH} - HARMLESS_LINES


def texts(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of a file, or of each file in an archive."""
    if name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from texts(f"{name}/{member}", archive.read(member))
    elif name.endswith(".html"):
        yield name, html.unescape(TAG.sub("", content.decode("utf-8")))
    elif name.endswith(".ipynb"):
        yield name, "\n".join("".join(cell["source"]) for cell in json.loads(content)["cells"])
    elif name.endswith((".js", ".json", ".md", ".txt", ".py", ".csv")):
        yield name, content.decode("utf-8", errors="replace")


def test_no_solution_is_in_the_site_its_downloads_and_the_release(site: Path) -> None:
    wanted, names, found = solution_lines(), [], []
    assert len(wanted) >= 30
    for folder in (site, site.parent / "course" / "release"):
        for path in folder.rglob("*"):
            if not path.is_file() or "pyodide-" in str(path):
                continue
            for name, text in texts(str(path.relative_to(folder)), path.read_bytes()):
                names.append(name)
                lines = {line.strip() for line in text.splitlines()}
                found += [f"{name}: {line}" for line in lines & wanted]
    assert found == []
    assert len([name for name in names if name.endswith(".ipynb")]) > 2 * len(exercises.names())
    assert any("exercises.zip/" in name for name in names)
    assert any(".whl/" in name for name in names)


def test_no_solution_is_packed_into_a_released_notebook() -> None:
    """Finished exercises could show it, if an instructor had released it."""
    name = "int8-weights"
    book = answered(Submission(name, "reference", "", {}))
    last = next(cell for cell in reversed(book.cells) if exercises.is_check(cell))
    last.source += "\ncheck.solution()"
    ((said, _),) = results(name, [book])
    words = said[last.metadata.nbgrader.grade_id]
    assert PASSED in words
    assert "def " not in words


def test_a_solution_that_is_released_is_shown_once_all_parts_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "int8-weights"
    monkeypatch.setenv("SOLUTIONS", "1")
    room = Classroom(tmp_path / "course")
    assert room.here("release", name).returncode == 0
    book = room.solved(name)
    for cell in filter(exercises.is_check, book.cells):
        cell.source += "\ncheck.solution()"
    ((said, _),) = results(name, [book])
    shown = [
        [f"def {part.function}(" in words for part in parts(name).values()]
        for words in said.values()
    ]
    count = len(parts(name))
    assert shown == [*[[False] * count] * (count - 1), [True] * count]


@pytest.mark.parametrize("name", exercises.names())
def test_each_part_has_a_check_and_each_question_says_its_points(name: str) -> None:
    book, known = released(name), parts(name)
    checks = [cell for cell in book.cells if exercises.is_check(cell)]
    assert [cell.metadata.nbgrader.grade_id for cell in checks] == list(known)
    titles = [t for cell in book.cells for t in re.findall(r"^## (Part .*)$", cell.source, re.M)]
    for number, (title, part) in enumerate(zip(titles, known.values(), strict=True), start=1):
        assert title.startswith(f"Part {number}: ")
        assert re.search(rf"\b{part.points:g} points?\)", title)
    nbformat.validate(book)


@pytest.mark.parametrize("name", exercises.names())
def test_a_message_says_no_number_and_leads_to_a_section_that_exists(name: str) -> None:
    headings: dict[str, list[str]] = {}
    for path in (ROOT / "chapters").glob("*.md"):
        first, *others = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        headings[first] = others
    for part in parts(name).values():
        assert part.hint.endswith((".", "?"))
        for words in (part.hint, *(known.says for known in part.misconceptions)):
            assert not re.search(r"[\d*=^√]", re.sub(r"int8|bf16|fp8|fp32|part \d", "", words)), (
                words
            )
        for known in part.misconceptions:
            if place := re.fullmatch(r"“(.*?)”(?:, “(.*?)”)?", known.read):
                assert place[1] in headings, known.read
                assert place[2] is None or place[2] in headings[place[1]], known.read
